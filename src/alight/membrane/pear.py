"""A pear: the shape of paper 003's asteroid, as far as words tell it."""

import numpy as np

from alight.core.checks import checked_number, checked_whole
from alight.core.errors import InputError
from alight.shapes import Mesh, icosphere


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
    long = checked_number("the length of a pear [m]", length)
    for name, value in (("width", width), ("thickness", thickness)):
        checked_number(f"the {name} of a pear, as a part of its length", value)
    for name, value in (("taper", taper), ("waist", waist)):
        if not 0.0 <= checked_number(f"the {name} of a pear", value, above=False) <= 0.5:
            raise InputError(f"the {name} of a pear is {value!r}; it must be from 0 to 0.5")
    ball = icosphere(checked_whole("subdivisions", subdivisions, 1))
    x = ball.vertices[:, 0]
    narrow = 1.0 - taper * x - waist * np.sin(np.pi * np.clip(x + 0.1, 0.0, 1.0)) ** 2
    size = 0.5 * long * np.array([1.0, width, thickness])
    stretched = ball.vertices * size
    stretched[:, 1:] *= narrow[:, None]
    return Mesh(stretched, ball.faces).principal_axes()
