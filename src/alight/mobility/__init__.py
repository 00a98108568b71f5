"""Moving about on a body: push-offs that reach a place, maps of hops, plans that reach a goal."""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
    from alight.mobility.aiming.aimer import Aimer, aim
    from alight.mobility.aiming.ellipse import Ellipse, first_impact_ellipse
    from alight.mobility.aiming.hop import Aim, Hop
    from alight.mobility.aiming.scatter import Scatter, ThrowErrors, scatter
    from alight.mobility.maps.cells import Cells
    from alight.mobility.maps.closed_loop import Flown
    from alight.mobility.maps.commands import Commands
    from alight.mobility.maps.mobility_map import MobilityMap, MobilityPlan
    from alight.mobility.maps.regions import DarkGround, Disc

__all__ = [
    "Aim",
    "Aimer",
    "Cells",
    "Commands",
    "DarkGround",
    "Disc",
    "Ellipse",
    "Flown",
    "Hop",
    "MobilityMap",
    "MobilityPlan",
    "Scatter",
    "ThrowErrors",
    "aim",
    "first_impact_ellipse",
    "scatter",
]

lazy.door(
    __name__,
    {
        "alight.mobility.aiming.aimer": "Aimer aim",
        "alight.mobility.aiming.ellipse": "Ellipse first_impact_ellipse",
        "alight.mobility.aiming.hop": "Aim Hop",
        "alight.mobility.aiming.scatter": "Scatter ThrowErrors scatter",
        "alight.mobility.maps.cells": "Cells",
        "alight.mobility.maps.closed_loop": "Flown",
        "alight.mobility.maps.commands": "Commands",
        "alight.mobility.maps.mobility_map": "MobilityMap MobilityPlan",
        "alight.mobility.maps.regions": "DarkGround Disc",
    },
)
