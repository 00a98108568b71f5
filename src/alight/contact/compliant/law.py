"""``Compliant``: springs at every contact point, Coulomb friction, rolling resistance."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from alight.contact.compliant.restitution import checked_restitution, damping_ratio, viscous_spring
from alight.contact.defaults import ROLLING_LAW, ROLLING_LAWS
from alight.contact.ground_properties.local_law import PROPERTIES
from alight.contact.ground_properties.property_map import Corner, GroundLaw
from alight.contact.state import CompliantData
from alight.core.checks import checked_number
from alight.core.errors import InputError, unknown_name
from alight.core.given import Given
from alight.vehicles import RigidLander

#: How contact is stepped.
SCHEMES = ("clipped", "smooth")
#: Rolling resistance and patch radius where none is given, as a share of the smallest radius of
#: gyration: 2.0 mm for MINERVA-II-1. A torque of C_RR N holds a lander on a corner or an edge up to
#: C_RR off balance. Those of boxes, rods and wheels are 1.7 times that radius and more from the
#: centre of mass: they are held there within 1.3 degrees.
RESISTANCE_SHARE = 0.04

#: What touches the ground.
TOUCHES = ("points", "hull")

Number = float | npt.ArrayLike


def default_resistance(lander: RigidLander) -> float:
    """Rolling resistance and patch radius [m] of a lander for which none is given."""
    return RESISTANCE_SHARE * float(np.sqrt(np.linalg.eigvalsh(lander.inertia)[0] / lander.mass))


class Compliant(Given):
    """The compliant contact law of paper 004, with two ways to step through it.

    Restitution, friction, stiffness, damping, rolling resistance, patch radius and speed may also
    be arrays with one value for each run of a batch.

    Parameters
    ----------
    restitution:
        Coefficient of restitution, above 0 and up to 1. In the clipped scheme it is the energetic
        coefficient (what comes out of the springs over what went in) at any speed, lever, number of
        points and friction. The smooth scheme derives a damper from it.
    friction:
        Coulomb's coefficient for sliding.
    stiffness, damping:
        Of the spring at each point [N/m] and of its damper, which acts only in compression
        [N s/m]: paper 004's own parameters, instead of ``restitution``.
    depth:
        How deep a hit may press in [m]. Clipped: the stiffness follows the speed to keep it.
        Smooth: the stiffness is that of a hit at ``speed``.
    speed:
        Speed of the hit that the smooth scheme derives its stiffness from [m/s].
    static_friction:
        Coefficient up to which sticking holds; that of sliding if not given.
    rolling_resistance:
        C_RR [m]: the ground resists rolling by a torque of at most C_RR times the normal force, in
        hits by an angular impulse of at most C_RR times the normal impulse. Read it as how far
        ahead of the centre the ground pushes. If not given, 4 % of the lander's smallest radius of
        gyration (``default_resistance``): 2 mm for MINERVA-II-1.
    patch_radius:
        Radius of the area in which a single point touches [m]: it resists spin about the normal
        by 2/3 of it times the friction force. Several points resist by their distances besides.
        The same 4 % if not given.
    rolling_law:
        ``"torque"`` (the default): that torque and nothing else. ``"compensated"``: paper 004's
        form, with a push at the centre of mass that leaves the slip alone.
    scheme:
        ``"clipped"`` (the default): leapfrog with clipped impulses; restitution, sticking and rest
        are exact and slow contact takes long steps. ``"smooth"``: paper 004's own, forces in a
        Runge-Kutta integration with friction blended between slip and stick.
    resolution:
        Clipped: phase of the stiffest oscillation covered by one step [rad]; errors fall with its
        square.
    slip_speed, slip_rate:
        Smooth: slip [m/s] and turning [rad/s] below which friction and rolling resistance blend
        into sticking.
    touch:
        ``"points"``: springs are at the lander's contact points. ``"hull"``: at every pair of its
        hull and the ground that touches, corners, edges and faces, so that no rock stands in the
        lander between its points. That needs the clipped scheme with ``restitution``, and ground of
        facets, with or without rocks; springs then press in by a hundredth of the lander's radius
        at most. If not given, hulls touch where they can, and all else by points: balls, and
        landers with points beyond their hull.
    ground:
        How restitution, friction, static friction and rolling resistance vary over the body: a
        ``GroundMap`` or ``Regions``. The values above are what its factors multiply. If not given
        they are the same everywhere.
    """

    Data = CompliantData
    #: A scheme of its own, for a law derived from this one; None takes what ``scheme`` names.
    stepping: Any = None

    def __init__(
        self,
        restitution: Number | None = None,
        friction: Number = 0.6,
        *,
        stiffness: Number | None = None,
        damping: Number | None = None,
        depth: float = 1e-3,
        speed: Number = 0.1,
        static_friction: Number | None = None,
        rolling_resistance: Number | None = None,
        patch_radius: Number | None = None,
        rolling_law: str = ROLLING_LAW,
        scheme: str = "clipped",
        resolution: float = 0.2,
        slip_speed: float = 1e-4,
        slip_rate: float = 1e-3,
        touch: str | None = None,
        ground: GroundLaw | None = None,
    ) -> None:
        if scheme not in SCHEMES:
            raise unknown_name("contact scheme", str(scheme), SCHEMES)
        if rolling_law not in ROLLING_LAWS:
            raise unknown_name("rolling law", str(rolling_law), ROLLING_LAWS)
        given = stiffness is not None or damping is not None
        if given == (restitution is not None) or (given and stiffness is None):
            raise InputError(
                "a compliant contact needs either restitution, or stiffness [N/m] with damping "
                "[N s/m]; give one of the two, not both and not neither."
            )
        self.scheme, self.rolling_law = scheme, rolling_law
        self.touch = checked_touch(touch, scheme, given)
        self.restitution = None if restitution is None else each_checked(restitution, _restitution)
        self.stiffness = (
            None if stiffness is None else each_checked(stiffness, _positive("stiffness [N/m]"))
        )
        self.damping = each_checked(
            0.0 if damping is None else damping, _natural("damping [N s/m]")
        )
        self.friction = each_checked(friction, _natural("friction"))
        self.static_friction = self.friction
        if static_friction is not None:
            self.static_friction = each_checked(static_friction, _natural("static_friction"))
        if np.any(self.static_friction < self.friction):
            raise InputError(
                "static_friction is below friction; sticking must hold at least what sliding does."
            )
        self.depth = checked_number("depth [m]", depth)
        self.speed = each_checked(speed, _positive("speed [m/s]"))
        self.rolling_resistance = _length_or_none("rolling_resistance [m]", rolling_resistance)
        self.patch_radius = _length_or_none("patch_radius [m]", patch_radius)
        self.resolution = checked_number("resolution [rad]", resolution)
        if self.resolution > 1.0:
            raise InputError(
                f"resolution is {resolution!r}; steps above 1 rad do not resolve a contact. "
                "0.2 keeps restitution to a few parts in ten thousand."
            )
        self.slip_speed = checked_number("slip_speed [m/s]", slip_speed)
        self.slip_rate = checked_number("slip_rate [rad/s]", slip_rate)
        if ground is not None and not isinstance(ground, GroundLaw):
            raise InputError(f"ground is {ground!r}; it must be a GroundMap or Regions.")
        self.ground = ground
        _ = self.count  # the arrays must agree in length
        if ground is not None:
            self._check_ground(ground)

    @property
    def count(self) -> int:
        """Runs that the parameters are given for; 1 where all are single numbers."""
        sizes = {np.size(v) for v in vars(self).values() if np.ndim(v) == 1}
        if self.ground is not None and self.ground.count > 1:
            sizes.add(self.ground.count)
        if len(sizes) > 1:
            raise InputError(
                f"contact parameters are given for different numbers of runs: {sorted(sizes)}."
            )
        return sizes.pop() if sizes else 1

    def _check_ground(self, ground: GroundLaw) -> None:
        """Whether the ground goes with this law, and what it makes of its values is in range."""
        if self.Data is not CompliantData:
            raise InputError(
                f"{type(self).__name__} has extra parameters, which ground that varies does "
                "not know; it goes with those of Compliant."
            )
        if "restitution" in ground.varies and self.restitution is None:
            raise InputError(
                "the ground varies restitution and the contact has springs as given; give it "
                "restitution instead of stiffness and damping."
            )
        own = [self.restitution, self.friction, self.static_friction, self.rolling_resistance]
        table = np.stack(
            np.broadcast_arrays(*(np.atleast_1d(1.0 if v is None else v) for v in own)), axis=-1
        )
        for corner in ground.corners():
            check_corner(corner, table)

    def _resistances(self, table: Any, lander: RigidLander) -> None:
        """Fill in rolling resistance and patch radius, as given or as they follow the lander."""
        own = default_resistance(lander)
        for name, given in (("rolling", self.rolling_resistance), ("patch", self.patch_radius)):
            table[name] = own if given is None else given
        table["compensated"] = float(self.rolling_law == "compensated")

    def rows(self, lander: RigidLander) -> Any:
        """The parameters as an array of ``CompliantData`` records, for ``lander``."""
        kind: Any = CompliantData
        table = np.zeros(self.count, dtype=kind.numpy_dtype())
        names = ("friction", "static_friction", "depth", "resolution", "slip_speed", "slip_rate")
        for name in names:
            table[name] = getattr(self, name)
        self._resistances(table, lander)
        table["restitution"] = 1.0
        if self.stiffness is not None:
            table["stiffness"], table["damping"] = self.stiffness, self.damping
        elif self.scheme == "clipped":
            table["restitution"] = self.restitution
            table["zeta"] = _over(damping_ratio, self.restitution)
        else:
            springs = _over(
                lambda e, d, u: viscous_spring(e, d, u, lander.mass),
                self.restitution,
                self.depth,
                self.speed,
            )
            table["stiffness"], table["damping"] = np.moveaxis(np.asarray(springs), -1, 0)
            # Not read by the scheme itself: what the ground's factors multiply.
            table["restitution"] = self.restitution
            table["zeta"] = _over(damping_ratio, self.restitution)
        return table

    def __repr__(self) -> str:
        spring = f"restitution={shortly(self.restitution)}"
        if self.stiffness is not None:
            spring = f"stiffness={shortly(self.stiffness)}, damping={shortly(self.damping)}"
        return (
            f"Compliant({spring}, friction={shortly(self.friction)}, "
            f"rolling_resistance={shortly(self.rolling_resistance)}, "
            f"rolling_law={self.rolling_law!r}, scheme={self.scheme!r}"
            f"{'' if self.ground is None else f', ground={self.ground!r}'})"
        )


def checked_touch(touch: str | None, scheme: str, springs: bool) -> str | None:
    """What touches the ground, if scheme and springs allow it; None where that is left open."""
    if touch not in (None, *TOUCHES):
        raise unknown_name("touch", str(touch), TOUCHES)
    by_points = scheme != "clipped" or springs
    if touch is None and by_points:
        return "points"
    if touch == "hull" and by_points:
        raise InputError(
            f'touch is "hull" with {"stiffness given" if springs else f"scheme {scheme!r}"}; a '
            "whole hull touches in the clipped scheme, by springs that follow the speed: stiffness "
            "as given may be pressed in so deep that its pairs cannot be distinguished. Give "
            "restitution and no scheme, or leave touch out."
        )
    return touch


def check_corner(corner: Corner, own: Any) -> None:
    """Restitution up to 1, and sticking that holds at least what sliding does, in every run."""
    local = corner.factor * own + corner.value
    worst = int(np.argmax(local[:, 0]))
    if local[worst, 0] > 1.0 + 1e-12:
        factor = corner.factor[min(worst, len(corner.factor) - 1), 0]
        raise InputError(
            f"{PROPERTIES[0]} would be {local[worst, 0]:.6g} {corner.where}: "
            f"{own[min(worst, len(own) - 1), 0]:.6g} times {factor:.6g}. It must not be above 1: a "
            "contact cannot return more energy than it took."
        )
    worst = int(np.argmin(local[:, 2] - local[:, 1]))
    if local[worst, 2] < local[worst, 1] * (1.0 - 1e-12):
        raise InputError(
            f"static_friction would be {local[worst, 2]:.6g} {corner.where}, below friction, "
            f"{local[worst, 1]:.6g}; sticking must hold at least what sliding does."
        )


def each_checked(value: Number, check: Any) -> Any:
    """One checked number, or a one-dimensional array of them."""
    if np.ndim(value) == 0:
        return check(value)
    array = np.asarray(value)
    if array.ndim != 1 or not array.size:
        raise InputError(
            f"contact parameters are single numbers or lists with one for each run; got an array "
            f"of shape {array.shape}."
        )
    if array.dtype.kind == "f" and np.isfinite(array).all() and _both(array, check):
        return array.astype(np.float64)
    return np.array([check(v.item()) for v in array])


def _both(array: Any, check: Any) -> bool:
    """Whether the smallest and the largest pass, and so all between: numbers are in intervals."""
    try:
        check(array.min().item())
        check(array.max().item())
    except InputError:
        return False
    return True


def _length_or_none(name: str, value: Number | None) -> Any:
    return None if value is None else each_checked(value, _natural(name))


def _restitution(value: float) -> float:
    return checked_restitution(value)


def share(name: str) -> Any:
    """A check that a number is from 0 to 1, of what a bounce leaves."""

    def check(value: float) -> float:
        checked_number(name, value, above=False)
        if value > 1.0:
            raise InputError(
                f"{name} is {value!r}; it must be from 0 to 1: a bounce cannot return more energy "
                "than it took."
            )
        return float(value)

    return check


def _positive(name: str) -> Any:
    return lambda value: checked_number(name, value)


def _natural(name: str) -> Any:
    return lambda value: checked_number(name, value, above=False)


def _over(function: Any, *values: Any) -> Any:
    """``function`` of numbers, or of each of the values in arrays."""
    if all(np.ndim(v) == 0 for v in values):
        return function(*values)
    return np.array([function(*row) for row in np.broadcast(*values)])


def shortly(value: Any) -> str:
    """A number, or the range of several."""
    if value is None or np.ndim(value) == 0:
        return f"{value:g}" if value is not None else "None"
    return f"[{np.min(value):g} ... {np.max(value):g}]"
