"""Checks of numbers that users give, with errors that say what was given and what is allowed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from alight.core.errors import InputError

Array = npt.NDArray[np.float64]


def checked_points(points: npt.ArrayLike, what: str = "a field") -> Array:
    """``points`` as finite float64 of shape ``(..., 3)``; ``what`` is asked for at them."""
    try:
        if np.iscomplexobj(points):
            raise TypeError("they are complex")
        x = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise InputError(f"points must be numbers of shape (..., 3) in metres: {cause}") from None
    if x.ndim == 0 or x.shape[-1] != 3:
        raise InputError(f"points have shape {x.shape}; expected (..., 3), coordinates in metres")
    bad = ~np.isfinite(x).all(axis=-1)
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InputError(
            f"{int(bad.sum())} of {bad.size} points are not finite (first at index {first}): "
            f"{x[first]}; {what} is defined at finite positions only"
        )
    return x


def checked_number(name: str, value: float, least: float = 0.0, *, above: bool = True) -> float:
    """``value`` as a finite float above ``least`` (or from it), or an error that names it."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not (number and np.isfinite(value) and (value > least or (not above and value == least))):
        if least == 0.0:
            kind = "a positive, finite number" if above else "a finite number of at least 0"
        else:
            kind = f"a finite number {'above' if above else 'of at least'} {least:g}"
        raise InputError(f"{name} is {value!r}; it must be {kind}")
    return float(value)


def checked_whole(name: str, value: int, least: int) -> int:
    """``value`` as a whole number of at least ``least``."""
    number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not (number and value >= least):
        raise InputError(f"{name} is {value!r}; it must be a whole number of at least {least}")
    return int(value)


def checked_vector(name: str, value: npt.ArrayLike) -> Array:
    """``value`` as three finite numbers, or an error that names it."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise InputError(f"{name} is {value!r}; it must be three finite numbers")
    return array


def checked_vectors(name: str, value: npt.ArrayLike) -> Array:
    """``value`` as three finite numbers, or as rows (n, 3) of them for n runs."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 2 or not array.size:
        return checked_vector(name, value)
    if array.shape[1] != 3 or not np.isfinite(array).all():
        raise InputError(
            f"{name} has shape {array.shape}; it must be three finite numbers, or three for each "
            "run"
        )
    return array


def checked_direction(name: str, value: npt.ArrayLike) -> Array:
    """``value`` as a unit vector; any length but 0 is good."""
    vector = checked_vector(name, value)
    length = float(np.linalg.norm(vector))
    if length == 0.0:
        raise InputError(f"{name} is zero; it must point somewhere, at any length.")
    return np.asarray(vector / length)


def checked_name(what: str, name: str) -> str:
    """``name``, or an error unless it is text."""
    if not isinstance(name, str) or not name.strip():
        raise InputError(f'{what} is named {name!r}; a name must be text, such as "leg 1".')
    return name
