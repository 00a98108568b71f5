"""A local world: a square of ground with the rocks on it, as a solid piece, and its figures.

After paper 000, figure 3. The piece is cut out of the body along the local vertical; its ground is
that of the facets, and rocks stand where they will be touched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from alight.core.frames import latitude_longitude, local_frame
from alight.shapes.mesh import Mesh
from alight.views import style
from alight.views.figures.body.sheet import draw_scale_bar, draw_solid, fit
from alight.views.figures.facts import Words, draw_facts
from alight.views.figures.relief import grid_faces
from alight.views.figures.solid import Camera, Light, View, heights, sky_view

Array = npt.NDArray[np.float64]

#: Where the viewer of a world is, in local axes: from the south-west, well above.
CAMERA = Camera(np.radians(238.0), np.radians(33.0))
#: A Sun 27 degrees high, from the left of the viewer: right, up, to the viewer.
SUN = np.array([-0.85, 0.33, 0.28])
LIGHT = Light(sun=1.45, fill=0.04, sky=0.24)
#: Light of the sky on the sides of the piece, which are no ground.
DIM = 0.55

#: Cells of ground along a side, and pixels along pictures.
CELLS, PIXELS, BODY_PIXELS = 240, 1500, 420

#: sRGB of ground, of the sides of the piece, and the range of greys of rocks.
GROUND, SIDES = np.array([0.735, 0.715, 0.680]), np.array([0.47, 0.45, 0.43])
ROCKS = np.array([[0.60, 0.585, 0.565], [0.80, 0.785, 0.755]])


@dataclass(frozen=True)
class World:
    """A place on a body and the rocks around it, in body axes."""

    mesh: Mesh
    place: Array
    """(3,) its middle, on the ground [m]."""
    up: Array
    """(3,) unit vector along which it is cut out."""
    side: float
    """Length of its sides [m]."""
    vertices: Array
    """(n, 12, 3) of rocks [m]."""
    faces: npt.NDArray[np.int32]
    """(20, 3) of each rock."""
    ground: Array
    """(n, 3) their places on the ground [m]."""
    normals: Array
    """(n, 3) outward normals there."""
    size: Array
    """(n,) of rocks [m]."""
    law: Callable[[float], float]
    """Rocks of at least a size on a square metre."""
    ends: tuple[float, float]
    """Smallest and largest size of the law [m]."""

    @property
    def axes(self) -> Array:
        """(3, 3) rows: east, north and up at the place."""
        return np.asarray(local_frame(self.up)).T

    def local(self, points: Array) -> Array:
        """Points in local axes about the place [m]."""
        return (points - self.place) @ self.axes.T


def draw(world: World, words: Words, *files: Path, body: Mesh | None = None) -> None:
    """Draw a world, where it is on the body, and its count of rocks, into each of ``files``."""
    with style.figure(16.0, 9.0) as fig:
        fig.text(0.025, 0.940, words.title, fontsize=22, fontweight="bold", va="baseline")
        fig.text(0.025, 0.908, words.subtitle, fontsize=10, color=style.GREY, va="baseline")
        _picture(fig.add_axes((0.010, 0.035, 0.705, 0.850)), world)
        _where(fig.add_axes((0.745, 0.625, 0.235, 0.325)), world, body or world.mesh)
        facts = fig.add_axes((0.745, 0.370, 0.235, 0.235))
        draw_facts(facts, words.facts, 1.0 / max(8, len(words.facts)))
        _count(fig.add_axes((0.775, 0.075, 0.205, 0.245)), world)
        fig.text(0.025, 0.020, words.source, fontsize=6.5, color=style.GREY)
        style.save(fig, *files)


# -- the piece --------------------------------------------------------------------------------


def _picture(axes: Axes, world: World) -> None:
    mesh, colours, sides = piece(world)
    sky = np.where(sides, DIM, sky_view(mesh, above=True))
    view = View(mesh, CAMERA, pixels=PIXELS, sky=sky, sun=SUN)
    picture = view.picture(colours, LIGHT)
    axes.set_axis_off()
    axes.imshow(picture.rgba, extent=picture.extent, origin="lower", aspect="auto")
    left, right, bottom, top = picture.extent
    draw_scale_bar(axes, left + 0.02 * (right - left), bottom, 0.6 * world.side)
    _north(axes, picture.extent)
    fit(axes, (left, right), (bottom - 0.03 * (top - bottom), top))


def piece(world: World) -> tuple[Mesh, Array, npt.NDArray[np.bool_]]:
    """The ground, its sides and the rocks in local axes; colours; which vertices are of sides."""
    ground, height = _ground(world)
    sides = _sides(height, world.side)
    rocks, owner = _rocks(world)
    parts = [ground, sides, rocks]
    colours = [np.tile(GROUND, (len(ground[0]), 1)), np.tile(SIDES, (len(sides[0]), 1))]
    shade = np.random.default_rng(0).random(len(world.size))  # looks only: which grey
    mixed = ROCKS[0] + shade[:, None] * (ROCKS[1] - ROCKS[0])
    colours.append(np.repeat(mixed[owner], 3, axis=0))
    offset = np.cumsum([0, *(len(v) for v, _ in parts[:-1])])
    vertices = np.concatenate([v for v, _ in parts])
    faces = np.concatenate([f + k for (_, f), k in zip(parts, offset, strict=True)])
    number = np.arange(len(vertices))
    is_side = (number >= offset[1]) & (number < offset[1] + len(sides[0]))
    return Mesh(vertices, faces, check=False), np.concatenate(colours), is_side


def _ground(world: World) -> tuple[tuple[Array, npt.NDArray[np.int64]], Array]:
    """A grid of ground, and its heights (CELLS + 1, CELLS + 1) by row and column [m]."""
    corner = world.local(world.mesh.vertices)[world.mesh.faces]
    half = 0.5 * world.side
    near = (np.abs(corner[..., :2]).min(axis=1) < 4.0 * world.side).all(axis=1)
    low, high = corner[..., :2].min(axis=1), corner[..., :2].max(axis=1)
    here = (low < 1.1 * half).all(axis=1) & (high > -1.1 * half).all(axis=1) & near
    here &= np.abs(corner[..., 2]).min(axis=1) < 2.0 * world.side
    line = np.linspace(-half, half, CELLS + 1)
    height = _heights_at(corner[here], line)
    x, y = np.meshgrid(line, line)
    points = np.stack([x, y, height], axis=2).reshape(-1, 3)
    return (points, grid_faces(*height.shape)), height


def _heights_at(corner: Array, line: Array) -> Array:
    """Heights of the uppermost of facets (m, 3, 3) on the grid ``line`` by ``line``."""
    mesh = Mesh(corner.reshape(-1, 3), np.arange(3 * len(corner)).reshape(-1, 3), check=False)
    height = heights(mesh, *np.meshgrid(line, line))
    holes = ~np.isfinite(height)
    height[holes] = height[~holes].min() if not holes.all() else 0.0
    return height


def _sides(height: Array, side: float) -> tuple[Array, npt.NDArray[np.int64]]:
    """The four walls of the piece, from the ground down to one level."""
    half, floor = 0.5 * side, float(height.min()) - 0.06 * side
    line = np.linspace(-half, half, CELLS + 1)
    ends = np.full_like(line, half)
    walls = [
        (line, -ends, height[0]),
        (ends, line, height[:, -1]),
        (line[::-1], ends, height[-1, ::-1]),
        (-ends, line[::-1], height[::-1, 0]),
    ]
    vertices, faces, n = [], [], CELLS + 1
    for k, (x, y, z) in enumerate(walls):
        vertices += [np.stack([x, y, np.full_like(z, floor)], axis=1), np.stack([x, y, z], axis=1)]
        low = 2 * k * n + np.arange(CELLS)
        faces.append(np.stack([low, low + 1, low + n + 1], axis=1))
        faces.append(np.stack([low, low + n + 1, low + n], axis=1))
    return np.concatenate(vertices), np.concatenate(faces)


def _rocks(world: World) -> tuple[tuple[Array, npt.NDArray[np.int64]], npt.NDArray[np.int64]]:
    """Faces of rocks that are not all below ground, and the rock of each.

    Each face has corners of its own: rocks look flat there, not rounded.
    """
    corners = world.local(world.vertices[:, world.faces])
    ground = world.local(world.ground)[:, None, None]
    height = np.einsum("nfki,ni->nfk", corners - ground, world.normals @ world.axes.T)
    seen = height.max(axis=2) > -0.05 * world.size[:, None]
    points = corners[seen].reshape(-1, 3)
    return (points, np.arange(len(points)).reshape(-1, 3)), np.nonzero(seen)[0]


def _north(axes: Axes, extent: tuple[float, float, float, float]) -> None:
    """An arrow along north, as the picture shows it."""
    left, right, bottom, _ = extent
    size = 0.055 * (right - left)
    x, y = right - 2.2 * size, bottom + 0.35 * size
    dx, dy = (float(d) * size for d in CAMERA.project([0.0, 1.0, 0.0])[:2])
    look = {"arrowstyle": "-|>", "color": style.INK, "linewidth": 1.2}
    axes.annotate("", (x + dx, y + dy), (x, y), arrowprops=look)
    axes.text(x + 1.25 * dx, y + 1.25 * dy, "N", ha="center", va="center", fontsize=9)


# -- beside it --------------------------------------------------------------------------------


def _where(axes: Axes, world: World, body: Mesh) -> None:
    """The body, with the world marked in red."""
    latitude, longitude = (float(a) for a in latitude_longitude(world.place))
    camera = Camera(longitude - np.radians(20.0), np.clip(latitude + 0.2, -1.2, 1.2))
    picture = View(body, camera, pixels=BODY_PIXELS).picture()
    draw_solid(axes, picture, body, None, scale_bar=True)
    half = 0.5 * world.side
    square = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [-1, -1, 0]]) * half
    outline = camera.project(world.place + square @ world.axes)
    axes.plot(outline[:, 0], outline[:, 1], color=style.ALARM, linewidth=1.3, zorder=4)
    middle = camera.project(world.place)
    axes.plot(
        middle[0], middle[1], "o", markersize=17, markerfacecolor="none",
        markeredgecolor=style.ALARM, markeredgewidth=1.0, zorder=4,
    )  # fmt: skip


def _count(axes: Axes, world: World) -> None:
    """Rocks of at least a size on a square metre: those drawn, and the law."""
    size = np.geomspace(*world.ends, 200)[:-1]
    axes.plot(size, [world.law(d) for d in size], color=style.ALARM, linewidth=1.6, label="law")
    if len(world.size):
        drawn = np.sort(world.size)[::-1]
        number = np.arange(1, len(drawn) + 1) / world.side**2
        axes.step(drawn, number, where="pre", color=style.INK, linewidth=1.3, label="drawn here")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.25 / world.side**2)
    axes.set_title("Rocks of at least this size", pad=6)
    axes.set_xlabel("size, long axis [m]")
    axes.set_ylabel("number per m²")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.grid(which="major", color=style.LINE, linewidth=0.5)
    axes.legend(frameon=False, loc="upper right")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
