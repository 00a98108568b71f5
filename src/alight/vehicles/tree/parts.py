"""``TreeBody`` and ``Joint``: what an articulated tree is made of, checked one by one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alight.core import frames
from alight.core.checks import Array, checked_name, checked_number, checked_vector
from alight.core.errors import InputError, unknown_name
from alight.vehicles.checks import ROUNDING
from alight.vehicles.tree.joint_kinds import KINDS

#: Largest number of a body or joint, in SI units: squares and products of such ones are finite.
MOST = 1e30

#: Kinds of joints with an axis.
AXIAL = ("revolute", "prismatic")

#: Fields that only some kinds of joints have, and these kinds.
_ONLY = {
    "stiffness": (*AXIAL, "spherical"),
    "damping": (*AXIAL, "spherical"),
    "friction": (*AXIAL, "spherical"),
    "rest": AXIAL,
    "motor": AXIAL,
    "lower": AXIAL,
    "upper": AXIAL,
    "stop_stiffness": AXIAL,
    "stop_damping": AXIAL,
}


@dataclass(frozen=True, eq=False)
class TreeBody:
    """A rigid body of a tree, in its own axes: those of its joint, on the body's side."""

    name: str
    mass: float = 0.0
    """[kg]; 0 for a body that is only a place where joints meet."""
    inertia: npt.ArrayLike = (0.0, 0.0, 0.0)
    """(3, 3) about the centre of mass [kg m^2]; three moments about the body axes will do. 0 for
    a point of mass."""
    center: npt.ArrayLike = (0.0, 0.0, 0.0)
    """Centre of mass [m]."""

    def __post_init__(self) -> None:
        name = checked_name("a body", self.name)
        mass = checked_number(f'the mass of body "{name}" [kg]', self.mass, above=False)
        tensor = _body_inertia(self.inertia, name)
        if mass == 0.0 and tensor.any():
            raise InputError(
                f'body "{name}" has an inertia but a mass of 0; inertia is of mass. Give it its '
                "mass [kg], or no inertia."
            )
        center = checked_vector(f'the centre of mass of body "{name}" [m]', self.center)
        for what, value in (("mass", mass), ("centre of mass", center)):
            require_bounded(f'the {what} of body "{name}"', value)
        _freeze(self, mass=mass, inertia=tensor, center=center)


@dataclass(frozen=True, eq=False)
class Joint:
    """How a body is carried by its parent.

    The joint's axes are at ``place``, turned by ``turn``, in the parent. At a configuration of 0
    the body's own axes coincide with them.
    """

    body: str
    """The body that is carried."""
    kind: str
    """"fixed", "revolute", "prismatic", "spherical" or "free"."""
    parent: str | None = None
    """Name of the body that carries; None for the world."""
    place: npt.ArrayLike = (0.0, 0.0, 0.0)
    """Origin of the joint in the parent's axes [m]."""
    turn: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0)
    """Axes of the joint to the parent's: a quaternion xyzw."""
    axis: npt.ArrayLike | None = None
    """Of a revolute or prismatic joint, in the joint's axes; any length but 0."""
    stiffness: float = 0.0
    """Of a spring [N m/rad] or [N/m]; of a spherical joint, about the axis it is turned by."""
    rest: float = 0.0
    """Where the spring is slack [rad] or [m]; a spherical joint's is slack at no turn."""
    damping: float = 0.0
    """[N m s/rad] or [N s/m]"""
    lower: float = -math.inf
    """Where the lower stop begins [rad] or [m]."""
    upper: float = math.inf
    """Where the upper stop begins [rad] or [m]."""
    stop_stiffness: float = 0.0
    """Of both stops, beyond their limits [N m/rad] or [N/m]."""
    stop_damping: float = 0.0
    """Of both stops [N m s/rad] or [N s/m]. A stop pushes, and never pulls."""
    friction: float = 0.0
    """Coulomb friction [N m] or [N], f v / sqrt(v^2 + e^2) with e the ``friction_speed``."""
    friction_speed: float = 1e-4
    """[rad/s] or [m/s]: well below it friction is a damper, and loads creep instead of sticking."""
    motor: float = 0.0
    """Constant effort [N m] or [N]; efforts that change are given with every evaluation."""
    name: str = ""
    """What messages call it; the body's name if not given."""

    def __post_init__(self) -> None:
        body = checked_name("the body of a joint", self.body)
        who = f'joint "{self.name or body}"'
        if self.kind not in KINDS:
            raise unknown_name(f"kind of {who}", str(self.kind), KINDS)
        parent = None if self.parent is None else checked_name(f"the parent of {who}", self.parent)
        self._refuse_what_the_kind_lacks(who)
        place = checked_vector(f"the place of {who} [m]", self.place)
        require_bounded(f"the place of {who}", place)
        _freeze(
            self,
            name=self.name or body,
            parent=parent,
            place=place,
            turn=_checked_turn(self.turn, who),
            axis=self._checked_axis(who),
            **self._checked_efforts(who),
        )

    @property
    def n_q(self) -> int:
        """Numbers of its configuration."""
        return KINDS[self.kind][1]

    @property
    def n_v(self) -> int:
        """Numbers of its velocity: its freedoms."""
        return KINDS[self.kind][2]

    def _refuse_what_the_kind_lacks(self, who: str) -> None:
        defaults = Joint.__dataclass_fields__
        for name, kinds in _ONLY.items():
            if self.kind not in kinds and getattr(self, name) != defaults[name].default:
                raise InputError(
                    f"{who} is {self.kind} and has {name} {getattr(self, name)!r}; only "
                    f"{' and '.join(kinds)} joints have that. Leave it out, or change the kind."
                )

    def _checked_axis(self, who: str) -> Array:
        if self.kind not in AXIAL:
            if self.axis is not None:
                raise InputError(
                    f"{who} is {self.kind} and has an axis {self.axis!r}; only revolute and "
                    "prismatic joints have one. Leave it out, or change the kind."
                )
            return np.zeros(3)
        if self.axis is None:
            raise InputError(f"{who} is {self.kind} and needs an axis, such as (0, 0, 1).")
        axis = checked_vector(f"the axis of {who}", self.axis)
        length = float(np.linalg.norm(axis))
        if length == 0.0:
            raise InputError(
                f"the axis of {who} is {self.axis!r}, which has no direction; give a vector of "
                "any length but 0, such as (0, 0, 1)."
            )
        return axis / length

    def _checked_efforts(self, who: str) -> dict[str, float]:
        names = ("stiffness", "damping", "stop_stiffness", "stop_damping", "friction")
        values = {
            name: checked_number(f"the {name.replace('_', ' ')} of {who}", getattr(self, name))
            if getattr(self, name) != 0.0
            else 0.0
            for name in names
        }
        for name in ("rest", "motor"):
            given = getattr(self, name)
            values[name] = checked_number(f"the {name} of {who}", given, -math.inf)
        values["friction_speed"] = checked_number(
            f"the friction speed of {who}", self.friction_speed
        )
        for name, value in values.items():
            require_bounded(f"the {name.replace('_', ' ')} of {who}", value)
        return values | self._checked_limits(who, values)

    def _checked_limits(self, who: str, values: dict[str, float]) -> dict[str, float]:
        lower, upper = (
            _limit(f"lower limit of {who}", self.lower),
            _limit(f"upper limit of {who}", self.upper),
        )
        if not lower < upper:
            raise InputError(
                f"the limits of {who} are {lower:g} to {upper:g}; the lower one must be less than "
                "the upper. Swap them, or use a fixed joint for no stroke at all."
            )
        limited = math.isfinite(lower) or math.isfinite(upper)
        if limited and values["stop_stiffness"] == 0.0:
            raise InputError(
                f"{who} has limits {lower:g} to {upper:g} but stops without stiffness, which hold "
                "nothing. Give stop_stiffness, above 0, or no limits."
            )
        if not limited and (values["stop_stiffness"] or values["stop_damping"]):
            raise InputError(
                f"{who} has stiff stops but no limits at which they begin. Give lower, upper or "
                "both, or no stops."
            )
        return {"lower": lower, "upper": upper}


