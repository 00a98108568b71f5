"""What came of captures: a row for each run, and histories."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core import frames
from alight.core.checks import Array
from alight.core.outcomes import FIRST_OWN, OF_STOPS, AnyEnding, Endings, Outcome, ending_of, words
from alight.engine.columns import Columns
from alight.engine.gain import gained_energy, moving_energy
from alight.engine.motion import Start
from alight.engine.records import joined
from alight.engine.result import BatchResult
from alight.engine.told_run import only_one
from alight.motions.capture import stepping as layout
from alight.motions.capture.approach import Asteroids
from alight.motions.capture.craft import ARRAYS, Spacecraft
from alight.motions.membrane.result import Caught, when

#: What captures call some of the outcomes.
CAPTURE_WORDS = words(
    (Outcome.SETTLED, "AT_REST", "in contact, and at rest against the asteroid"),
    (Outcome.TIMED_OUT, "UNSETTLED", "in contact, and still moving against the asteroid"),
    (Outcome.MISSED, "MISSED", "never touched the asteroid"),
    (Outcome.LOST, "LOST", "touched the asteroid and lost it again"),
    (Outcome.STRUCK, "STRUCK", "the asteroid reached the bus through the membrane"),
    (
        Outcome.HELD,
        "HELD",
        "in contact, at rest against the asteroid, and with no drift that would end it",
    ),
    (Outcome.RIM, "RIM", "the asteroid reached past the rim of the membrane"),
)

#: Outcomes with which asteroid and craft are in contact at the end.
KEPT = (Outcome.HELD, Outcome.SETTLED, Outcome.TIMED_OUT)
#: Drift along the fabric [m/s] below which nothing slips: 4 cm in an hour.
STILL = 1e-5
#: How long a capture must last from the end on, as far as can be told, to count as held [s].
LASTING = 3600.0

#: Columns of a row. Times are NaN where what they tell of never happened.
ROW = np.dtype(
    [
        ("run", np.int64),
        ("outcome", np.int32),
        ("success", np.bool_),  # in contact at the end, and no bending moment beyond the limit
        ("shape", np.int64),
        ("mass_kg", np.float64),
        ("spin_rpm", np.float64),  # of the asteroid, at the start
        ("friction", np.float64),
        ("end_s", np.float64),
        ("contact_s", np.float64),
        ("settle_s", np.float64),  # from contact until at rest against each other for good
        ("lost_s", np.float64),  # when contact was lost for good
        ("contacts", np.int64),
        ("bending_nm", np.float64),  # greatest at either drive assembly
        ("bending_1_nm", np.float64),
        ("bending_2_nm", np.float64),
        ("bending_at_s", np.float64),
        ("torsion_nm", np.float64),  # greatest moment about a boom
        ("margin", np.float64),  # limit over bending, less 1
        ("force_n", np.float64),  # greatest between asteroid and membrane
        ("hoop_n", np.float64),  # greatest between asteroid and hoop
        ("hoop_s", np.float64),  # when it first touched the hoop
        ("depth_m", np.float64),
        ("clearance_m", np.float64),  # between the deepest vertex and the bus
        ("slip_m", np.float64),  # path of the contact along the fabric
        ("relative_rpm", np.float64),  # of craft against asteroid, at the end
        ("pair_rpm", np.float64),  # spin of the pair as one body, at the end
        ("axis_deg", np.float64),  # between the craft's axis and that spin: 90 in a flat spin
        ("offset_m", np.float64),  # of the pair's spin axis from the craft, at the end
        ("needed_n", np.float64),  # thrust that a steady spin of the pair would take
        ("drift_m_s", np.float64),  # slip in the last window over its length
        ("spin_up_nm", np.float64),  # growth of the pair's angular momentum in the last window
        ("left_s", np.float64),  # until thrust no longer holds, at that growth; inf: for good
        ("propellant_kg", np.float64),
        ("steps", np.int64),
    ]
)


@dataclass(frozen=True, eq=False)
class CaptureResult(BatchResult):
    """How captures ended; row i is run i."""

    rows: Any
    """(n,) records of ``ROW``: what came of each run."""
    last: Array
    """(n, width) states at the end."""

    @classmethod
    def of(cls, runs: Start, touches: Any, rows: Any, kept: int, endings: Endings) -> CaptureResult:
        """From what the engine brought back, and what was made of it."""
        final = joined(runs.runs, runs.notes)
        ended = final["outcome"] != int(Outcome.RUNNING)
        final["outcome"] = np.where(ended, rows["outcome"], final["outcome"])
        return cls(final, touches, rows, runs.rows["y"][:, :kept].copy(), endings=endings)

    @property
    def position(self) -> Array:
        """(n, 3) of the asteroid at the end, inertial axes [m]."""
        return self.last[:, 0:3]

    @property
    def attitude(self) -> Array:
        """(n, 4) of the asteroid at the end, body to inertial axes."""
        return self.last[:, 6:10]


@dataclass(frozen=True, eq=False, repr=False)
class CaptureFlight(Caught):
    """n captures with r records each; vectors in inertial axes, rates in body axes."""

    craft: Spacecraft
    asteroids: Asteroids
    mass: Array
    """(n,) of the asteroids [kg]."""
    rows: Any
    """(n,) records of ``ROW``: what came of each run."""
    time: Array
    """(r,) [s]"""
    states: Array
    """(n, r, width); the properties below name the parts."""
    loads: Any
    """(n, r) records with the fields of ``MembraneLoad``."""
    records: npt.NDArray[np.int32]
    """(n,) how many records each run has; those after a run's end are zero."""
    last: Array
    """(n, width) state at the end."""
    events: Any
    """Structured array of all contacts, by run and then by time (see ``engine.records.Touch``)."""
    endings: Endings = field(default_factory=lambda: CAPTURE_WORDS)
    """What codes mean beside those of ``core.outcomes.Outcome``."""
    model: Any = None
    """What was run: body, membrane and what carries it."""

    def __getitem__(self, run: int) -> CaptureFlight:
        """One of the captures, alone."""
        own = self._own(run)
        names = ("mass", "rows", "states", "loads", "records", "last")
        parts = {name: getattr(self, name)[own] for name in names}
        given = self.asteroids
        turned = {name: getattr(given, name)[own] for name in ("inertia", "attitude", "rate")}
        body, model = given.body.body(own.start), self.model
        if given.body.count > 1 and model is not None:
            model = replace(model, asteroid=body)
        asteroids = replace(given, body=body, **turned, _ahead={}, _inverse=None)
        return replace(self, asteroids=asteroids, events=self._met(run), model=model, **parts)

    def _columns(self) -> Columns:
        from alight.motions.capture.columns import CAPTURES  # which are made of these classes

        return CAPTURES

    def _ended(self) -> tuple[AnyEnding, float]:
        only_one(len(self.states))
        return self.outcome[0], float(self.rows["end_s"][0])

    def _taken(self) -> int:
        return int(self.rows["steps"][0])

    @property
    def outcome(self) -> list[AnyEnding]:
        """How each run ended; ``print(flight.outcome[0])`` says it in words."""
        return [ending_of(code, self.endings) for code in self.rows["outcome"]]

    @property
    def q(self) -> Array:
        """(n, r, n_q) configuration of ``craft.tree``."""
        return self.states[..., layout.CRAFT : layout.CRAFT + self.craft.tree.n_q]

    @property
    def v(self) -> Array:
        """(n, r, n_v) velocity of ``craft.tree``."""
        first = layout.CRAFT + self.craft.tree.n_q
        return self.states[..., first : first + self.craft.tree.n_v]

    @property
    def sums(self) -> Array:
        """(n, r, 8): energy lost in the fabric, to friction, in the hinges [J], slip [m], impulse
        of forces [N s], of torques [N m s] and work [J] of the thrusters, work of gravity and of
        pushes [J]."""
        return self.states[..., -layout.SUMS :]

    @property
    def moments(self) -> Array:
        """(n, r, 2, 3) that the bus gives each array through its hinge [N m], the array's axes."""
        return hinge_moments(self.craft, self.q, self.v)

    @property
    def bending(self) -> Array:
        """(n, r, 2) at the drive assemblies: what is across the booms [N m]."""
        return np.asarray(np.linalg.norm(self.moments[..., 1:], axis=-1))

    @property
    def relative_rate(self) -> Array:
        """(n, r) of the craft against the asteroid [rad/s]."""
        return relative_rate(self.states, self.craft)

    @property
    def axis_angle(self) -> Array:
        """(n, r) between the craft's axis and the spin of the pair [rad], from 0 to pi/2."""
        return pair_spin(self.states, self.craft, self.asteroids.inertia, self.mass)[1]

    @property
    def pair_rate(self) -> Array:
        """(n, r) spin of the pair, were it one stiff body [rad/s]."""
        return pair_spin(self.states, self.craft, self.asteroids.inertia, self.mass)[0]


