"""A pear: the shape of paper 003's asteroid, as far as words tell it."""

import functools

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array, checked_number, checked_whole
from alight.core.errors import InputError
from alight.shapes import Mesh, icosphere
from alight.shapes.mass import in_principal_axes


def pear(
    length: float,
    *,
    width: float = 0.80,
    thickness: float = 0.72,
    taper: float = 0.32,
    waist: float = 0.10,
    subdivisions: int = 3,
) -> Mesh:
    """A pear of three different moments of inertia, thick end toward -x, in its principal axes.

    An ellipsoid of ``length`` [m] along x and of ``width`` and ``thickness``, parts of it, along y
    and z, is drawn in by ``taper`` toward +x, with a ``waist`` ahead of the middle. The mesh has
    10 * 4^subdivisions + 2 vertices and its centre of mass at the origin.
    """
    long = np.array([checked_number("the length of a pear [m]", length)])
    numbers = {"width": width, "thickness": thickness, "taper": taper, "waist": waist}
    vertices, faces = pears(long, **numbers, subdivisions=subdivisions)
    return Mesh(vertices[0], faces)


def pears(
    lengths: Array,
    *,
    width: float,
    thickness: float,
    taper: float,
    waist: float,
    subdivisions: int,
) -> tuple[Array, npt.NDArray[np.int32]]:
    """Vertices (n, V, 3) [m] of pears with lengths (n,) [m], and their facets."""
    for name, value in (("width", width), ("thickness", thickness)):
        checked_number(f"the {name} of a pear, as a part of its length", value)
    for name, value in (("taper", taper), ("waist", waist)):
        if not 0.0 <= checked_number(f"the {name} of a pear", value, above=False) <= 0.5:
            raise InputError(f"the {name} of a pear is {value!r}; it must be from 0 to 0.5")
    ball = _ball(checked_whole("subdivisions", subdivisions, 1))
    x = ball.vertices[:, 0]
    narrow = 1.0 - taper * x - waist * np.sin(np.pi * np.clip(x + 0.1, 0.0, 1.0)) ** 2
    size = (0.5 * lengths)[:, None] * np.array([1.0, width, thickness])
    stretched = ball.vertices * size[:, None]
    stretched[:, :, 1:] *= narrow[:, None]
    return in_principal_axes(stretched, ball.faces), ball.faces


@functools.lru_cache(maxsize=8)
def _ball(subdivisions: int) -> Mesh:
    return icosphere(subdivisions)
