"""Captures: the craft, the plans of controllers, and what they refuse."""

from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp

from alight.actuators import Schedule, Thruster
from alight.core import devices, frames
from alight.core.errors import AlightError, InputError
from alight.core.outcomes import Ending, Outcome, ending_of
from alight.core.types import scalar, vec3
from alight.engine.stops import SpinAbove
from alight.membrane import Captive, Membrane, hexagon, pear
from alight.motions.capture import stepping
from alight.motions.capture.approach import (
    CONTROLLERS,
    AngularMomentum,
    Approach,
    Asteroids,
    Instantaneous,
    approach,
    facing,
)
from alight.motions.capture.craft import Spacecraft
from alight.motions.capture.model import Capture
from alight.motions.capture.result import (
    CAPTURE_WORDS,
    ROW,
    _gained,
    _outcomes,
    _put_drift,
    pair_spin,
)
from alight.motions.capture.stepping import DAMPED, PULLED, SLIPPED, SUMS, WORK, CaptureScene
from alight.motions.membrane.state import Wrench

DEVICES = [device.name for device in devices.available()]
CRAFT = Spacecraft()
ROCK = Captive.from_mesh(pear(8.0, subdivisions=1), 5e5)
RATE = (0.01, -0.008, 0.035)


def capture(name="corkscrew", **options):
    return Capture(CRAFT.membrane(), ROCK, CRAFT, approach(name, **options))


def tumbling(count=5, seed=1):
    rng = np.random.default_rng(seed)
    q = frames.quat_normalize(rng.normal(size=(count, 4)))
    inertia = np.broadcast_to(ROCK.inertia, (count, 3, 3))
    return Asteroids(ROCK, inertia, q, rng.normal(size=(count, 3)) * 0.03)


# -- the craft --------------------------------------------------------------------------------


def test_craft_has_the_masses_of_its_parts():
    assert CRAFT.tree.mass == pytest.approx(15e3)
    # The stiff inertia is that of the tree: the angular momentum of a craft that turns as one.
    for axis in np.eye(3):
        v = np.zeros(CRAFT.tree.n_v)
        v[3:6] = axis
        spun = CRAFT.tree.momentum(CRAFT.tree.neutral(), v, about=(0, 0, 0), device="cpu").angular
        assert spun == pytest.approx(CRAFT.inertia @ axis, rel=1e-12, abs=1e-6)
    assert CRAFT.suspension[:, 2] == pytest.approx(8.0)
    assert CRAFT.membrane().nominal_area == pytest.approx(146.1, abs=0.1)


def test_array_swings_at_its_frequency():
    # On a bus that stands still: k / I_hinge.
    heavy = Spacecraft(mass=1e9, damping_ratio=0.0)
    q = heavy.tree.neutral()
    at = heavy.tree.q_slices["array 1"]
    q[at] = frames.quat_from_axis_angle((0.0, 1.0, 0.0), 1e-4)
    a = heavy.tree.accelerations(q, np.zeros(heavy.tree.n_v), device="cpu")
    gained = a[heavy.tree.v_slices["array 1"]][1]
    assert np.sqrt(-gained / 1e-4) == pytest.approx(2.0 * np.pi * 0.1, rel=1e-4)


def test_propellant_counts_forces_and_torques():
    used = CRAFT.propellant(285.0 * 9.80665, 285.0 * 9.80665 * 1.5)
    assert used == pytest.approx(2.0)


# -- plans ------------------------------------------------------------------------------------


def test_asteroid_keeps_momentum_and_energy_on_its_way():
    now, then = tumbling(), tumbling().after(60.0)
    energy = [np.einsum("ni,nij,nj->n", x.rate, x.inertia, x.rate) for x in (now, then)]
    assert then.momentum == pytest.approx(now.momentum, rel=1e-8, abs=1e-6)
    assert energy[1] == pytest.approx(energy[0], rel=1e-8)


def test_along_the_angular_momentum():
    # The part of the rate along h is 2T/h, whenever it is asked for.
    asteroids = tumbling()
    axis, spin, _ = AngularMomentum().aim(asteroids)
    _, later, _ = AngularMomentum().aim(asteroids.after(37.0))
    h = np.linalg.norm(asteroids.momentum, axis=1)
    energy = np.einsum("ni,nij,nj->n", asteroids.rate, asteroids.inertia, asteroids.rate)
    assert spin == pytest.approx(energy / h, rel=1e-12)
    assert later == pytest.approx(spin, rel=1e-8)
    assert np.cross(axis, asteroids.momentum) == pytest.approx(np.zeros((5, 3)), abs=1e-6)
    other, back, _ = AngularMomentum(side=-1).aim(asteroids)
    assert other == pytest.approx(-axis)
    assert back == pytest.approx(-spin)


