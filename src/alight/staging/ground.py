"""What stands still in a playback: the body, rocks and rough ground near where runs end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from alight import surfaces
from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import AlightError
from alight.shapes.icosphere import icosphere
from alight.shapes.mesh import Mesh
from alight.views.playback import Part
from alight.views.playback.model import Square

#: Rocks that are shown at most; cells along a side of rough ground.
ROCKS, CELLS = 2000, 96
#: Newton steps along the vertical to the ground, which is nearly a true distance.
STEPS = 12
#: Rim of a piece of ground that is bent to the body, over half its side.
RIM = 0.25
#: Half a side of ground about a rest site, over the lander's size; cells along a side.
PATCH, PATCH_CELLS = 30.0, 48
#: Half a side of flat ground that is shown, over the reach of the runs.
FLAT = 4.0


class Ground(NamedTuple):
    """What a playback shows of it."""

    terrain: Part | None = None
    rocks: Part | None = None
    square: Square | None = None
    """Middle, axes as rows (east, north, up) and half a side [m] of the terrain: the target is not
    to be drawn there."""
    up: Array | None = None
    notes: tuple[str, ...] = ()


def body_table(campaign: Any) -> Mapping[str, Any]:
    """The section on the body; of a study its file is beside the tables."""
    body = dict(campaign.scenario.get("body", {}))
    if "study" in campaign.scenario and "mesh" in body:
        body["mesh"] = str(campaign.folder / body["mesh"])
    return body


def body_mesh(body: Mapping[str, Any], most: int | None = None) -> tuple[Mesh | None, str]:
    """The body of a resolved scenario, of ``most`` facets if given; or why there is none."""
    from alight.scenario import bodies

    name, file = body.get("name"), body.get("mesh")
    try:
        if name:
            facets = body.get("facets")
            if most is not None:
                facets = min(most, int(facets or most))
            return bodies.find(str(name)).mesh(facets), ""
        if not file:
            return None, ""
        mesh = Mesh.read(str(file), body.get("unit"), repair=bool(body.get("repair")))
    except AlightError as error:
        return None, f"maps have no relief and there are no pictures of the body: {error}"
    mesh = mesh.recentred() if body.get("recentre") else mesh
    return (mesh.simplified(most) if most is not None and mesh.n_faces > most else mesh), ""


def ground_of(surface: Any, middle: Array, reach: float, lander: float) -> Ground:
    """Ground of a surface within ``reach`` of ``middle`` [m]; ``lander`` is the lander's size."""
    layers = _layers(surface)
    base = layers[-1]
    if isinstance(base, surfaces.Plane):
        return _flat(base.normal, middle - _above(base, middle) * base.normal, FLAT * reach)
    if isinstance(base, surfaces.Patch):
        return Ground(_block(base), up=base.axes[2])
    rough = next((one for one in layers if isinstance(one, surfaces.Rough)), None)
    out = Ground()
    if rough is not None:
        out = _rough(rough, middle, min(reach, 60.0 * lander) / (1.0 - RIM))
    rocky = next((one for one in layers if isinstance(one, surfaces.Rocky)), None)
    if rocky is not None:
        rocks, note = _rocks(rocky, middle, reach)
        out = out._replace(rocks=rocks, notes=(note,) if note else ())
    return out


def patches_of(surface: Any, places: Any, lander: float) -> tuple[tuple[Part, Square], ...]:
    """Ground as it is touched, about each of ``places`` (n, 3); none of flat ground and facets.

    A body is drawn by its mesh. Distance fields and series are smooth and pass near it, hills
    stand on it: a lander at rest on them would float, or be sunk.
    """
    layers = _layers(surface)
    smooth = next(one for one in layers if not isinstance(one, surfaces.Rocky))
    exact = surfaces.Plane | surfaces.Patch | surfaces.Facets
    if smooth is layers[-1] and isinstance(smooth, exact):
        return ()
    half = PATCH * lander / (1.0 - RIM)
    made = (_rough(smooth, place, half, PATCH_CELLS) for place in places)
    return tuple((one.terrain, one.square) for one in made if one.terrain and one.square)


