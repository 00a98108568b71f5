"""Dispersions: distributions, from uniform numbers to values; which run gets which.

From Python they are written with the functions named here (``alight.dispersions.normal``).
"""

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
    "truncated",
    "uniform",
]