def test_instantaneous_has_the_rate_at_contact():
    asteroids = tumbling()
    axis, spin, _ = Instantaneous(lead=12.0).aim(asteroids)
    then = asteroids.after(12.0)
    assert spin[:, None] * axis == pytest.approx(frames.quat_rotate(then.attitude, then.rate))
    late, _, _ = Instantaneous(lead=12.0, timing=5.0).aim(asteroids)
    assert np.abs(late - axis).max() > 1e-3


def test_starts_on_the_way_and_touches_after_the_lead():
    for name in CONTROLLERS:
        flight = capture(name, lead=5.0).run(RATE, duration=8.0, every=0.5, device="cpu")
        row = flight.rows[0]
        assert 0.0 < row["contact_s"] <= 5.0 + 0.101  # a step may end on the plane
        # Held on its way: hardly any thrust is used before contact, but for the corkscrew's circle.
        before = int(row["contact_s"] / 0.5)
        assert flight.sums[0, before, 4] < 150.0
        away = flight.q[0, : before + 1, :3] - flight.position[0, : before + 1]
        assert np.diff(np.linalg.norm(away, axis=1)).max() < 0.0


def test_corkscrew_keeps_the_middle_on_the_axis():
    flight = capture("corkscrew", lead=20.0).run(RATE, duration=22.0, every=1.0, device="cpu")
    corners = ROCK.hull.vertices
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    assert np.linalg.norm(middle) > 0.3
    before = flight.time < flight.rows["contact_s"][0]
    place = flight.position[0, before] + frames.quat_rotate(flight.attitude[0, before], middle)
    seen = frames.quat_rotate_inv(flight.q[0, before, 3:7], place - flight.q[0, before, :3])
    assert np.abs(seen[:, :2]).max() < 1e-3


def test_offset_is_an_error_across_the_way():
    plain = capture("angular-momentum").run(RATE, duration=1.0, device="cpu")
    off = capture("angular-momentum", offset=(0.5, 0.0)).run(RATE, duration=1.0, device="cpu")
    gap = off.states[0, 0, 13:16] - plain.states[0, 0, 13:16]
    assert np.linalg.norm(gap) == pytest.approx(0.5)
    assert gap @ plain.asteroids.momentum[0] == pytest.approx(0.0, abs=1e-6)


def test_facing_is_a_rotation():
    d = np.random.default_rng(2).normal(size=(20, 3))
    d /= np.linalg.norm(d, axis=1)[:, None]
    R = facing(d)
    assert R @ np.swapaxes(R, 1, 2) == pytest.approx(np.broadcast_to(np.eye(3), (20, 3, 3)))
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert R[:, :, 2] == pytest.approx(-d)


# -- a controller of one's own ----------------------------------------------------------------


@wp.struct
class SpringData:
    """Thrust that grows with time [N/s]."""

    slope: scalar


@wp.func
def growing(data: SpringData, scene: CaptureScene, slot: int):
    """Along the craft's z."""
    push = Wrench()
    push.force = wp.quat_rotate(scene.craft.q, vec3(scalar(0.0), scalar(0.0), data.slope * scene.t))
    return push


class Growing(Approach):
    """Far away, at rest."""

    Data = SpringData
    push = growing

    def aim(self, asteroids):
        n = asteroids.count
        return np.tile([0.0, 0.0, 1.0], (n, 1)), np.zeros(n), np.zeros((n, 3))

    def data(self, device, rows, craft):
        data = SpringData()
        data.slope = 2.0
        return data


@pytest.mark.validate
@pytest.mark.parametrize("device", DEVICES)
def test_controller_of_ones_own(device):
    motion = Capture(CRAFT.membrane(), ROCK, CRAFT, Growing(speed=1e-6, lead=1e6))
    flight = motion.run((0, 0, 0), duration=3.0, device=device)
    thrust = flight.last[0, stepping.THRUST - stepping.SUMS]
    assert thrust == pytest.approx(9.0, rel=1e-9)  # 2 t^2 / 2
    assert flight.rows["propellant_kg"][0] == pytest.approx(9.0 / (285.0 * 9.80665), rel=1e-9)


