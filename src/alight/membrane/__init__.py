"""A deformable membrane that catches a body: its shape, its tension, its forces (paper 003)."""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
    from alight.membrane.captive import Captive
    from alight.membrane.hoop import Hoop
    from alight.membrane.hull import Hull, hull
    from alight.membrane.law import LoadResult, Membrane, holding_radius
    from alight.membrane.pear import pear
    from alight.membrane.ring import Ring, hexagon
    from alight.membrane.shares import NormalShares, normal_shares

__all__ = [
    "Captive",
    "Hoop",
    "Hull",
    "LoadResult",
    "Membrane",
    "NormalShares",
    "Ring",
    "hexagon",
    "holding_radius",
    "hull",
    "normal_shares",
    "pear",
]

lazy.door(
    __name__,
    {
        "alight.membrane.captive": "Captive",
        "alight.membrane.hoop": "Hoop",
        "alight.membrane.hull": "Hull hull",
        "alight.membrane.law": "LoadResult Membrane holding_radius",
        "alight.membrane.pear": "pear",
        "alight.membrane.ring": "Ring hexagon",
        "alight.membrane.shares": "NormalShares normal_shares",
    },
)
