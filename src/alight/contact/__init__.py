"""What happens where lander and ground meet: springs, rigid hits, sliding, pads."""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
    from alight.contact.compliant.law import Compliant, default_resistance
    from alight.contact.compliant.restitution import damping_ratio, restitution_of
    from alight.contact.ground_properties.property_map import GroundLaw, GroundMap
    from alight.contact.ground_properties.region_shapes import Ball, Box, Cap, Polygon
    from alight.contact.ground_properties.regions import Region, Regions
    from alight.contact.hertz import Hertz
    from alight.contact.hull.gaps import Gap, contacts, distance
    from alight.contact.hull.overlap import Overlap, overlap
    from alight.contact.impulse.impact import Impact, ImpactKind, impact
    from alight.contact.impulse.law import Impulse
    from alight.contact.sliding.law import Sliding

__all__ = [
    "Ball",
    "Box",
    "Cap",
    "Compliant",
    "Gap",
    "GroundLaw",
    "GroundMap",
    "Hertz",
    "Impact",
    "ImpactKind",
    "Impulse",
    "Overlap",
    "Polygon",
    "Region",
    "Regions",
    "Sliding",
    "contacts",
    "damping_ratio",
    "default_resistance",
    "distance",
    "impact",
    "overlap",
    "restitution_of",
]

lazy.door(
    __name__,
    {
        "alight.contact.compliant.law": "Compliant default_resistance",
        "alight.contact.compliant.restitution": "damping_ratio restitution_of",
        "alight.contact.ground_properties.property_map": "GroundLaw GroundMap",
        "alight.contact.ground_properties.region_shapes": "Ball Box Cap Polygon",
        "alight.contact.ground_properties.regions": "Region Regions",
        "alight.contact.hertz": "Hertz",
        "alight.contact.hull.gaps": "Gap contacts distance",
        "alight.contact.hull.overlap": "Overlap overlap",
        "alight.contact.impulse.impact": "Impact ImpactKind impact",
        "alight.contact.impulse.law": "Impulse",
        "alight.contact.sliding.law": "Sliding",
    },
)