def test_a_thruster_beside_that_of_the_approach():
    """Far away: 30 N across, from 1.03 s to 2.01 s, and nothing of the other before contact."""
    jet = Thruster(30.0, (1, 0, 0), schedule=Schedule.between(1.03, 2.01), name="jet")
    motion = Capture(
        *(CRAFT.membrane(), ROCK, CRAFT, Growing(speed=1e-6, lead=1e6)), actuators=(jet,)
    )
    flight = motion.run((0, 0, 0), duration=3.0, every=0.5, device="cpu")
    linear = CRAFT.tree.momentum(flight.q[0], flight.v[0], device="cpu").linear
    across, ahead = 30.0 * 0.98, 9.0
    pushed = np.linalg.norm(linear[-1] - linear[0])
    assert pushed == pytest.approx(np.hypot(across, ahead), rel=1e-5)
    with pytest.raises(InputError, match="comes to landers"):
        Capture(
            *(CRAFT.membrane(), ROCK, CRAFT, Growing()),
            actuators=(Thruster(1.0, (1, 0, 0), schedule=Schedule.after_rest()),),
        )


@pytest.mark.validate
def test_a_stop_ends_a_capture():
    """It is not held, and not at rest; the words of captures stay for the others."""
    import dataclasses

    spun = Ending(64, "spun", "the asteroid turned for 3 s")
    motion = dataclasses.replace(capture(), stops=(SpinAbove(0.03, hold=3.0, ending=spun),))
    rates = np.array([RATE, 0.1 * np.array(RATE)])
    found = motion.run(rates, duration=6.0, every=1.0, device="cpu")
    assert [end.name for end in found.outcome] == ["spun", "MISSED"]
    assert str(found.outcome[0]) == "the asteroid turned for 3 s"
    row = found.rows[0]
    assert 3.0 <= row["end_s"] <= 3.0 + 2 * 0.1
    assert not row["success"]
    assert np.isnan(row["settle_s"])
    assert found.rows["end_s"][1] == 6.0
    assert found.records.tolist() == [4, 7]


# -- rows -------------------------------------------------------------------------------------


def test_outcomes_by_what_happened():
    codes = np.array([3, 3, 3, 3, 3, 24, 18, 8, 8], dtype=np.int32)
    first = np.array([1.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0])
    touching = np.array([1, 1, 0, 0, 1, 1, 1, 0, 0], dtype=bool)
    calm = np.array([1, 0, 0, 0, 1, 1, 0, 0, 0], dtype=bool)
    steady = np.array([0, 0, 0, 0, 1, 1, 0, 0, 0], dtype=bool)
    ends = _outcomes(codes, first, touching, calm, steady)
    found = [ending_of(c, CAPTURE_WORDS).name for c in ends]
    wanted = ["AT_REST", "UNSETTLED", "MISSED", "LOST", "HELD", "RIM", "NOT_FINITE", "LOST"]
    assert found == [*wanted, "MISSED"]  # past the hoop without a touch is no loss


def test_codes_keep_their_meaning():
    """Tables of earlier campaigns are read with these; held for good has a code of its own."""
    assert {end.name: int(end) for end in CAPTURE_WORDS.values()} == {
        "AT_REST": 1, "UNSETTLED": 3, "MISSED": 7, "LOST": 8, "STRUCK": 9, "HELD": 10, "RIM": 24,
    }  # fmt: skip
    assert all(code == end for code, end in CAPTURE_WORDS.items())
    at_rest = ending_of(Outcome.SETTLED, CAPTURE_WORDS)
    assert str(at_rest) == "in contact, and at rest against the asteroid"