def hinge_moments(craft: Spacecraft, q: Array, v: Array) -> Array:
    """(..., 2, 3) of springs and dampers on the arrays [N m], in the arrays' axes."""
    found = []
    for name in ARRAYS:
        turn = q[..., craft.tree.q_slices[name]]
        turn = turn * np.where(turn[..., 3:] < 0.0, -1.0, 1.0)
        size = np.linalg.norm(turn[..., :3], axis=-1)[..., None]
        scale = np.where(size > 0.0, 2.0 * np.arctan2(size, turn[..., 3:]), 2.0)
        bent = turn[..., :3] * scale / np.where(size > 0.0, size, 1.0)
        rate = v[..., craft.tree.v_slices[name]]
        found.append(-craft.hinge_stiffness * bent - craft.hinge_damping * rate)
    return np.stack(found, axis=-2)


def _bus(states: Array, craft: Spacecraft) -> tuple[Array, Array, Array, Array]:
    """Place, velocity, attitude and rate (inertial axes) of the bus."""
    a, b = layout.CRAFT, layout.CRAFT + craft.tree.n_q
    turn = _safe(states[..., a + 3 : a + 7])
    rate = frames.quat_rotate(turn, states[..., b + 3 : b + 6])
    return states[..., a : a + 3], states[..., b : b + 3], turn, rate


