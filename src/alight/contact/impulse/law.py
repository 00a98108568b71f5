"""``Impulse``: rigid contact as users give it (paper 000, section 5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from alight.contact.compliant.law import Compliant, Number, each_checked, share, shortly
from alight.contact.defaults import IMPULSE_HOP, STRIDE
from alight.contact.ground_properties.property_map import GroundLaw
from alight.contact.state import CompliantData
from alight.core.checks import checked_number
from alight.core.errors import InputError
from alight.vehicles import RigidLander


class Impulse(Compliant):
    """Rigid contact: instantaneous hits, by impulses with an energetic restitution; then holding.

    On ``surfaces.Facets`` the lander's whole hull touches: corners, edges and faces. On any other
    surface its contact points do.

    Parameters
    ----------
    restitution:
        Energetic coefficient, from 0 (nothing comes back) to 1 (all of it).
    friction:
        Coulomb's coefficient of sliding, in hits and in sustained contact.
    static_friction:
        Of sticking, in sustained contact; that of sliding if not given.
    rolling_resistance, patch_radius:
        Of rolling resistance and spin friction [m], in hits and in sustained contact, as for
        ``Compliant``. Without the first a ball on level ground never stops.
    hop:
        Height [m]: a rebound that would not rise by this much is not followed, contact continues
        instead. It ends the endless sequence of ever smaller bounces.
    stride:
        In sustained contact, no point moves farther in one step than this share of the lander's
        radius.
    ground:
        How these values vary over the body, as for ``Compliant``.

    Restitution, friction, rolling resistance and patch radius may be arrays with one value
    for each run.
    """

    def __init__(
        self,
        restitution: Number,
        friction: Number = 0.6,
        *,
        static_friction: Number | None = None,
        rolling_resistance: Number | None = None,
        patch_radius: Number | None = None,
        hop: float = IMPULSE_HOP,
        stride: float = STRIDE,
        ground: GroundLaw | None = None,
    ) -> None:
        # What is given is checked before the base sees it: springs cannot have a restitution of 0.
        asked = each_checked(restitution, share("restitution"))
        super().__init__(
            1.0,
            friction,
            static_friction=static_friction,
            rolling_resistance=rolling_resistance,
            patch_radius=patch_radius,
            depth=checked_number("hop [m]", hop),
        )
        self.restitution, self.hop = asked, self.depth
        self.stride = checked_number("stride", stride)
        if self.stride > 1.0:
            raise InputError(
                f"stride is {stride!r}; a step of more than the lander's radius would pass over "
                "what it should touch. 0.05 is the default."
            )
        if ground is not None and not isinstance(ground, GroundLaw):
            raise InputError(f"ground is {ground!r}; it must be a GroundMap or Regions.")
        self.ground = ground
        _ = self.count  # the arrays must agree in length
        if ground is not None:
            self._check_ground(ground)

    def rows(self, lander: RigidLander) -> Any:
        """The parameters as an array of ``CompliantData`` records, for ``lander``."""
        kind: Any = CompliantData
        table = np.zeros(self.count, dtype=kind.numpy_dtype())
        for name in ("restitution", "friction", "static_friction", "depth"):
            table[name] = getattr(self, name)
        self._resistances(table, lander)
        table["resolution"] = self.stride
        return table

    def __repr__(self) -> str:
        numbers = (self.restitution, self.friction, self.rolling_resistance)
        e, mu, rolling = (shortly(v) for v in numbers)
        ground = "" if self.ground is None else f", ground={self.ground!r}"
        return (
            f"Impulse(restitution={e}, friction={mu}, rolling_resistance={rolling}, "
            f"hop={self.hop:g}{ground})"
        )