def test_spin_of_a_stiff_pair():
    # Asteroid and craft that turn as one body have that body's rate, and distance from its axis.
    w, away = np.array([0.0, 0.04, 0.0]), np.array([0.0, 0.0, 18.0])
    state = np.zeros((1, 13 + CRAFT.tree.n_q + CRAFT.tree.n_v + SUMS))
    state[0, 6:10] = (0, 0, 0, 1)
    state[0, 10:13] = w
    state[0, 13 : 13 + CRAFT.tree.n_q] = CRAFT.tree.neutral()
    state[0, 13:16] = away
    first = 13 + CRAFT.tree.n_q
    state[0, first : first + 3], state[0, first + 3 : first + 6] = np.cross(w, away), w
    spin, angle, far = pair_spin(state, CRAFT, ROCK.inertia[None], np.array([5e5]))
    assert spin[0] == pytest.approx(0.04, rel=1e-12)
    assert np.degrees(angle[0]) == pytest.approx(90.0)
    assert far[0] == pytest.approx(18.0 * 5e5 / 5.15e5)
    # Nothing spins, the craft flies past: all angular momentum is of the way, r x m v.
    state[0, 10:13] = state[0, first + 3 : first + 6] = 0.0
    reduced = 5e5 * 15e3 / 5.15e5
    h = reduced * 18.0 * 0.04 * 18.0
    whole = ROCK.inertia[1, 1] + CRAFT.inertia[1, 1] + reduced * 18.0**2
    spin, _, _ = pair_spin(state, CRAFT, ROCK.inertia[None], np.array([5e5]))
    assert spin[0] == pytest.approx(h / whole, rel=1e-9)


def stiff_pair(rate, slip=0.0):
    """A state of asteroid and craft that turn as one body, 18 m apart, in a flat spin [rad/s]."""
    w, away = np.array([0.0, rate, 0.0]), np.array([0.0, 0.0, 18.0])
    state = np.zeros(13 + CRAFT.tree.n_q + CRAFT.tree.n_v + SUMS)
    state[6:10], state[10:13] = (0, 0, 0, 1), w
    state[13 : 13 + CRAFT.tree.n_q] = CRAFT.tree.neutral()
    state[13:16], first = away, 13 + CRAFT.tree.n_q
    state[first : first + 3], state[first + 3 : first + 6] = np.cross(w, away), w
    state[SLIPPED - SUMS] = slip
    return state


@pytest.mark.parametrize(("before", "thrust"), [(0.02, 475.0), (0.03, 475.0), (0.02, 100.0)])
def test_time_left_by_the_growth_of_the_spin(before, thrust):
    """m w^2 r reaches F M / (M + m) as w grows with h: the least of what a drift allows."""
    m, M, now = 15e3, 5e5, 0.025
    marks = np.zeros((2 * (len(stiff_pair(0.0)) + 1), 1))
    marks[: len(marks) // 2, 0] = np.concatenate([[40.0], stiff_pair(before, slip=1.0)])
    marks[len(marks) // 2, 0] = 60.0  # a later mark, which is not looked at
    noted = np.array([(2,)], dtype=[("marked", int)])
    notes = SimpleNamespace(rows={"marks": marks.T}, notes=noted)
    rows, last = np.zeros(1, dtype=ROW), stiff_pair(now, slip=1.3)[None]
    asteroids = Asteroids(ROCK, ROCK.inertia[None], np.array([[0, 0, 0, 1.0]]), np.zeros((1, 3)))
    spin, _, away = pair_spin(last, CRAFT, ROCK.inertia[None], np.array([M]))
    rows["end_s"], rows["needed_n"] = 100.0, m * spin**2 * away
    since = _put_drift(rows, notes, last, CRAFT, asteroids, np.array([M]), thrust)
    assert since[0] == 40.0
    assert rows["drift_m_s"][0] == pytest.approx(0.3 / 60.0)
    whole = ROCK.inertia[1, 1] + CRAFT.inertia[1, 1] + m * M / (m + M) * 18.0**2
    assert rows["spin_up_nm"][0] == pytest.approx(whole * (now - before) / 60.0)
    most = np.sqrt(thrust * M / (M + m) / (m * away[0]))  # rate at which thrust is all used up
    growth = (now - before) / 60.0
    wanted = np.inf if growth < 0.0 else max(0.0, (most - now) / growth)
    assert rows["left_s"][0] == pytest.approx(wanted)


def test_rows_have_every_column():
    rows = capture().run([RATE, RATE], mass=[5e5, 2e5], duration=2.0, device="cpu").rows
    assert rows.dtype == ROW
    assert rows["mass_kg"].tolist() == [5e5, 2e5]
    assert rows["run"].tolist() == [0, 1]


def test_pear_has_three_moments():
    mesh = pear(11.5)
    moments = np.diag(mesh.inertia(1.0))
    assert moments / moments[0] == pytest.approx([1.0, 1.2, 1.35], abs=0.05)
    assert mesh.extent[0] == pytest.approx(11.5, rel=1e-2)
    assert mesh.vertices[:, 0].max() > -1.2 * mesh.vertices[:, 0].min()


# -- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Spacecraft(mass=-1.0), "mass of the craft"),
        (lambda: Spacecraft(array_mass=8e3), "nothing is left for the bus"),
        (lambda: Spacecraft(frequency=0.0), r"frequency of the craft \[Hz\]"),
        (lambda: Spacecraft(damping_ratio=-0.1), "damping_ratio"),
        (lambda: Spacecraft(moment_limit=np.nan), "moment_limit"),
        (lambda: approach("corkscew"), "corkscrew"),
        (lambda: approach("corkscrew", speed=0.0), "speed of the approach"),
        (lambda: approach("corkscrew", thrust=-1.0), "thrust after contact"),
        (lambda: approach("corkscrew", side=2), "side is 2"),
        (lambda: approach("corkscrew", offset=(1.0, 2.0, 3.0)), "offset has shape"),
        (lambda: approach("corkscrew", offset=(np.inf, 2.0)), "offset"),
        (lambda: approach("corkscrew", roll=[[1.0]]), "roll must be"),
        (lambda: approach("corkscrew", lead=-1.0), "lead before contact"),
        (lambda: approach("instantaneous", timing=np.inf), "timing"),
        (lambda: pear(-1.0), "length of a pear"),
        (lambda: pear(1.0, taper=0.9), "from 0 to 0.5"),
        (lambda: Capture(CRAFT.membrane(), ROCK, CRAFT, "corkscrew"), "give an Approach"),
        (lambda: Capture(CRAFT.membrane(), ROCK, CRAFT, approach("corkscrew"), -1.0), "calm_speed"),
    ],
)
def test_parts_that_make_no_sense(make, words):
    with pytest.raises(AlightError, match=words):
        make()


