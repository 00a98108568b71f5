"""Pictures of a body: parallel projection, sunlight with cast shadows, soft light from the sky.

The picture is drawn facet by facet into a depth buffer; normals and colours are interpolated
over the facets, so that a few thousand of them look smooth. Shadows come from a second depth
buffer seen from the Sun, the light of the sky from a coarse one for each of many directions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from alight.analysis.depth_buffer import DepthBuffer
from alight.analysis.facets import FacetFinder
from alight.analysis.raster import Array
from alight.shapes.mesh import Mesh
from alight.views.figures import shading

#: Reflectance of a body drawn without colours: a warm grey, linear light.
GREY = np.array([0.52, 0.50, 0.475])

#: Directions from which the sky shines, and pixels across each of their depth buffers.
SKY_DIRECTIONS, SKY_PIXELS = 48, 128

#: Directions to the Sun and to the weak light that fills its shadows: right, up, to the viewer.
SUN, FILL = np.array([-0.60, 0.50, 0.72]), np.array([0.75, -0.45, 0.40])


@dataclass(frozen=True)
class Light:
    """How strongly the Sun, the light that fills its shadows, and the whole sky shine."""

    sun: float
    fill: float
    sky: float


#: For plain pictures, and softer for those whose colours must stay readable.
PORTRAIT = Light(sun=1.10, fill=0.10, sky=0.14)
COLOURED = Light(sun=0.62, fill=0.16, sky=0.48)


@dataclass(frozen=True)
class Camera:
    """A viewer far away, over a longitude and latitude of the body, z up."""

    longitude: float
    """East longitude beneath the viewer [rad]."""
    latitude: float
    """Latitude beneath the viewer [rad]."""
    axes: Array = field(init=False, repr=False, compare=False)
    """(3, 3) rows: right, up and toward the viewer, in body axes."""

    def __post_init__(self) -> None:
        c, s = np.cos(self.longitude), np.sin(self.longitude)
        cl, sl = np.cos(self.latitude), np.sin(self.latitude)
        axes = np.array([[-s, c, 0.0], [-sl * c, -sl * s, cl], [cl * c, cl * s, sl]])
        object.__setattr__(self, "axes", axes)

    def project(self, points: npt.ArrayLike) -> Array:
        """(..., 3) distance right, up and toward the viewer [m] of points in body axes."""
        return np.asarray(points, dtype=np.float64) @ self.axes.T

    def direction(self, picture: Array) -> Array:
        """Unit vector in body axes of a direction given as right, up, toward the viewer."""
        turned = picture @ self.axes
        return turned / np.linalg.norm(turned)


@dataclass(frozen=True)
class Picture:
    """An image whose pixels have a size: it can be drawn into axes in metres."""

    rgba: npt.NDArray[np.float32]
    """(rows, columns, 4), rows from the bottom up; transparent beside the body."""
    extent: tuple[float, float, float, float]
    """Left, right, bottom and top edge [m]."""
    camera: Camera


class View:
    """A body seen from one place; ``picture`` paints it as often as wanted."""

    def __init__(
        self,
        mesh: Mesh,
        camera: Camera,
        *,
        pixels: int = 500,
        oversampling: int = 2,
        sky: Array | None = None,
        sun: Array = SUN,
        shadow_pixels: int = 1024,
        window: tuple[float, float, float, float] | None = None,
    ) -> None:
        """Find what is seen and how it is lit.

        Args:
            mesh: The body.
            camera: Where it is seen from.
            pixels: Pixels along the longer side of the picture.
            oversampling: Finer pixels along each side of a pixel, averaged to smooth outlines.
            sky: (n,) light of the sky at the vertices; ``sky_view(mesh)`` if not given.
            sun: Direction to the Sun: right, up, to the viewer.
            shadow_pixels: Pixels along the longer side of what the Sun sees.
            window: Left, right, bottom and top edge of what is shown [m]; the whole body if None.
        """
        self.camera, self._mesh, self._oversampling = camera, mesh, oversampling
        self._seen = DepthBuffer(mesh, camera.axes, pixels * oversampling, window)
        to_sun = camera.direction(sun)
        shadows = DepthBuffer(mesh, _axes_toward(to_sun), shadow_pixels)
        sky = sky_view(mesh) if sky is None else sky
        self._light = shading.light(self._seen, shadows, mesh, sky, to_sun, camera.direction(FILL))

    def picture(self, colours: Array | None = None, light: Light | None = None) -> Picture:
        """Paint the body in ``colours``, (n, 3) sRGB values of its vertices, or in grey.

        ``light`` by default suits the presence of colours.
        """
        if light is None:
            light = PORTRAIT if colours is None else COLOURED
        grey = np.broadcast_to(GREY, (self._mesh.n_vertices, 3))
        linear = grey if colours is None else _linear(colours)
        strength = (light.sun, light.fill, light.sky)
        painted = shading.paint(
            self._seen, self._light, strength, self._mesh, linear, self._oversampling
        )
        return Picture(painted, self._seen.extent, self.camera)


def carried(mesh: Mesh, values: Array, to: Mesh) -> Array:
    """Values at the vertices of ``mesh`` carried to those of a finer mesh ``to`` of the same body,
    interpolated over the facet that each of them lies over or under."""
    facet, share = FacetFinder(mesh).find(to.vertices)
    mixed: Array = np.einsum("nk,nk...->n...", share, values[mesh.faces[facet]])
    return mixed


def sky_view(mesh: Mesh, pixels: int = SKY_PIXELS, above: bool = False) -> Array:
    """(n,) part of the sky's light that reaches each vertex, 0 to 1: darker in hollows.

    The sky is a set of equally spread directions; the light of each falls at its angle to the
    normal, unless the body itself stands in the way, as seen in ``pixels`` across it. ``above``
    takes directions of positive z only, for a piece of ground.
    """
    total, seen = np.zeros(mesh.n_vertices), np.zeros(mesh.n_vertices)
    directions = _spread_directions(SKY_DIRECTIONS)
    for direction in directions[directions[:, 2] > 0.0] if above else directions:
        facing = np.clip(mesh.vertex_normals @ direction, 0.0, None)
        depth = DepthBuffer(mesh, _axes_toward(direction), pixels)
        total += facing
        seen += facing * depth.visible(mesh.vertices, mesh.vertex_normals)
    return seen / np.maximum(total, 1e-12)


def heights(mesh: Mesh, pixels: int) -> tuple[Array, tuple[float, float, float, float]]:
    """(rows, columns) height of the uppermost facets along z at pixels, and their edges [m].

    The height is -inf where there is no facet.
    """
    seen = DepthBuffer(mesh, np.eye(3), pixels)
    return seen.depth, seen.extent


def _axes_toward(direction: Array) -> Array:
    """(3, 3) right-handed rows, the third along ``direction``."""
    aside = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
    aside /= np.linalg.norm(aside)
    return np.stack([aside, np.cross(direction, aside), direction])


def _spread_directions(count: int) -> Array:
    """(count, 3) directions spread evenly over the sphere: a golden spiral."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    turn = np.pi * (1.0 + np.sqrt(5.0)) * k
    level = np.sqrt(1.0 - z**2)
    return np.stack([level * np.cos(turn), level * np.sin(turn), z], axis=1)


def _linear(screen: Array) -> Array:
    """Light that a screen emits for an sRGB value (IEC 61966-2-1)."""
    return np.where(screen <= 0.04045, screen / 12.92, ((screen + 0.055) / 1.055) ** 2.4)
