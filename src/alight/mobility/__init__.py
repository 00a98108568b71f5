"""Moving about on a body: push-offs that reach a place."""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
    from alight.mobility.aiming.aimer import Aimer, aim
    from alight.mobility.aiming.ellipse import Ellipse, first_impact_ellipse
    from alight.mobility.aiming.hop import Aim, Hop
    from alight.mobility.aiming.scatter import Scatter, ThrowErrors, scatter

__all__ = [
    "Aim",
    "Aimer",
    "Ellipse",
    "Hop",
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
    },
)