def _safe(turn: Array) -> Array:
    """Quaternions, and no turn in place of the zeros after a run's end."""
    none = ~(np.abs(turn).sum(axis=-1, keepdims=True) > 0.0)
    return np.where(none, (0.0, 0.0, 0.0, 1.0), turn)


def relative_rate(states: Array, craft: Spacecraft) -> Array:
    """Of the craft against the asteroid [rad/s]."""
    own = frames.quat_rotate(_safe(states[..., 6:10]), states[..., 10:13])
    return np.asarray(np.linalg.norm(own - _bus(states, craft)[3], axis=-1))


def pair_spin(
    states: Array, craft: Spacecraft, inertia: Array, mass: Array
) -> tuple[Array, Array, Array]:
    """Spin of asteroid and craft as one stiff body [rad/s], the angle between it and the craft's
    axis [rad], and how far from the craft the spin's axis is [m].

    The arrays count as if they were not bent. ``states`` are (n, ..., width).
    """
    w = pair_spin_vector(states, craft, inertia, mass)
    size = np.linalg.norm(w, axis=-1)
    unit = w / np.where(size > 0.0, size, 1.0)[..., None]
    x, _, turn, _ = _bus(states, craft)
    m = mass.reshape((len(mass),) + (1,) * (states.ndim - 1))
    along = np.abs((unit * frames.quat_to_matrix(turn)[..., :, 2]).sum(axis=-1))
    from_middle = (x - states[..., 0:3]) * m / (m + craft.mass)
    across = from_middle - (from_middle * unit).sum(axis=-1)[..., None] * unit
    return size, np.arccos(np.clip(along, 0.0, 1.0)), np.linalg.norm(across, axis=-1)


def pair_spin_vector(states: Array, craft: Spacecraft, inertia: Array, mass: Array) -> Array:
    """(n, ..., 3) rate of asteroid and craft as one stiff body, inertial axes [rad/s]."""
    h = pair_momentum(states, craft, inertia, mass)
    whole = pair_inertia(states, craft, inertia, mass)
    return np.asarray(np.linalg.solve(whole, h[..., None])[..., 0])


def pair_momentum(states: Array, craft: Spacecraft, inertia: Array, mass: Array) -> Array:
    """(n, ..., 3) angular momentum of the pair about its centre of mass, inertial axes."""
    x, v, _, rate = _bus(states, craft)
    away, apart = x - states[..., 0:3], v - states[..., 3:6]
    own, other, reduced = _tensors(states, craft, inertia, mass)
    turning = frames.quat_rotate(_safe(states[..., 6:10]), states[..., 10:13])
    spun = own @ turning[..., None] + other @ rate[..., None]
    return np.asarray(spun[..., 0] + reduced * np.cross(away, apart))


