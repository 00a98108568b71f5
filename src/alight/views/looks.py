"""What things look like in films, figures and pages: colours by role, and what looks round."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from alight.core.checks import Array
from alight.shapes.mesh import Mesh
from alight.views.playback import Part

Index = npt.NDArray[np.int64]

Colour = tuple[float, float, float]

#: sRGB by role.
COLOURS: dict[str, Colour] = {
    "lander": (0.93, 0.84, 0.60),
    "leg": (0.80, 0.82, 0.85),
    "pad": (0.85, 0.36, 0.20),
    "asteroid": (0.72, 0.70, 0.67),
    "bus": (0.92, 0.82, 0.55),
    "array": (0.22, 0.30, 0.58),
    "ring": (0.85, 0.86, 0.88),
    "membrane": (0.55, 0.70, 0.84),
    "rocks": (0.66, 0.645, 0.62),
    "terrain": (0.735, 0.715, 0.69),
}

#: Roles that look round: their normals are blended over facets. Others show their edges.
ROUND = ("asteroid", "terrain", "membrane", "ring")

#: Edges that bend by more than this are seen as edges [rad].
CREASE = np.radians(20.0)


def colour_of(part: Part) -> Colour:
    """The colour of a part: its own, or that of its role."""
    return part.colour or COLOURS.get(part.role, COLOURS["lander"])


def surface_of(part: Part) -> Mesh:
    """A part as a mesh that shows its edges as edges, and as round what is round."""
    if part.role in ROUND:
        return Mesh(part.vertices, part.faces, check=False)
    return split(part.vertices, part.faces)[0]


def exploded(part: Part) -> Mesh:
    """The facets of a part, each with vertices of its own: they look flat."""
    corners = part.vertices[part.faces].reshape(-1, 3)
    return Mesh(corners, np.arange(len(corners)).reshape(-1, 3), check=False)


def split(vertices: Array, faces: Index, crease: float = CREASE) -> tuple[Mesh, Index]:
    """A mesh cut open along its creases, and the vertex that each of its vertices was.

    Corners of facets that meet at an edge stay one vertex where it bends little, so that normals
    are blended there and nowhere else. Edges of one facet, or of more than two, are creases.
    """
    corner = np.asarray(faces, np.int64)
    one, other = _smooth_edges(np.asarray(vertices), corner, crease)
    # An edge runs one way in one facet, and mostly the other way in the other: by vertices.
    links = []
    for end in range(2):
        vertex = corner[one // 3, (one % 3 + end) % 3]
        there = np.argmax(corner[other // 3] == vertex[:, None], axis=1)
        links.append(np.stack([3 * (one // 3) + (one % 3 + end) % 3, 3 * (other // 3) + there]))
    pairs = np.concatenate(links, axis=1)
    graph = coo_matrix((np.ones(pairs.shape[1]), tuple(pairs)), shape=(corner.size, corner.size))
    count, label = connected_components(graph, directed=False)
    was = np.empty(count, dtype=np.int64)
    was[label] = corner.ravel()
    # What is cut open is no closed surface, which a picture does not need.
    return Mesh(np.asarray(vertices)[was], label.reshape(-1, 3), check=False), was


def _smooth_edges(vertices: Array, corner: Index, crease: float) -> tuple[Index, Index]:
    """Sides of facets (3 f + k) that share an edge with one other side and bend little there."""
    ends = np.sort(np.stack([corner, np.roll(corner, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    _, edge, counts = np.unique(ends, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(edge.ravel(), kind="stable")
    first = np.cumsum(counts) - counts
    one, other = order[first[counts == 2]], order[first[counts == 2] + 1]
    a, b, c = (vertices[corner[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    even = np.einsum("ij,ij->i", normal[one // 3], normal[other // 3]) > np.cos(crease)
    return one[even], other[even]