def sphere_mesh(surface: Any) -> Mesh | None:
    """A ball that is landed on, as a mesh."""
    base = _layers(surface)[-1]
    if not isinstance(base, surfaces.Sphere):
        return None
    ball = icosphere(5, base.radius)
    return Mesh(ball.vertices + base.center, ball.faces)


def _layers(surface: Any) -> list[Any]:
    """A surface and what it lies on, the lowest last."""
    found = [surface]
    while getattr(found[-1], "base", None) is not None:
        found.append(found[-1].base)
    return found


def _above(plane: Any, point: Array) -> float:
    return float(plane.normal @ (point - plane.origin))


def _flat(normal: Array, middle: Array, half: float) -> Ground:
    """A square of a plane."""
    axes = np.asarray(frames.local_frame(normal)).T
    corners = middle + half * (np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) @ axes[:2])
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    return Ground(Part("ground", "terrain", corners, faces), up=normal)


def _block(patch: Any) -> Part:
    """The top and the sides of a patch."""
    half = 0.5 * patch.sizes
    signs = np.array([[i, j, k] for k in (-1, 1) for j in (-1, 1) for i in (-1, 1)], np.float64)
    middle = patch.center - half[2] * patch.axes[2]
    rings = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    faces = [face for a, b, c, d in rings for face in ((a, b, c), (a, c, d))]
    return Part("ground", "terrain", middle + (signs * half) @ patch.axes, np.array(faces))


def wider(surface: Any) -> Callable[[Array, float, int], Ground] | None:
    """Ground as it is touched, of any size: a function of its middle, half a side [m] and cells
    along a side; None where it is the facets of the body, or flat."""
    kinds = (surfaces.Rough, surfaces.DistanceField, surfaces.Parametric)
    ground = next((one for one in _layers(surface) if isinstance(one, kinds)), None)
    if ground is None:
        return None
    return lambda middle, half, cells: _rough(ground, middle, half, cells)


def _rough(surface: Any, middle: Array, half: float, cells: int = CELLS) -> Ground:
    """A square of rough ground as it is touched, heights found along its vertical."""
    _, normal = surface.query(middle, device="cpu")
    axes = np.asarray(frames.local_frame(normal)).T
    line = np.linspace(-half, half, cells + 1)
    x, y = np.meshgrid(line, line)
    points = middle + x.reshape(-1, 1) * axes[0] + y.reshape(-1, 1) * axes[1]
    height = np.zeros(len(points))
    for _ in range(STEPS):
        found = surface.sample(points + height[:, None] * axes[2], device="cpu")
        steep = np.maximum(found.gradient @ axes[2], 0.3)
        height = height - found.distance / steep
    left = surface.query(points + height[:, None] * axes[2], device="cpu")[0]
    known = np.abs(left) < 1e-3 * half
    if known.mean() < 0.98:
        return Ground(notes=("rough ground is not shown: it overhangs where runs end.",))
    number = np.arange(len(points)).reshape(cells + 1, cells + 1)
    a, b = number[:-1, :-1].ravel(), number[:-1, 1:].ravel()
    c, d = number[1:, 1:].ravel(), number[1:, :-1].ravel()
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    vertices = points + height[:, None] * axes[2]
    return Ground(Part("ground", "terrain", vertices, faces), square=(middle, axes, half))


def _rocks(surface: Any, middle: Array, reach: float) -> tuple[Part | None, str]:
    """Rocks about a place; fewer metres of them where they are dense."""
    law = surface.rocks
    dense = law.number(law.law.smallest) * law.most
    radius = min(1.5 * reach, float(np.sqrt(ROCKS / (np.pi * max(dense, 1e-300)))))
    found = surface.field.near(middle, radius, "cpu")
    note = "" if radius >= 1.5 * reach else f"rocks are shown within {radius:.3g} m of the middle."
    if not len(found.size):
        return None, note
    corners = found.vertices[:, found.faces]
    height = np.einsum("nfki,ni->nfk", corners - found.ground[:, None, None], found.up)
    seen = height.max(axis=2) > -0.05 * found.size[:, None]
    rock, face = np.nonzero(seen)
    faces = found.faces[face] + 12 * rock[:, None]
    return Part("rocks", "rocks", found.vertices.reshape(-1, 3), faces.astype(np.int64)), note
