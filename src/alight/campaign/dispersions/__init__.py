"""Dispersions: distributions, from uniform numbers to values; which run gets which.

From Python they are written with the functions named here (``alight.dispersions.normal``).
"""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
    from alight.campaign.dispersions.spread import (
        Spread,
        ball,
        cap,
        choice,
        cone,
        covariance,
        disc,
        log_normal,
        named,
        normal,
        orientation,
        sweep,
        table,
        truncated,
        uniform,
    )

__all__ = [
    "Spread",
    "ball",
    "cap",
    "choice",
    "cone",
    "covariance",
    "disc",
    "log_normal",
    "named",
    "normal",
    "orientation",
    "sweep",
    "table",
    "truncated",
    "uniform",
]

lazy.door(
    __name__,
    {
        "alight.campaign.dispersions.spread": (
            "Spread ball cap choice cone covariance disc log_normal named normal orientation "
            "sweep table truncated uniform"
        ),
    },
)
