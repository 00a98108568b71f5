"""What acts on a lander besides gravity and ground: the target's rotation, external pushes."""

from alight.core.orbits import ecliptic_attitude, ecliptic_to_equatorial, pole_attitude
from alight.flight.combine import Combined, combine, combined_data, combined_next
from alight.flight.external import (
    SOLAR_PRESSURE,
    Companion,
    External,
    Push,
    SolarPressure,
    SunTide,
    synchronous_rotation,
)
from alight.flight.places import (
    Fixed,
    FixedInTarget,
    Orbit,
    Place,
    apparent_sun,
)
from alight.flight.rotation import Rotation, Spin, UniformRotation
from alight.flight.timed import SteadyPush, Timed
from alight.flight.tumbling import Tumbling

__all__ = [
    "SOLAR_PRESSURE",
    "Combined",
    "Companion",
    "External",
    "Fixed",
    "FixedInTarget",
    "Orbit",
    "Place",
    "Push",
    "Rotation",
    "SolarPressure",
    "Spin",
    "SteadyPush",
    "SunTide",
    "Timed",
    "Tumbling",
    "UniformRotation",
    "apparent_sun",
    "combine",
    "combined_data",
    "combined_next",
    "ecliptic_attitude",
    "ecliptic_to_equatorial",
    "pole_attitude",
    "synchronous_rotation",
]
