"""Colours of what an export shows, by its role."""

from __future__ import annotations

#: sRGB from 0 to 1.
COLOURS: dict[str, tuple[float, float, float]] = {
    "body": (0.42, 0.39, 0.36),
    "asteroid": (0.42, 0.39, 0.36),
    "terrain": (0.42, 0.39, 0.36),
    "rocks": (0.36, 0.33, 0.30),
    "lander": (0.85, 0.65, 0.20),
    "bus": (0.85, 0.65, 0.20),
    "leg": (0.70, 0.70, 0.72),
    "pad": (0.55, 0.55, 0.58),
    "array": (0.12, 0.18, 0.45),
    "ring": (0.70, 0.70, 0.72),
    "membrane": (0.80, 0.80, 0.76),
    "path": (0.15, 0.55, 0.85),
    "site": (0.90, 0.35, 0.15),
}


def colour_of(role: str) -> tuple[float, float, float]:
    """The colour of a role; a light grey of those not listed."""
    return COLOURS.get(role, (0.75, 0.75, 0.75))