def test_membrane_must_hang_on_the_craft():
    with pytest.raises(AlightError, match=r"craft\.membrane"):
        Capture(Membrane(1.5, suspension=hexagon(7.5)), ROCK, CRAFT, approach("corkscrew"))
    line = Membrane(1.0, suspension=[[-5.0, 0.0], [5.0, 0.0]])
    with pytest.raises(AlightError, match="2D"):
        Capture(line, ROCK, CRAFT, approach("corkscrew"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mass": -1.0}, "mass"),
        ({"mass": [[1.0]]}, "mass"),
        ({"friction": -0.1}, "friction has a value of -0.1"),
        ({"friction": "rough"}, "friction is 'rough'"),
        ({"inertia_scale": 0.0}, "inertia_scale"),
        ({"inertia_scale": [[1.0, 1.0, 9.0]]}, "no body has"),
        ({"mass": [1e5, 2e5], "friction": [1.0, 1.0, 1.0]}, "different numbers of runs"),
        ({"rate": (0.0, np.nan, 0.0)}, "rate"),
        ({"attitude": (0.0, 0.0, 0.0, 0.0)}, "attitude"),
        ({"duration": 0.0}, "duration"),
        ({"every": -1.0}, "every"),
        ({"method": "euler"}, "method"),
        ({"tolerance": 0.0}, "tolerance"),
    ],
)
def test_runs_that_make_no_sense(options, words):
    given = {"rate": RATE, "duration": 1.0, "device": "cpu"} | options
    with pytest.raises(AlightError, match=words):
        capture().run(**given)


def test_energy_that_nothing_gave_is_a_failure():
    """An asteroid that leaves faster than it came, unless thrusters, gravity or pushes did it."""
    flight = capture().run(RATE, duration=2.0, every=1.0, device="cpu")
    model, given = capture(), (flight.asteroids, flight.mass)
    start, last = flight.states[:, 0], flight.last
    assert not _gained(model, start, last, *given).any()
    thrown = last.copy()
    thrown[:, 3] += 0.2
    assert _gained(model, start, thrown, *given).all()
    work = 0.5 * flight.mass * 0.2**2
    for done_by in (WORK, PULLED):  # thrusters; gravity and pushes
        given_more = thrown.copy()
        given_more[:, done_by - SUMS] += work
        assert not _gained(model, start, given_more, *given).any()
    thrown[:, DAMPED - SUMS] += work
    assert _gained(model, start, thrown, *given).all()


def test_a_roll_for_another_number_of_runs_is_refused():
    late = Capture(CRAFT.membrane(), ROCK, CRAFT, approach("corkscrew", roll=[0, 1, 2]))
    with pytest.raises(AlightError, match="offset or roll"):
        late.run([RATE, RATE], duration=1.0)
