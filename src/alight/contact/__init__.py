"""What happens where lander and ground meet: springs, rigid hits, sliding, pads."""

from alight.contact.compliant import Compliant, default_resistance
from alight.contact.gaps import Gap, contacts, distance
from alight.contact.ground import GroundLaw, GroundMap
from alight.contact.hertz import Hertz
from alight.contact.impulse import Impact, ImpactKind, impact
from alight.contact.impulsive import Impulse
from alight.contact.overlap import Overlap, overlap
from alight.contact.region_shapes import Ball, Box, Cap, Polygon
from alight.contact.regions import Region, Regions
from alight.contact.restitution import damping_ratio, restitution_of
from alight.contact.sliding import Sliding

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
