"""``Sliding``: a point-like object that bounces, slides and stops, as users give it (paper 001)."""

from typing import Any

import numpy as np
import warp as wp

from alight.contact.compliant.law import (
    Compliant,
    Number,
    check_corner,
    each_checked,
    share,
    shortly,
)
from alight.contact.defaults import SLIDING_HOP, TANGENTIAL_RESTITUTION
from alight.contact.ground_properties.property_map import GroundLaw
from alight.core.checks import checked_number
from alight.core.errors import InputError
from alight.core.types import scalar
from alight.vehicles import RigidLander


@wp.struct
class SlidingData:
    """Parameters of one run; see ``Sliding``."""

    restitution: scalar
    tangential: scalar  # share of the tangential velocity that a bounce leaves
    friction: scalar
    static_friction: scalar
    hop: scalar  # [m]


class Sliding(Compliant):
    """The motion of paper 001: a point on smooth ground flies, bounces, slides, lifts off, stops.

    Every change is an event that is located in time, nothing is regularised. The object has no
    size: it touches with its centre of mass, and its turning plays no part. It needs a surface that
    knows how it bends (``Plane``, ``Sphere``, ``Parametric``) and a lander that is a point
    (``RigidLander.point``).

    Parameters
    ----------
    restitution:
        Of the normal velocity, from 0 to 1: v_n+ = -e_n v_n- (paper 001, equation 30).
    friction:
        Coulomb's coefficient of sliding. Bounces do not know it.
    tangential_restitution:
        Share of the tangential velocity that is left after a bounce, from 0 to 1: v_t+ = e_t v_t-.
        1, the default, is a bounce without friction.
    static_friction:
        Coefficient up to which an object at rest is held; that of sliding if not given.
    hop:
        Height [m]: a bounce that would not rise by this much is not followed, the object slides
        instead. It ends the endless sequence of ever smaller bounces. Paper 001 (equation 31)
        takes 1e-4 of the body's radius, 4.5 cm on Ryugu.
    ground:
        How restitution, friction and static friction vary over the body, as for ``Compliant``.

    Restitutions and frictions may be arrays with one value for each run.
    """

    Data = SlidingData  # type: ignore[assignment]

    def __init__(
        self,
        restitution: Number,
        friction: Number = 0.6,
        *,
        tangential_restitution: Number = TANGENTIAL_RESTITUTION,
        static_friction: Number | None = None,
        hop: float = SLIDING_HOP,
        ground: GroundLaw | None = None,
    ) -> None:
        # What is given is checked before the base sees it: springs cannot have a restitution of 0.
        asked = each_checked(restitution, share("restitution"))
        super().__init__(
            1.0,
            friction,
            static_friction=static_friction,
            rolling_resistance=0.0,
            patch_radius=0.0,
            depth=checked_number("hop [m]", hop),
        )
        self.restitution, self.hop = asked, self.depth
        self.tangential_restitution = each_checked(
            tangential_restitution, share("tangential_restitution")
        )
        if ground is not None and not isinstance(ground, GroundLaw):
            raise InputError(f"ground is {ground!r}; it must be a GroundMap or Regions.")
        self.ground = ground
        _ = self.count  # the arrays must agree in length
        if ground is not None:
            self._check_ground(ground)

    def _check_ground(self, ground: GroundLaw) -> None:
        """Whether the ground goes with this law, and what it makes of its values is in range."""
        if "rolling_resistance" in ground.varies:
            raise InputError(
                "the ground varies rolling resistance, which a point that slides has none of; "
                "leave it out, or take contact.Compliant or contact.Impulse."
            )
        own = [self.restitution, self.friction, self.static_friction, 0.0]
        table = np.stack(np.broadcast_arrays(*(np.atleast_1d(v) for v in own)), axis=-1)
        for corner in ground.corners():
            check_corner(corner, table)

    def rows(self, lander: RigidLander) -> Any:
        """The parameters as an array of ``SlidingData`` records."""
        kind: Any = SlidingData
        table = np.zeros(self.count, dtype=kind.numpy_dtype())
        for name in ("restitution", "friction", "static_friction", "hop"):
            table[name] = getattr(self, name)
        table["tangential"] = self.tangential_restitution
        return table

    def __repr__(self) -> str:
        numbers = (self.restitution, self.friction, self.tangential_restitution)
        e, mu, et = (shortly(v) for v in numbers)
        ground = "" if self.ground is None else f", ground={self.ground!r}"
        return (
            f"Sliding(restitution={e}, friction={mu}, tangential_restitution={et}, "
            f"static_friction={shortly(self.static_friction)}, hop={self.hop:g}{ground})"
        )
