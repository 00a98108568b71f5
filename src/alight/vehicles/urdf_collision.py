"""Collision geometry of robot descriptions (URDF files) as bellies: points that touch the ground.

A box is its corners, a sphere a ball, a cylinder points along its two rims. Meshes are refused: of
a file of triangles it is not known which corners matter; give those as a ``Belly``.
"""

from __future__ import annotations

import os
import pathlib

import numpy as np

from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import InputError, did_you_mean
from alight.core.files import read_bounded
from alight.vehicles.fittings import Belly
from alight.vehicles.urdf import MOST_BYTES, Element, elements, origin_of

#: Points of each rim of a cylinder: the rim between them stands out by 3 % of its radius.
RIM = 12
#: Shapes that are read.
SHAPES = ("box", "sphere", "cylinder")


def read_urdf_bellies(path: str | os.PathLike[str]) -> list[Belly]:
    """The ``collision`` elements of all links, each a belly named by its link."""
    file = pathlib.Path(path)
    try:
        robot = elements(read_bounded(file, MOST_BYTES, "the URDF file"))
        links = [child for child in robot.children if child.tag == "link"]
        return [belly for link in links for belly in _of_link(link)]
    except InputError as cause:
        raise InputError(f"{file.name}: {cause}") from None


def _of_link(link: Element) -> list[Belly]:
    name, found = link.text("name"), []
    parts = [child for child in link.children if child.tag == "collision"]
    for number, part in enumerate(parts, 1):
        points, radius = _points(part)
        place, turn = origin_of(part)
        at = place + frames.quat_rotate(turn, points)
        found.append(Belly(name, at, radius, name if len(parts) == 1 else f"{name} {number}"))
    return found


def _points(part: Element) -> tuple[Array, float]:
    """Points of a shape in its own axes [m], and the radius of a ball about each [m]."""
    geometry = part.one("geometry")
    shapes = [] if geometry is None else geometry.children
    if len(shapes) != 1:
        raise InputError(
            f"line {part.line}: a <collision> holds {len(shapes)} shapes in its <geometry>; it "
            "needs one."
        )
    shape = shapes[0]
    if shape.tag == "sphere":
        return np.zeros((1, 3)), _size(shape, "radius", 1)[0]
    if shape.tag == "box":
        return np.asarray(Belly.box("box", _size(shape, "size", 3)).points), 0.0
    if shape.tag == "cylinder":
        radius, half = _size(shape, "radius", 1)[0], 0.5 * _size(shape, "length", 1)[0]
        angle = 2.0 * np.pi * np.arange(RIM) / RIM
        x, y = radius * np.cos(angle), radius * np.sin(angle)
        rims = [np.stack([x, y, np.full(RIM, z)], axis=1) for z in (-half, half)]
        return np.concatenate(rims), 0.0
    why = " Of a mesh it is not known which corners matter." if shape.tag == "mesh" else ""
    raise InputError(
        f"line {shape.line}: a <collision> is a <{shape.tag}>; read are {', '.join(SHAPES)}."
        f"{did_you_mean(shape.tag, SHAPES)}{why} Take it out of the file, or do not read its "
        "collision geometry and give a belly with the points that touch."
    )


def _size(shape: Element, name: str, count: int) -> Array:
    numbers = shape.numbers(name, count)
    if not (numbers > 0.0).all():
        raise InputError(f"line {shape.line}: {name} of <{shape.tag}> must be above 0.")
    return numbers
