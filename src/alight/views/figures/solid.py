"""Pictures of a body: parallel projection, sunlight with cast shadows, soft light from the sky.

They are drawn by the ray tracer that films come from. Normals and colours are interpolated over
the facets, so that a few thousand of them look smooth; the light of the sky comes from rays in many
directions at the vertices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alight.analysis.facets import FacetFinder
from alight.analysis.raster import Array
from alight.analysis.shadows import Shadows
from alight.core import devices
from alight.shapes.mesh import Mesh
from alight.views.render.exposure import Exposure, Lamps, Light, linear_light, to_screen
from alight.views.render.lens import Lens
from alight.views.render.scene import GREY, REGOLITH, Part, Scene, Thing

__all__ = [
    "FILL", "GREY", "SUN", "Camera", "Light", "Picture", "View", "Viewer", "carried",
    "parallel_lens", "rgba_of", "sky_view",
]  # fmt: skip

#: Directions from which the sky shines.
SKY_DIRECTIONS = 48

#: Their rays begin above the vertices by this part of the body's size.
SKY_LIFT = 5e-3

#: Directions to the Sun and to the weak light that fills its shadows: right, up, to the viewer.
SUN, FILL = np.array([-0.60, 0.50, 0.72]), np.array([0.75, -0.45, 0.40])

#: For plain pictures, and softer for those whose colours must stay readable.
PORTRAIT = Light(sun=1.10, fill=0.10, sky=0.14)
COLOURED = Light(sun=0.62, fill=0.16, sky=0.48)


class Viewer:
    """A viewer far away, by the axes of the picture."""

    def __init__(self, axes: Array) -> None:
        """``axes`` (3, 3) are rows: right, up and toward the viewer."""
        self.axes = np.asarray(axes, dtype=np.float64)

    def project(self, points: npt.ArrayLike) -> Array:
        """(..., 3) distance right, up and toward the viewer [m] of points in body axes."""
        return np.asarray(points, dtype=np.float64) @ self.axes.T

    def direction(self, picture: Array) -> Array:
        """Unit vector in body axes of a direction given as right, up, toward the viewer."""
        turned = picture @ self.axes
        return np.asarray(turned / np.linalg.norm(turned))


class Camera(Viewer):
    """A viewer far away, over a longitude and latitude of the body [rad], z up."""

    def __init__(self, longitude: float, latitude: float) -> None:
        self.longitude, self.latitude = longitude, latitude
        c, s = np.cos(longitude), np.sin(longitude)
        cl, sl = np.cos(latitude), np.sin(latitude)
        super().__init__(np.array([[-s, c, 0.0], [-sl * c, -sl * s, cl], [cl * c, cl * s, sl]]))


@dataclass(frozen=True)
class Picture:
    """An image whose pixels have a size: it can be drawn into axes in metres."""

    rgba: npt.NDArray[np.float32]
    """(rows, columns, 4), rows from the bottom up; transparent beside the body."""
    extent: tuple[float, float, float, float]
    """Left, right, bottom and top edge [m]."""
    camera: Viewer


class View:
    """A body seen from one place; ``picture`` paints it as often as wanted."""

    def __init__(
        self,
        mesh: Mesh,
        camera: Viewer,
        *,
        pixels: int = 500,
        oversampling: int = 2,
        sky: Array | None = None,
        sun: Array = SUN,
        lunar: float = REGOLITH,
        window: tuple[float, float, float, float] | None = None,
    ) -> None:
        """Find what is seen and how it is lit.

        Args:
            mesh: The body.
            camera: Where it is seen from.
            pixels: Pixels along the longer side of the picture.
            oversampling: Rays along each side of a pixel at edges, averaged to smooth them.
            sky: (n,) light of the sky at the vertices; ``sky_view(mesh)`` if not given.
            sun: Direction to the Sun: right, up, to the viewer.
            lunar: Weight of Lommel and Seeliger's law, of dusty ground, against Lambert's.
            window: Left, right, bottom and top edge of what is shown [m]; the whole body if None.
        """
        self.camera = camera
        light = sky_view(mesh) if sky is None else sky
        # Few rays, beside a page's other work: a GPU would have to be woken for them.
        part = Part(mesh, sky=light, lunar=lunar)
        middle = 0.5 * (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0))
        scene = Scene([part], [Thing(0)], devices.resolve("cpu"), middle)
        lens, self._extent = parallel_lens(mesh.vertices, camera, pixels, window)
        lamps = Lamps(camera.direction(sun), camera.direction(FILL))
        self._exposure = Exposure(scene, lens, lamps, oversampling)

    def picture(self, colours: Array | None = None, light: Light | None = None) -> Picture:
        """Paint the body in ``colours``, (n, 3) sRGB values of its vertices, or in grey.

        ``light`` by default suits the presence of colours.
        """
        if light is None:
            light = PORTRAIT if colours is None else COLOURED
        given = None if colours is None else linear_light(colours)
        return Picture(rgba_of(self._exposure, light, given), self._extent, self.camera)


def rgba_of(
    exposure: Exposure, light: Light, colours: Array | None = None
) -> npt.NDArray[np.float32]:
    """(rows, columns, 4) sRGB values from the bottom row up, and how much of a pixel is covered."""
    painted = exposure.develop(light, colours)
    return np.concatenate([to_screen(painted[..., :3]), painted[..., 3:]], axis=2)[::-1]


def parallel_lens(
    points: Array, camera: Viewer, pixels: int, window: tuple[float, float, float, float] | None
) -> tuple[Lens, tuple[float, float, float, float]]:
    """A lens before all points that shows a window of them, and the edges of its picture."""
    seen = camera.project(points)
    low, high = _edges(seen) if window is None else np.reshape(window, (2, 2)).T
    pixel = float((high - low).max() / pixels)
    # What rounding leaves of the last pixel is not one more.
    across, up = np.ceil((high - low) / pixel * (1.0 - 1e-12))
    columns, rows = max(1, int(across)), max(1, int(up))
    right, top = low + pixel * np.array([columns, rows])
    before = seen[:, 2].max() + 0.1 * (float(np.ptp(seen)) or 1.0)
    eye = before * camera.axes[2]
    lens = Lens(eye, camera.axes, float(low[0]), float(top), pixel, columns, rows, parallel=True)
    return lens, (float(low[0]), float(right), float(low[1]), float(top))


def _edges(seen: Array) -> tuple[Array, Array]:
    """Lower left and upper right corner of all that is seen, and a little more."""
    low, high = seen[:, :2].min(axis=0), seen[:, :2].max(axis=0)
    margin = 0.01 * (high - low).max()
    return low - margin, high + margin


def carried(mesh: Mesh, values: Array, to: Mesh) -> Array:
    """Values at the vertices of ``mesh`` carried to those of a finer mesh ``to`` of the same body,
    interpolated over the facet that each of them lies over or under."""
    facet, share = FacetFinder(mesh).find(to.vertices)
    mixed: Array = np.einsum("nk,nk...->n...", share, values[mesh.faces[facet]])
    return mixed


def sky_view(mesh: Mesh, above: bool = False) -> Array:
    """(n,) part of the sky's light that reaches each vertex, 0 to 1: darker in hollows.

    The sky is a set of equally spread directions; the light of each falls at its angle to the
    normal, unless the body itself stands in the way. ``above`` takes directions of positive z only,
    for a piece of ground.
    """
    directions = _spread_directions(SKY_DIRECTIONS)
    directions = directions[directions[:, 2] > 0.0] if above else directions
    facing = np.clip(mesh.vertex_normals @ directions.T, 0.0, None)
    vertex, k = np.nonzero(facing)
    # A little above the vertices: nearby facets, which stand for a round surface, hide nothing.
    start = mesh.vertices + SKY_LIFT * float(mesh.extent.max()) * mesh.vertex_normals
    hidden = Shadows(mesh).hidden(start[vertex], directions[k])
    open_part = np.bincount(vertex, facing[vertex, k] * ~hidden, mesh.n_vertices)
    return np.asarray(open_part / np.maximum(facing.sum(axis=1), 1e-12))


def heights(mesh: Mesh, x: Array, y: Array) -> Array:
    """Height of the uppermost facets along z at points (x, y); -inf where there is no facet."""
    top = float(mesh.vertices[:, 2].max()) + 1.0
    start = np.stack([x.ravel(), y.ravel(), np.full(x.size, top)], axis=1)
    drop = Shadows(mesh).first_hit(start, np.tile([0.0, 0.0, -1.0], (x.size, 1)))
    return np.asarray((top - drop).reshape(x.shape))


def _spread_directions(count: int) -> Array:
    """(count, 3) directions spread evenly over the sphere: a golden spiral."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    turn = np.pi * (1.0 + np.sqrt(5.0)) * k
    level = np.sqrt(1.0 - z**2)
    return np.stack([level * np.cos(turn), level * np.sin(turn), z], axis=1)