def require_bounded(what: str, value: npt.ArrayLike) -> None:
    """Raise at a number whose square could not be distinguished from infinity."""
    size = float(np.abs(value).max())
    if size > MOST:
        raise InputError(
            f"{what} has a number of {size:g}; at most {MOST:g} is allowed. Check its unit."
        )


def _freeze(part: object, **values: object) -> None:
    for key, value in values.items():
        if isinstance(value, np.ndarray):
            value = np.array(value)
            value.flags.writeable = False
        object.__setattr__(part, key, value)


def _limit(what: str, value: float) -> float:
    """A number that may be infinite."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or value != value:
        raise InputError(f"the {what} is {value!r}; it must be a number, or infinite for none")
    return float(value)


def _checked_turn(value: npt.ArrayLike, who: str) -> Array:
    """A unit quaternion."""
    try:
        q = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        q = np.zeros(0)
    if q.shape != (4,) or not abs(float(np.linalg.norm(q)) - 1.0) < 1e-6:
        raise InputError(
            f"the turn of {who} is {value!r}; it must be a unit quaternion x, y, z, w (scalar "
            "last), such as (0, 0, 0, 1) for none. See core.frames.quat_from_axis_angle."
        )
    return frames.quat_normalize(q)


def _body_inertia(value: npt.ArrayLike, name: str) -> Array:
    """A (3, 3) tensor that some distribution of mass has; points and rods included."""
    what = f'the inertia of body "{name}" [kg m^2]'
    try:
        tensor = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        tensor = np.zeros(0)
    if tensor.shape == (3,):
        tensor = np.diag(tensor)
    if tensor.shape != (3, 3) or not np.isfinite(tensor).all():
        raise InputError(
            f"{what} is {value!r}; it must be a finite (3, 3) tensor, or three moments about the "
            "body axes."
        )
    require_bounded(what, tensor)
    size = float(np.abs(tensor).max())
    if np.abs(tensor - tensor.T).max() > ROUNDING * size:
        raise InputError(f"{what} is not symmetric. Check the products of inertia.")
    tensor = 0.5 * (tensor + tensor.T)
    moments = np.linalg.eigvalsh(tensor)
    told = ", ".join(f"{m:.6g}" for m in moments)
    if moments[0] < -ROUNDING * size:
        raise InputError(f"{what} has principal moments {told}; none may be negative.")
    if moments[2] > (moments[0] + moments[1]) * (1.0 + ROUNDING) + ROUNDING * size:
        raise InputError(
            f"{what} has principal moments {told}: the largest exceeds the sum of the other two, "
            "which no distribution of mass allows. Check its units, its signs, and that it is "
            "about the centre of mass."
        )
    return tensor
