"""Three ways to share out the normal force over contact vertices: a comparison, from Python.

Paper 003 takes one unit normal for each pair of a contact vertex and a triangle of the membrane at
it, and looks for forces F >= 0 along them whose resultant is that of the membrane: six equations
(three in 2D) for many unknowns. It solves them with the pseudoinverse, whose forces can be
negative. Here beside it:

- ``fabric``: the shares that stretched fabric has, (a/2) sum of L tan(theta/2) over the edges of
  the triangle at the vertex. Exact and never negative (see ``forces``): what kernels use.
- ``least``: a non-negative least squares solution by an active set. Exact too, but sparse: at
  most six vertices carry all, and which ones they are jumps as the body moves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from alight.core.checks import Array
from alight.core.errors import InputError
from alight.membrane.captive import Captive
from alight.membrane.hull import UPRIGHT, Hull, hull
from alight.membrane.law import Membrane


class NormalShares(NamedTuple):
    """Normal forces [N] of m pairs of contact vertex and triangle; body at rest."""

    vertex: npt.NDArray[np.int64]
    """(m,) vertices of the body's hull."""
    normal: Array
    """(m, 3) unit normals of the triangles, into the body."""
    fabric: Array
    """(m,) shares of stretched fabric."""
    least: Array
    """(m,) a non-negative least squares solution."""
    pseudoinverse: Array
    """(m,) the paper's; negative where it asks for a pull."""
    residual: dict[str, float]
    """Largest error of force and torque (over a length) of each, over the size of the force."""


def normal_shares(
    membrane: Membrane,
    body: Captive,
    position: npt.ArrayLike,
    attitude: npt.ArrayLike = UPRIGHT,
) -> NormalShares:
    """The three solutions for one pose of a body at rest, carrier at the origin.

    ``position`` (3,) [m] and ``attitude`` (4,), quaternion to inertial axes.
    """
    shape = hull(body, membrane.ring, position, attitude, device="cpu")
    if shape.rim:
        raise InputError(
            f"the body reaches past the rim of the membrane in {shape.rim} places; shares are "
            "defined where it passes through the suspension plane within the polygon"
        )
    found = membrane.load(body, position, attitude=attitude, device="cpu").load[0]
    normals = _inward(shape, membrane)
    pairs = [(int(j), k) for k, row in enumerate(shape.triangles) for j in row]
    pairs = [(j, k) for j, k in pairs if j < shape.vertices]
    vertex = np.array([j for j, _ in pairs], dtype=np.int64)
    normal = np.array([normals[k] for _, k in pairs]).reshape(-1, 3)
    arms = shape.points[vertex] - np.asarray(position, dtype=np.float64)
    matrix = np.concatenate([normal, np.cross(arms, normal) / body.reach], axis=1).T
    force, torque = found["force"] - found["friction"], found["torque"] - found["friction_torque"]
    wanted = np.concatenate([force, torque / body.reach])
    weights = _folds(shape, normals)
    fabric = float(found["tension"]) * np.array([weights[pair] for pair in pairs])
    least = scipy.optimize.nnls(matrix, wanted)[0] if len(pairs) else np.zeros(0)
    inverse = np.linalg.pinv(matrix) @ wanted
    size = max(float(np.linalg.norm(force)), 1e-300)
    ways = {"fabric": fabric, "least": least, "pseudoinverse": inverse}
    residual = {n: float(np.abs(matrix @ F - wanted).max() / size) for n, F in ways.items()}
    return NormalShares(vertex, normal, fabric, least, inverse, residual)


def _inward(shape: Hull, membrane: Membrane) -> Array:
    """Unit normals of triangles (or pieces) that point up into the hull."""
    corner = shape.points[shape.triangles]
    if membrane.planar:
        normals = np.cross(corner[:, 1] - corner[:, 0], (0.0, 1.0, 0.0))
    else:
        normals = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normals = normals / np.linalg.norm(normals, axis=1)[:, None]
    # A point of the hull's interior: between the middle of the ring and the body below it.
    inner = 0.5 * (membrane.ring.origin + shape.points[shape.touching].mean(axis=0))
    side = np.einsum("ki,ki->k", normals, inner - corner[:, 0])
    return np.asarray(normals * np.sign(side)[:, None])


def _folds(shape: Hull, normals: Array) -> dict[tuple[int, int], float]:
    """Half of L tan(theta/2) over the edges of triangle k at vertex j, by (j, k)."""
    beside: dict[tuple[int, ...], list[int]] = {}
    for k, row in enumerate(shape.triangles):
        for edge in _edges(row):
            beside.setdefault(edge, []).append(k)
    weights: dict[tuple[int, int], float] = {}
    for edge, sides in beside.items():
        if len(sides) != 2:
            continue
        one, other = normals[sides[0]], normals[sides[1]]
        # tan(theta/2) = |n1 - n2| / |n1 + n2|, which loses no digits where the fold is small.
        bend = np.linalg.norm(one - other) / np.linalg.norm(one + other)
        ends = shape.points[list(edge)]
        length = float(np.linalg.norm(ends[1] - ends[0])) if len(edge) == 2 else 2.0
        for j in edge:
            for k in sides:
                share = 0.5 * length * float(bend)
                weights[j, k] = weights.get((j, k), 0.0) + share
    return weights


def _edges(row: npt.NDArray[np.int32]) -> list[tuple[int, ...]]:
    """Edges of a triangle; of a piece in 2D, its ends, where it folds."""
    if len(row) == 2:
        return [(int(j),) for j in row]
    a, b, c = (int(j) for j in row)
    return [(min(p, q), max(p, q)) for p, q in ((a, b), (b, c), (c, a))]