def pair_inertia(states: Array, craft: Spacecraft, inertia: Array, mass: Array) -> Array:
    """(n, ..., 3, 3) of the pair as one stiff body about its centre of mass, inertial axes."""
    away = _bus(states, craft)[0] - states[..., 0:3]
    own, other, reduced = _tensors(states, craft, inertia, mass)
    square = (away**2).sum(axis=-1)[..., None, None] * np.eye(3)
    outer = away[..., :, None] * away[..., None, :]
    return np.asarray(own + other + reduced[..., None] * (square - outer))


def _tensors(
    states: Array, craft: Spacecraft, inertia: Array, mass: Array
) -> tuple[Array, Array, Array]:
    """Inertias of asteroid and craft in inertial axes, and the reduced mass (n, ..., 1)."""
    shape = (len(mass),) + (1,) * (states.ndim - 2)
    m, M = mass.reshape(shape)[..., None], craft.mass
    R = frames.quat_to_matrix(_safe(states[..., 6:10]))
    S = frames.quat_to_matrix(_bus(states, craft)[2])
    own = R @ inertia.reshape(*shape, 3, 3) @ np.swapaxes(R, -1, -2)
    return own, S @ craft.inertia @ np.swapaxes(S, -1, -2), m * M / (m + M)


def rows_of(runs: Start, capture: Any, asteroids: Asteroids, mass: Array) -> Any:
    """One record of ``ROW`` for each run, from what a kernel noted, with first and last states."""
    craft: Spacecraft = capture.craft
    run, notes, start = runs.runs, runs.notes, runs.first
    last = runs.rows["y"][:, : start.shape[1]]
    rows: Any = np.zeros(len(last), dtype=ROW)
    rows["run"] = np.arange(len(last))
    rows["mass_kg"], rows["steps"] = mass, run["steps"]
    rows["spin_rpm"] = _rpm(np.linalg.norm(asteroids.rate, axis=1))
    end, first, touching = run["t"], run["first"], run["touching"] == 1
    rows["end_s"], rows["contact_s"] = end, when(first)
    # Over the side of the hoop it is lost while it still touches: at the end.
    codes, released = run["outcome"], np.where(touching, end, notes["release"])
    lost = (first >= 0.0) & (~touching | (codes == int(Outcome.LOST)))
    rows["lost_s"] = np.where(lost, released, np.nan)
    rows["contacts"], rows["force_n"] = run["contacts"], notes["force"]
    rows["hoop_n"], rows["hoop_s"] = notes["hoop"], when(notes["hoop_at"])
    rows["depth_m"] = notes["depth"]
    rows["clearance_m"] = craft.standoff - rows["depth_m"]
    _put_moments(rows, runs, craft)
    sums = last[:, -layout.SUMS :]
    rows["slip_m"] = sums[:, layout.SLIPPED]
    rows["propellant_kg"] = craft.propellant(sums[:, layout.THRUST], sums[:, layout.TORQUE])
    rows["relative_rpm"] = _rpm(relative_rate(last, craft))
    spin, angle, away = pair_spin(last, craft, asteroids.inertia, mass)
    rows["pair_rpm"], rows["axis_deg"] = _rpm(spin), np.degrees(angle)
    rows["offset_m"], rows["needed_n"] = away, craft.mass * spin**2 * away
    restless = notes["restless"]
    calm = touching & (restless < end)
    # A run that a stop has ended tells nothing of what would have lasted.
    calm &= ~_by_stop(codes)
    rows["settle_s"] = np.where(calm, np.maximum(restless - first, 0.0), np.nan)
    since = _put_drift(rows, runs, last, craft, asteroids, mass, capture.approach.thrust)
    steady = calm & (since >= first) & (rows["drift_m_s"] < STILL) & (rows["left_s"] >= LASTING)
    rows["outcome"] = _outcomes(codes, first, touching, calm, steady)
    rows["outcome"][_gained(capture, start, last, asteroids, mass)] = Outcome.GAINED_ENERGY
    for name in ("drift_m_s", "spin_up_nm", "left_s"):
        rows[name][~np.isin(rows["outcome"], KEPT)] = np.nan
    rows["success"] = np.isin(rows["outcome"], KEPT) & (rows["margin"] >= 0.0)
    return rows


