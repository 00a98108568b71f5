"""The Sun from SPICE kernels, where these and the package spiceypy are at hand.

Kernels are loaded for the one question and unloaded after it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from alight.analysis.columns import Array
from alight.core.checks import checked_number, checked_whole
from alight.core.errors import FileError, InputError
from alight.core.extras import require
from alight.core.paths import user_path

Paths = Sequence[str | os.PathLike[str]]


def sun_direction(kernels: Paths, target: str, date: str, frame: str = "J2000") -> Array:
    """(3,) unit vector from ``target`` to the Sun at ``date`` (UTC, ISO), in the axes of ``frame``.

    The kernels must hold leap seconds (LSK) and the orbits of target and Sun (SPK).
    """
    return _toward_sun(kernels, target, date, frame, np.zeros(1))[0]


def sun_over_rotation(
    kernels: Paths, target: str, frame: str, date: str, period: float, samples: int = 360
) -> Array:
    """(samples, 3) unit vectors to the Sun, evenly over ``period`` [s] from ``date``.

    ``frame`` turns with the body, such as RYUGU_FIXED; the kernels must tell how (PCK and FK, or
    CK). Sun and body both move, so that a body that tumbles is treated like any other.
    """
    checked_number("period [s]", period)
    count = checked_whole("samples", samples, 4)
    after = np.linspace(0.0, period, count, endpoint=False)
    return _toward_sun(kernels, target, date, frame, after)


def _toward_sun(kernels: Paths, target: str, date: str, frame: str, after: Array) -> Array:
    spice = require("spiceypy", "spice")
    paths = [_there(kernel) for kernel in kernels]
    try:
        with spice.KernelPool(paths):
            start = spice.str2et(date)
            places = _places(spice, start + after, frame, target)
    except spice.SpiceyError as problem:
        # SPICE's own text is a page; its first lines say what is wrong.
        told = getattr(problem, "long", "") or getattr(problem, "short", "") or str(problem)
        raise InputError(
            f'SPICE cannot compute the position of the Sun from "{target}" on {date} '
            f'in axes "{frame}": '
            f"{' '.join(told.split())} Kernels given: {', '.join(paths) or 'none'}."
        ) from None
    return places / np.linalg.norm(places, axis=1, keepdims=True)


def _places(spice: Any, times: Array, frame: str, target: str) -> Array:
    """(n, 3) the Sun from the target [km], without the few minutes that light takes."""
    return np.array([spice.spkpos("SUN", float(t), frame, "NONE", target)[0] for t in times])


def _there(kernel: str | os.PathLike[str]) -> str:
    path = user_path(kernel, "SPICE kernel")
    if not path.is_file():
        raise FileError(f"there is no SPICE kernel {path}; name files such as naif0012.tls")
    return str(path)
