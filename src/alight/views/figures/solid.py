"""Pictures of a body: parallel projection, sunlight with cast shadows, soft light from the sky.

The picture is drawn facet by facet into a depth buffer; normals and colours are interpolated
over the facets, so that a few thousand of them look smooth. Shadows come from a second depth
buffer seen from the Sun, the light of the sky from a coarse one for each of many directions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from alight.analysis.facets import FacetFinder
from alight.analysis.raster import Array, Index, foremost
from alight.shapes.mesh import Mesh

#: Reflectance of a body drawn without colours: a warm grey, linear light.
GREY = np.array([0.52, 0.50, 0.475])

#: Directions from which the sky shines, and pixels across each of their depth buffers.
SKY_DIRECTIONS, SKY_PIXELS = 48, 128

#: Pixels that are lit in one go: their arrays fit the cache of one core.
CHUNK = 1 << 16

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
        """
        self.camera = camera
        self._oversampling = oversampling
        self._depth = _Depth(mesh, camera.axes, pixels * oversampling)
        self._hit = self._depth.facet >= 0
        self._corners = mesh.faces[self._depth.facet[self._hit]]
        self._weights = self._depth.weights(self._hit)
        self._sky = self._interpolated((sky_view(mesh) if sky is None else sky)[:, None])[:, 0]
        self._sun, self._fill = np.empty_like(self._sky), np.empty_like(self._sky)
        self._to_sun = camera.direction(sun)
        shadows = _Depth(mesh, _axes_toward(self._to_sun), shadow_pixels)
        for begin in range(0, len(self._sky), CHUNK):
            self._light(mesh, shadows, slice(begin, begin + CHUNK))

    def _light(self, mesh: Mesh, shadows: _Depth, part: slice) -> None:
        """Light of the Sun, and of what fills its shadows, on some of the pixels."""
        normal = self._interpolated(mesh.vertex_normals, part)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        facing = normal @ self._to_sun
        day = facing > 0.0
        points = self._interpolated(mesh.vertices, part)[day]
        facing[day] *= shadows.visible(points, normal[day])
        self._sun[part] = np.where(day, facing, 0.0)
        toward = np.clip(normal @ self.camera.direction(FILL), 0.0, None)
        self._fill[part] = toward * self._sky[part]

    def picture(self, colours: Array | None = None, light: Light | None = None) -> Picture:
        """Paint the body in ``colours``, (n, 3) sRGB values of its vertices, or in grey.

        ``light`` by default suits the presence of colours.
        """
        if light is None:
            light = PORTRAIT if colours is None else COLOURED
        shade = light.sun * self._sun + light.fill * self._fill + light.sky * self._sky
        painted = np.ones((len(shade), 4), dtype=np.float32)
        linear = None if colours is None else _linear(colours)
        for begin in range(0, len(shade), CHUNK):
            part = slice(begin, begin + CHUNK)
            reflectance = GREY if linear is None else self._interpolated(linear, part)
            painted[part, :3] = shade[part, None] * reflectance
        image = np.zeros((*self._hit.shape, 4), dtype=np.float32)
        image[self._hit] = painted
        return Picture(_finished(image, self._oversampling), self._depth.extent, self.camera)

    def _interpolated(self, values: Array, part: slice = slice(None)) -> Array:
        """(pixels, k) values given at the vertices, (n, k), where the surface is seen."""
        corners, weights = self._corners[part], self._weights[part]
        mixed: Array = weights[:, :1] * values[corners[:, 0]]
        mixed += weights[:, 1:2] * values[corners[:, 1]]
        mixed += weights[:, 2:] * values[corners[:, 2]]
        return mixed


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
        depth = _Depth(mesh, _axes_toward(direction), pixels)
        total += facing
        seen += facing * depth.visible(mesh.vertices, mesh.vertex_normals)
    return seen / np.maximum(total, 1e-12)


def heights(mesh: Mesh, pixels: int) -> tuple[Array, tuple[float, float, float, float]]:
    """(rows, columns) height of the uppermost facets along z at pixels, and their edges [m].

    The height is -inf where there is no facet.
    """
    seen = _Depth(mesh, np.eye(3), pixels)
    return seen.depth, seen.extent