def _gained(capture: Any, start: Array, last: Array, asteroids: Asteroids, mass: Array) -> Any:
    """(n,) whether the fabric gave a run more energy than it received; arrays as if not bent."""
    craft: Spacecraft = capture.craft
    b = layout.CRAFT + craft.tree.n_q
    moving = [
        moving_energy(mass, asteroids.inertia, state[:, 3:6], state[:, 10:13])
        + moving_energy(craft.mass, craft.inertia, state[:, b : b + 3], state[:, b + 3 : b + 6])
        for state in (start, last)
    ]
    given = last[:, layout.WORK - layout.SUMS] + last[:, layout.PULLED - layout.SUMS]
    return gained_energy(moving[0], moving[1], given)


def _put_moments(rows: Any, runs: Start, craft: Spacecraft) -> None:
    """Bending and torsion of the drive assemblies."""
    numbers = [craft.tree.index(name) for name in ARRAYS]
    bending, at, twist = (runs.rows[n].T[numbers] for n in ("bending", "bending_at", "twist"))
    rows["bending_1_nm"], rows["bending_2_nm"] = bending
    worse = bending.argmax(axis=0)[None]
    rows["bending_nm"] = np.take_along_axis(bending, worse, axis=0)[0]
    rows["bending_at_s"] = np.take_along_axis(at, worse, axis=0)[0]
    rows["torsion_nm"] = twist.max(axis=0)
    with np.errstate(divide="ignore"):
        rows["margin"] = craft.moment_limit / rows["bending_nm"] - 1.0


def _put_drift(
    rows: Any,
    runs: Start,
    last: Array,
    craft: Spacecraft,
    asteroids: Asteroids,
    mass: Array,
    thrust: float,
) -> Array:
    """What has changed since a mark, one to two windows ago, and how long that can continue.

    Returns when these marks were made (n,) [s].

    Thrust presses as long as it exceeds what the spin takes, m w^2 r. Where the pair stays as it
    is, w grows with its angular momentum h: F M / (M + m) = needed (1 + h' t / h)^2 is the end.
    """
    marks = runs.rows["marks"]
    half = marks.shape[1] // 2
    older = half * (runs.notes["marked"] % 2)  # of the two marks the one that is written next
    before = np.take_along_axis(marks, older[:, None] + np.arange(half)[None], 1)
    time = np.maximum(rows["end_s"] - before[:, 0], 1e-300)
    h = [pair_momentum(y, craft, asteroids.inertia, mass) for y in (before[:, 1:], last)]
    size = [np.linalg.norm(vector, axis=-1) for vector in h]
    slip = layout.SLIPPED - layout.SUMS
    rows["drift_m_s"] = (last[:, slip] - before[:, slip]) / time
    rows["spin_up_nm"] = (size[1] - size[0]) / time
    with np.errstate(divide="ignore", invalid="ignore"):
        spare = np.sqrt(thrust * mass / (mass + craft.mass) / rows["needed_n"]) - 1.0
        left = np.where(spare > 0.0, spare * size[1] / rows["spin_up_nm"], 0.0)
    rows["left_s"] = np.where((rows["spin_up_nm"] <= 0.0) & (spare > 0.0), np.inf, left)
    return np.asarray(before[:, 0])


def windows(asteroids: Asteroids, duration: float) -> Array:
    """(n,) times over which a drift is looked at [s]: a turn of the asteroid, which evens out what
    comes and goes as the pair turns, or a third of the run where that is shorter."""
    rate = np.linalg.norm(asteroids.rate, axis=1)
    turn = 2.0 * np.pi / np.where(rate > 0.0, rate, 1e-300)
    return np.asarray(np.minimum(turn, duration / 3.0))


def _outcomes(
    codes: npt.NDArray[np.int32],
    first: Array,
    touching: npt.NDArray[np.bool_],
    calm: npt.NDArray[np.bool_],
    steady: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int32]:
    """Codes of ``Outcome``; what ended a run before its time comes first."""
    found = np.full(len(codes), int(Outcome.TIMED_OUT), dtype=np.int32)
    found[calm] = Outcome.SETTLED
    found[steady] = Outcome.HELD
    found[~touching] = Outcome.LOST
    found[first < 0.0] = Outcome.MISSED
    failed = codes != int(Outcome.TIMED_OUT)
    found[failed] = codes[failed]
    found[(first < 0.0) & (codes == int(Outcome.LOST))] = Outcome.MISSED
    return found


def _by_stop(codes: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """(n,) whether runs were ended by stops."""
    return np.isin(codes, OF_STOPS) | (codes >= FIRST_OWN)


def _rpm(rate: Array) -> Array:
    return np.asarray(rate * 30.0 / np.pi)
