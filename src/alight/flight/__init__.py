"""What acts on a lander besides gravity and ground: the target's rotation, external pushes."""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
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

lazy.door(
    __name__,
    {
        "alight.core.orbits": "ecliptic_attitude ecliptic_to_equatorial pole_attitude",
        "alight.flight.combine": "Combined combine combined_data combined_next",
        "alight.flight.external": (
            "SOLAR_PRESSURE Companion External Push SolarPressure SunTide synchronous_rotation"
        ),
        "alight.flight.places": "Fixed FixedInTarget Orbit Place apparent_sun",
        "alight.flight.rotation": "Rotation Spin UniformRotation",
        "alight.flight.timed": "SteadyPush Timed",
        "alight.flight.tumbling": "Tumbling",
    },
)