class _Depth:
    """The depth buffer of a body seen along the third of ``axes``."""

    def __init__(self, mesh: Mesh, axes: Array, pixels: int) -> None:
        self.axes = axes
        points = mesh.vertices @ axes.T
        low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
        margin = 0.01 * (high - low).max()
        low, high = low - margin, high + margin
        self.pixel = float((high - low).max() / pixels)
        self.origin = low
        columns, rows = np.maximum(1, np.ceil((high - low) / self.pixel)).astype(int)
        right, top = low + self.pixel * np.array([columns, rows])
        self.extent = (float(low[0]), float(right), float(low[1]), float(top))
        corner = points[mesh.faces]
        # In pixels, pixel centres at whole numbers.
        corner[..., :2] = (corner[..., :2] - low) / self.pixel - 0.5
        first = np.ceil(corner[..., :2].min(axis=1)).astype(np.int64)
        last = np.floor(corner[..., :2].max(axis=1)).astype(np.int64)
        self._planes, area = _planes(corner)
        last[area <= 0.0] = first[area <= 0.0] - 1  # seen from behind, or edge on
        self.depth, self.facet = foremost(first, last, (int(rows), int(columns)), self._depth_at)

    def _depth_at(self, facet: Index, column: Index, row: Index) -> Array:
        second, third, depth = self._values(facet, column, row)
        inside = (second >= -1e-9) & (third >= -1e-9) & (second + third <= 1.0 + 1e-9)
        return np.where(inside, depth, -np.inf)

    def _values(self, facet: Index, column: Index, row: Index) -> tuple[Array, Array, Array]:
        """Shares of the second and third corner, and depth, of ``facet`` at a pixel."""
        plane = self._planes[facet]
        second, third, depth = (
            plane[:, k] + plane[:, k + 3] * column + plane[:, k + 6] * row for k in range(3)
        )
        return second, third, depth

    def weights(self, hit: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
        """Shares of the corners of the foremost facets, at the pixels of ``hit``."""
        row, column = np.nonzero(hit)
        found = np.empty((len(row), 3), dtype=np.float32)
        for begin in range(0, len(row), CHUNK):
            part = slice(begin, begin + CHUNK)
            facet = self.facet[row[part], column[part]]
            second, third, _ = self._values(facet, column[part], row[part])
            found[part, 1], found[part, 2] = second, third
        found[:, 0] = 1.0 - found[:, 1] - found[:, 2]
        return found

    def visible(self, points: Array, normals: Array) -> Array:
        """How much of the light along the axis reaches points of the surface, 0 to 1.

        Points are lifted off by some pixels, which the depth buffer cannot tell apart, and four
        neighbouring pixels are blended.
        """
        lifted = (points + 2.0 * self.pixel * normals) @ self.axes.T
        place = (lifted[:, :2] - self.origin) / self.pixel - 0.5
        base = np.floor(place).astype(np.int64)
        part = place - base
        rows, columns = self.depth.shape
        light = np.zeros(len(points))
        for dx in (0, 1):
            for dy in (0, 1):
                column = np.clip(base[:, 0] + dx, 0, columns - 1)
                row = np.clip(base[:, 1] + dy, 0, rows - 1)
                share = np.abs(1 - dx - part[:, 0]) * np.abs(1 - dy - part[:, 1])
                light += share * (lifted[:, 2] >= self.depth[row, column] - self.pixel)
        return light


def _planes(corner: Array) -> tuple[Array, Array]:
    """What varies linearly over each facet, and twice its area in the picture.

    The (m, 9) table has the constant, per column and per row, each of the shares of the second
    and third corner and of the depth.
    """
    start, one, two = corner[:, 0], corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    area = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    safe = np.where(area > 0.0, area, 1.0)
    column = np.stack([two[:, 1], -one[:, 1]], axis=1) / safe[:, None]
    row = np.stack([-two[:, 0], one[:, 0]], axis=1) / safe[:, None]
    rise = np.stack([one[:, 2], two[:, 2]], axis=1)
    column = np.column_stack([column, (column * rise).sum(axis=1)])
    row = np.column_stack([row, (row * rise).sum(axis=1)])
    constant = -column * start[:, :1] - row * start[:, 1:2]
    constant[:, 2] += start[:, 2]
    return np.column_stack([constant, column, row]), area


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


def _screen(linear: Array) -> Array:
    """sRGB value for an amount of light (IEC 61966-2-1)."""
    light = np.clip(linear, 0.0, 1.0)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def _finished(image: npt.NDArray[np.float32], oversampling: int) -> npt.NDArray[np.float32]:
    """Average the fine pixels and turn amounts of light into screen values."""
    rows, columns = (-(-n // oversampling) for n in image.shape[:2])
    mean = np.zeros((rows, columns, 4))
    for i in range(oversampling):
        for j in range(oversampling):
            part = image[i::oversampling, j::oversampling] / oversampling**2
            mean[: part.shape[0], : part.shape[1]] += part
    alpha = mean[..., 3:]
    colour = mean[..., :3] / np.where(alpha > 0.0, alpha, 1.0)
    return np.concatenate([_screen(colour), alpha], axis=2).astype(np.float32)
