"""Units of length that a mesh file may be in: asked for, never guessed."""

from __future__ import annotations

from alight.core.errors import InputError, MeshError, did_you_mean
from alight.shapes.integrity.arrays import FloatArray, bounding_diagonal

#: Metres per unit.
UNITS = {"m": 1.0, "km": 1e3, "cm": 1e-2, "mm": 1e-3, "ft": 0.3048}

#: Bounding-box diagonals outside this range [m] come from a wrong unit: from the smallest part
#: of a lander to somewhat more than Ceres, the largest body among asteroids (1.7e6 m).
SMALLEST, LARGEST = 1e-3, 2e6

#: Names that people write for the units above; suggested, not accepted.
_SPELLINGS = {
    "metre": "m",
    "meter": "m",
    "metres": "m",
    "meters": "m",
    "kilometre": "km",
    "kilometer": "km",
    "kilometres": "km",
    "kilometers": "km",
    "centimetre": "cm",
    "centimeter": "cm",
    "millimetre": "mm",
    "millimeter": "mm",
    "foot": "ft",
    "feet": "ft",
}


def metres_per(unit: str | None, example: str) -> float:
    """Metres per ``unit``; ``example`` is the call to show when there is none."""
    known = ", ".join(f'"{name}"' for name in UNITS)
    if unit is None:
        raise InputError(f"the unit of the mesh file is missing: write {example}. Known: {known}.")
    if isinstance(unit, str) and unit in UNITS:
        return UNITS[unit]
    spelt = _SPELLINGS.get(str(unit).lower())
    hint = f' Did you mean "{spelt}"?' if spelt else did_you_mean(str(unit), UNITS)
    raise InputError(f'unknown unit of length "{unit}".{hint} Known: {known}.')


def require_plausible_size(vertices: FloatArray, unit: str, name: str) -> None:
    """Refuse a mesh file that the given unit makes smaller or larger than anything landed on."""
    size = bounding_diagonal(vertices)
    if size < SMALLEST or LARGEST < size < float("inf"):  # infinite vertices are named later
        raise MeshError(
            f'{name} read with unit="{unit}" is {size:.4g} m across its bounding box; sizes from '
            f"{SMALLEST:g} m to {LARGEST:g} m make sense here. Give the unit that the file was "
            "written in; for a body that truly has this size, pass arrays in metres to "
            "alight.Mesh(vertices, faces)."
        )
