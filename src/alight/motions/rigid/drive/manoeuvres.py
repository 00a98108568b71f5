"""What a model's manoeuvres are to its kernel: rows of commands, rows of memory, and the hops that
they leave."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from alight.actuators import (
    FollowPlan,
    Hop,
    Manoeuvre,
    Pulse,
    SpinAndBrake,
    Upright,
    UprightByJoints,
    Wheel,
)
from alight.actuators.manoeuvre import reachable, require_named, time_to_speed
from alight.actuators.pointed_hop import unit_hops
from alight.actuators.policy import VERTICALS
from alight.core import devices, random
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.types import scalar, vec3, vec4
from alight.vehicles import RigidLander

#: Kinds of commands in kernels: levels from a table, a hop, a tumble that brings a side up, a throw
#: of a plan.
TABLE, HOP, UPRIGHT, PLANNED = (wp.constant(i) for i in range(4))
#: Rows of memory: number of the next manoeuvre, 1 while one is under way, when levels in flight are
#: set next [s]; then of each level what it is set to, from when and until when [s].
NEXT, UNDER, DUE = (wp.constant(i) for i in range(3))
OWN = wp.constant(3)
SET, ON, OFF = (wp.constant(i) for i in range(3))
EACH_LEVEL = wp.constant(3)
#: Rows of the record of each manoeuvre, in the order of ``HOP_FIELDS``.
HOP_FIELDS = (
    ("state", 1), ("start", 1), ("place", 3), ("takeoff", 1), ("velocity", 3), ("touch", 1),
    ("touch_place", 3), ("end", 1), ("end_place", 3), ("asked", 1), ("way", 3), ("meant", 1),
    ("share", 1), ("fastest", 1), ("energy", 1), ("work", 1), ("contacts", 1),
)  # fmt: skip
_AT = dict(
    zip(
        (name for name, _ in HOP_FIELDS),
        np.cumsum([0, *(size for _, size in HOP_FIELDS)]).tolist(),
        strict=False,
    )
)
(STATE, START, PLACE, TAKEOFF, VELOCITY, TOUCH, TOUCH_PLACE, END, END_PLACE, ASKED, WAY, MEANT,
 SHARE, FASTEST_WHEEL, ENERGY, WORK_OF_HOP, CONTACTS) = (
    wp.constant(_AT[name]) for name, _ in HOP_FIELDS
)  # fmt: skip
RECORD = wp.constant(sum(size for _, size in HOP_FIELDS))
#: States of a manoeuvre: not begun, under way, over, left out as there was nothing to do.
WAITING, BEGUN, OVER, LEFT_OUT = (wp.constant(scalar(i)) for i in range(4))


@wp.struct
class ManoeuvreData:
    """One manoeuvre."""

    kind: int
    first: int  # of its rows of levels
    delay: scalar  # [s]
    not_before: scalar  # [s]
    sun: scalar  # sine of the Sun's elevation, at least; -2 for no Sun
    azimuth: scalar  # clockwise from north [rad]
    toward: vec3  # [m]
    guided: bool  # whether it goes there
    within: scalar  # [m]
    speed: scalar  # 0 where the distance says it [m/s]
    distance: scalar  # the most, towards a place [m]
    friction: scalar
    settle: scalar  # 0 for no control in flight [s]
    up: vec3
    upright: scalar  # cosine of the tilt that is upright
    margin: scalar
    # Of a plan: cells, its row for this hop, throws, regions and places that are avoided.
    cell: int
    cells: int
    plan: int
    throws: int
    avoid: int
    avoids: int
    dark: int
    darks: int
    vertical: int
    hop: int  # number of the hop, by which its errors are drawn
    low: wp.uint32  # key of the draws
    high: wp.uint32
    speed_error: scalar
    angle_error: scalar  # [rad]


@wp.struct
class TourData:
    """All manoeuvres, and what they are planned from."""

    each: wp.array(dtype=ManoeuvreData)
    table: wp.array(dtype=vec3)  # level, from and until when [s], of each level of TABLE commands
    feet: wp.array(dtype=vec3)  # corners of the hull and points beyond it [m]
    share: wp.array(dtype=vec3)  # speed of each wheel for a momentum [rad/s per N m s]
    fastest: wp.array(dtype=scalar)  # speed of each wheel at most [rad/s]
    sun: vec3  # where the Sun is, inertial axes
    centres: wp.array(dtype=vec3)  # of the cells of plans [m]
    plan: wp.array(dtype=int)  # the throw of each cell
    throws: wp.array(dtype=vec3)  # speed [m/s], azimuth and elevation [rad]
    avoid: wp.array(dtype=vec4)  # centre and radius of regions [m]
    dark_places: wp.array(dtype=vec3)  # [m]
    dark: wp.array(dtype=int)  # 1 where the night is too long


@dataclass(frozen=True)
class Tour:
    """The manoeuvres of one lander, checked."""

    manoeuvres: tuple[Manoeuvre, ...]
    lander: RigidLander
    wheels: tuple[Wheel, ...]
    names: tuple[str, ...]
    """Of all actuators: wheels, arms, others."""
    sun: tuple[float, float, float] | None

    def __post_init__(self) -> None:
        for number, one in enumerate(self.manoeuvres):
            if not isinstance(one, Manoeuvre):
                raise InputError(f"{one!r} is among the manoeuvres; each must be a Manoeuvre.")
            self._check(f"manoeuvre {number}", one)

    def _check(self, who: str, one: Manoeuvre) -> None:
        command = one.command
        if isinstance(command, UprightByJoints):
            raise InputError(
                f"{who} gets upright by joints, and a rigid lander has none; give Upright, which "
                "does it by wheels."
            )
        if one.sun_above is not None and self.sun is None:
            raise InputError(
                f"{who} waits for the Sun, and nothing says where it is: give the model a sun."
            )
        if isinstance(command, Pulse):
            require_named(f"actuator of {who}", command.levels, list(self.names))
            for wheel in self.wheels:
                self._check_level(who, wheel, command.levels.get(wheel.name, 0.0))
        if isinstance(command, SpinAndBrake):
            require_named(f"wheel of {who}", command.speeds, [w.name for w in self.wheels])
            for wheel in self.wheels:
                self._check_spin(who, wheel, command)
        if isinstance(command, Hop | Upright):
            self._check_wheels(who)
        if isinstance(command, Hop) and command.speed is not None:
            self._check_speed(who, command)

    def _check_level(self, who: str, wheel: Wheel, level: float) -> None:
        if abs(level) > 1.0:
            raise InputError(
                f'{who} asks the motor of wheel "{wheel.name}" for {abs(level):.4g} times its '
                f"torque of {wheel.torque:.4g} N m; a level is from -1 to 1."
            )

    def _check_spin(self, who: str, wheel: Wheel, command: SpinAndBrake) -> None:
        speed = abs(command.speeds.get(wheel.name, 0.0))
        if speed == 0.0:
            return
        if wheel.brake == 0.0:
            raise InputError(f'{who} brakes wheel "{wheel.name}", which has no brake torque.')
        if speed >= wheel.top_speed:
            raise InputError(
                f'{who} spins wheel "{wheel.name}" up to {speed:.4g} rad/s, and its top speed is '
                f"{wheel.top_speed:.4g} rad/s; ask for less."
            )
        time_to_speed(wheel, speed, command.level)

    def _check_wheels(self, who: str) -> None:
        able = [w for w in self.wheels if w.torque > 0.0 and w.brake > 0.0]
        axes = np.array([w.axis for w in able]).reshape(-1, 3)
        if np.linalg.matrix_rank(axes, tol=1e-6) < 3:
            raise InputError(
                f"{who} needs wheels with motor and brake about three axes, to push off whichever "
                f"way the lander lies, and it has {len(able)} that span fewer; give it more, or "
                "use spin and brake, which names its wheels."
            )

    def _check_speed(self, who: str, command: Hop) -> None:
        """The slowest way to hop at that speed, of those from its feet in the attitude that it is
        made for, must be within what the wheels can do."""
        angles = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
        along = np.stack([np.cos(angles), np.sin(angles), np.zeros(16)], -1)
        plans = unit_hops(
            self.feet, self.lander.mass, self.lander.inertia, command.friction,
            (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0), along,
        )  # fmt: skip
        needed = np.abs(plans["momentum"] @ self.share.T)
        limits = np.array([reachable(w) for w in self.wheels])
        most = (limits / np.maximum(needed, 1e-300)).min(axis=1).max()
        if command.speed is not None and command.speed > most:
            raise InputError(
                f"{who} asks for a hop of {command.speed:.4g} m/s; at the top speed of its wheels "
                f"the lander hops at {most:.4g} m/s at most."
            )

    @property
    def feet(self) -> Array:
        """(k, 3) corners of the hull and contact points [m], body axes."""
        found = [np.asarray(self.lander.points)]
        if self.lander.hull is not None:
            found.append(np.asarray(self.lander.hull.vertices))
        return np.unique(np.round(np.concatenate(found), 12), axis=0)

    @property
    def share(self) -> Array:
        """(wheels, 3) speed of each wheel for a momentum, the least that add up to it."""
        able = np.array([w.torque > 0.0 and w.brake > 0.0 for w in self.wheels], dtype=bool)
        axes = np.array([w.inertia * np.asarray(w.axis) for w in self.wheels]).reshape(-1, 3)
        out = np.zeros((len(self.wheels), 3))
        if able.any():
            out[able] = np.linalg.pinv(axes[able].T)
        return out

    @property
    def rows(self) -> tuple[Manoeuvre, ...]:
        """One for each time that a manoeuvre is carried out."""
        return tuple(one for one in self.manoeuvres for _ in range(one.repeats))

    @property
    def throws(self) -> bool:
        """Whether some of them follow a plan."""
        return any(isinstance(one.command, FollowPlan) for one in self.manoeuvres)

    def data(self, levels: int, device: devices.Device) -> Any:
        """As the kernel reads them."""
        rows: Any = np.zeros(len(self.rows), dtype=ManoeuvreData.numpy_dtype())  # type: ignore[attr-defined]
        table: list[Array] = []
        for i, one in enumerate(self.rows):
            rows[i]["first"] = len(table) * levels
            rows[i]["delay"], rows[i]["not_before"] = one.delay, one.not_before
            rows[i]["within"] = one.within
            rows[i]["sun"] = -2.0 if one.sun_above is None else math.sin(one.sun_above)
            command = one.command
            if isinstance(command, Hop | Upright):
                _fill(rows[i], command)
            elif not isinstance(command, FollowPlan):
                assert isinstance(command, SpinAndBrake | Pulse)
                rows[i]["kind"] = int(TABLE)
                table.append(self._levels(command, levels))
        data = TourData()
        name = device.name
        _fill_plans(rows, self.manoeuvres, data, name)
        data.each = wp.array(rows, dtype=ManoeuvreData, device=name)
        flat = np.concatenate(table) if table else np.zeros((1, 3))
        data.table = wp.array(flat, dtype=vec3, device=name)
        data.feet = wp.array(self.feet, dtype=vec3, device=name)
        data.share = wp.array(self.share.reshape(-1, 3), dtype=vec3, device=name)
        limits = [min(reachable(w), 1e30) for w in self.wheels]
        data.fastest = wp.array(np.array(limits), dtype=scalar, device=name)
        data.sun = vec3(*(self.sun or (0.0, 0.0, 0.0)))
        return data

    def _levels(self, command: SpinAndBrake | Pulse, levels: int) -> Array:
        """(levels, 3) level, from and until when, of each level of the drive."""
        out = np.zeros((levels, 3))
        if isinstance(command, Pulse):
            for i, name in enumerate(self.names):
                place = 2 * i if i < len(self.wheels) else len(self.wheels) + i
                if name in command.levels:
                    out[place] = command.levels[name], 0.0, command.duration
            return out
        spun = [(i, w) for i, w in enumerate(self.wheels) if w.name in command.speeds]
        times = {i: time_to_speed(w, command.speeds[w.name], command.level) for i, w in spun}
        end = max(times.values())
        for i, wheel in spun:
            sign = math.copysign(command.level, command.speeds[wheel.name])
            out[2 * i] = sign, end - times[i], end
            out[2 * i + 1] = 1.0, end, 1e30
        return out


def _fill_plans(rows: Any, manoeuvres: Sequence[Manoeuvre], data: Any, device: str) -> None:
    """Fill what rows of manoeuvres that follow plans say, and the arrays of all plans."""
    first, parts = 0, {name: [np.zeros((0, k))] for name, k in _OF_PLANS.items()}
    for one in manoeuvres:
        own = rows[first : first + one.repeats]
        first += one.repeats
        if not isinstance(one.command, FollowPlan):
            continue
        plan = one.command.plan
        starts = {name: sum(map(len, found)) for name, found in parts.items()}
        own["kind"], own["guided"] = int(PLANNED), True
        own["toward"], own["within"] = plan.goal, plan.goal_radius
        own["cell"], own["cells"] = starts["centres"], len(plan.centres)
        own["throws"], own["vertical"] = starts["throws"], VERTICALS.index(plan.vertical)
        own["avoid"], own["avoids"] = starts["avoid"], len(plan.avoid)
        own["dark"], own["darks"] = starts["dark_places"], len(plan.dark_places)
        own["low"], own["high"] = random.key_of(one.command.seed, "throws of a plan")
        own["speed_error"], own["angle_error"] = one.command.errors
        own["hop"] = np.arange(one.repeats)
        left = one.repeats - 1 - np.arange(one.repeats)
        own["plan"] = starts["plan"] + left * len(plan.centres)
        found = {**vars(plan), "plan": plan.plan.reshape(-1, 1), "dark": plan.dark[:, None]}
        for name, several in parts.items():
            several.append(np.asarray(found[name], dtype=np.float64))
    kinds = {1: int, 3: vec3, 4: vec4}
    for name, width in _OF_PLANS.items():
        whole: Any = np.concatenate(parts[name])
        if width == 1:
            whole = whole[:, 0].astype(np.int32)
        setattr(data, name, wp.array(whole, dtype=kinds[width], device=device))


#: Arrays of plans, and the numbers of a row of each.
_OF_PLANS = {"centres": 3, "plan": 1, "throws": 3, "avoid": 4, "dark_places": 3, "dark": 1}


def _fill(row: Any, command: Hop | Upright) -> None:
    row["up"] = np.asarray(command.up) / np.linalg.norm(command.up)
    row["friction"] = command.friction
    if isinstance(command, Upright):
        row["kind"] = int(UPRIGHT)
        row["upright"], row["margin"] = math.cos(command.within), command.margin
        return
    row["kind"] = int(HOP)
    row["azimuth"], row["settle"] = command.azimuth, command.settle
    row["speed"], row["distance"] = command.speed or 0.0, command.distance or 1e30
    row["guided"] = command.toward is not None
    row["toward"] = command.toward or (0.0, 0.0, 0.0)


#: How manoeuvres end: not begun, in flight and at rest again, moved without flight, not moved, not
#: at rest again, nothing to do.
HOP_ENDS = ("waiting", "hopped", "moved", "stuck", "lost", "nothing_to_do")
#: Of the lander's radius: less is no move.
_MOVED = 0.1


def records_of(rows: Array, count: int, radius: float) -> Any:
    """(n, count) structured array of the records of ``count`` manoeuvres in rows (n, k) of memory
    that begin with them, of a lander of this ``radius`` [m]; ``ended`` is a number of ``HOP_ENDS``.
    """
    kinds = [(name, "f8") if size == 1 else (name, "f8", (size,)) for name, size in HOP_FIELDS]
    out = np.zeros((len(rows), count), dtype=[*kinds, ("ended", "i4")])
    flat = rows[:, : count * int(RECORD)].reshape(len(rows), count, int(RECORD))
    for name, size in HOP_FIELDS:
        at = _AT[name]
        out[name] = flat[..., at] if size == 1 else flat[..., at : at + size]
    out["ended"] = _ended(out, radius)
    return out


def _ended(records: Any, radius: float) -> Any:
    way = np.linalg.norm(records["end_place"] - records["place"], axis=-1)
    moved = np.where(way > _MOVED * radius, HOP_ENDS.index("moved"), HOP_ENDS.index("stuck"))
    over = np.where(records["takeoff"] > 0.0, HOP_ENDS.index("hopped"), moved)
    known = {
        float(WAITING.value): HOP_ENDS.index("waiting"),
        float(BEGUN.value): HOP_ENDS.index("lost"),
        float(LEFT_OUT.value): HOP_ENDS.index("nothing_to_do"),
    }
    out = np.where(way > _MOVED * radius, over, moved)
    for state, number in known.items():
        out = np.where(records["state"] == state, number, out)
    return out


def check_commands(actuators: Sequence[Any]) -> None:
    """Raise where actuators of a lander with manoeuvres have commands of their own."""
    for one in actuators:
        said = (one.motor, one.braking) if isinstance(one, Wheel) else (one.schedule,)
        known = getattr(one, "scheduled", True)
        if known and any(any(getattr(c, "levels", (1.0,))) for c in said):
            raise InputError(
                f'actuator "{one.name}" has a schedule, and the lander has manoeuvres, which '
                "command all its actuators; leave one of the two out."
            )
