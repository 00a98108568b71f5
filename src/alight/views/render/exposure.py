"""Taking a picture of a scene: rays where they are needed, light, and values for a screen.

On a CPU every pixel gets one ray first; those at outlines, creases and edges of shadows get a grid
of them. A GPU gives every pixel its grid at once, which takes less time than looking for edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.views.render import tracing
from alight.views.render.lens import Array, Lens, viewer_axes
from alight.views.render.scene import Scene

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

#: Neighbouring pixels are at an edge where light differs by so much (by more where the ground has
#: grain), or depth by this part beyond what the slope of the ground explains.
EDGE_LIGHT, EDGE_GRAIN, EDGE_DEPTH = 0.06, 0.25, 0.02


@dataclass(frozen=True)
class Light:
    """How strongly the Sun, the light that fills its shadows, and the whole sky shine."""

    sun: float
    fill: float
    sky: float


@dataclass(frozen=True, eq=False)
class Lamps:
    """Where light comes from."""

    sun: Array
    """(3,) unit vector to the middle of the Sun."""
    fill: Array
    """(3,) unit vector to the weak light that fills its shadows."""
    radius: float = 0.0
    """Of the Sun's disc [rad]; about 0.0047 at 1 au."""
    rays: int = 1
    """To points of that disc: more of them give soft edges of shadows."""

    def data(self) -> tracing.Lamps:
        """As kernels read it."""
        made = tracing.Lamps()
        aside, over, _ = viewer_axes(self.sun, (0.0, 0.0, 1.0))
        made.sun, made.fill = wp.vec3(*self.sun), wp.vec3(*self.fill)
        made.aside, made.over = wp.vec3(*(self.radius * aside)), wp.vec3(*(self.radius * over))
        made.rays = self.rays if self.radius > 0.0 else 1
        return made


class Exposure:
    """What a lens sees of a scene; ``develop`` gives the picture, in any colours and light."""

    def __init__(
        self,
        scene: Scene,
        lens: Lens,
        lamps: Lamps,
        grid: int = 2,
        threads: int | None = None,
    ) -> None:
        """Trace the rays; ``grid`` of them along each side of a pixel at edges."""
        self.scene, self.lens, self._threads = scene, lens, threads
        self._world, self._things = scene.world, len(scene.things)
        self._tints = scene.tints
        every = np.empty(0, dtype=np.int32)
        if scene.device.is_gpu or grid == 1:
            self._samples = [self._traced(every, grid, lamps)]
            return
        first = self._traced(every, 1, lamps)
        self._samples = [first]
        edges = self._edges(first)
        if grid > 1 and len(edges):
            self._samples.append(self._traced(edges, grid, lamps))

    def develop(self, light: Light, colours: Array | None = None) -> Floats:
        """(rows, columns, 4) linear light from the top row down, and how much of each pixel
        something covers; ``colours`` (n, 3) are reflectances of all vertices of the scene."""
        shape = (self.lens.rows, self.lens.columns, 4)
        return np.asarray(self._painted(light, colours).numpy()).reshape(shape)

    def show(self, light: Light, behind: tuple[float, float, float]) -> npt.NDArray[np.uint8]:
        """(rows, columns, 3) bytes for a screen; ``behind`` is the light of the empty sky."""
        rgba = self._painted(light, None)
        out = wp.empty((rgba.shape[0], 3), dtype=wp.uint8, device=self.scene.device.name)
        self._launch(tracing.show, rgba.shape[0], [rgba, wp.vec3(*behind)], [out])
        return np.asarray(out.numpy()).reshape(self.lens.rows, self.lens.columns, 3)

    def _painted(self, light: Light, colours: Array | None) -> wp.array:
        given, lens = self.scene.array_of_colours(colours), self.lens
        rgba = wp.zeros(lens.rows * lens.columns, dtype=wp.vec4, device=self.scene.device.name)
        strength = wp.vec3(light.sun, light.fill, light.sky)
        for samples in self._samples:
            inputs = [self._world, samples, strength, given, self._tints]
            count = samples.thing.shape[0] // samples.grid**2
            self._launch(tracing.paint, count, inputs, [rgba])
        return rgba

    @property
    def depth(self) -> Floats:
        """(rows, columns) way along each first ray [m]; very large where nothing is met."""
        grid, shape = self._samples[0].grid, (self.lens.rows, self.lens.columns)
        return np.asarray(self._samples[0].depth.numpy()).reshape(-1, grid**2)[:, 0].reshape(shape)

    @property
    def thing(self) -> npt.NDArray[np.int32]:
        """(rows, columns) which thing each first ray meets; -1 for none."""
        grid, shape = self._samples[0].grid, (self.lens.rows, self.lens.columns)
        return np.asarray(self._samples[0].thing.numpy()).reshape(-1, grid**2)[:, 0].reshape(shape)

    def _traced(self, pixels: npt.NDArray[np.int32], grid: int, lamps: Lamps) -> tracing.Samples:
        device = self.scene.device.name
        count = (len(pixels) or self.lens.rows * self.lens.columns) * grid**2
        made = tracing.Samples()
        made.grid = grid
        made.pixel = wp.array(pixels, dtype=wp.int32, device=device)
        made.thing = wp.empty(count, dtype=wp.int32, device=device)
        made.facet = wp.empty(count, dtype=wp.int32, device=device)
        made.share = wp.empty(count, dtype=wp.vec2, device=device)
        made.depth = wp.empty(count, dtype=wp.float32, device=device)
        made.light = wp.empty(count, dtype=wp.vec3, device=device)
        inputs = [self._world, self.lens.data(self.scene.origin), lamps.data(), made]
        self._launch(tracing.trace, count, inputs, [])
        return made

    def _launch(
        self, kernel: wp.Kernel, count: int, inputs: list[object], out: list[object]
    ) -> None:
        devices.launch(kernel, count, inputs, self.scene.device, self._threads, outputs=out)

    def _edges(self, first: tracing.Samples) -> npt.NDArray[np.int32]:
        """Pixels that differ from a neighbour: another thing, another depth or another light."""
        shape = (self.lens.rows, self.lens.columns)
        thing, depth = first.thing.numpy().reshape(shape), first.depth.numpy().reshape(shape)
        light = first.light.numpy()[:, 0].reshape(shape)
        clear = thing < 0
        light = np.where(clear, 0.0, light)
        edge = np.zeros(shape, dtype=np.bool_)
        for axis in (0, 1):
            one, other = _pairs(thing, axis)
            apart = one != other
            a, b = _pairs(light, axis)
            apart |= np.abs(a - b) > (EDGE_GRAIN if self.scene.grainy else EDGE_LIGHT)
            apart |= _bent(depth, clear, axis)
            _mark(edge, apart, axis)
        return np.flatnonzero(edge).astype(np.int32)


def _pairs(values: npt.NDArray[Any], axis: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Neighbours along an axis."""
    if axis == 0:
        return values[:-1], values[1:]
    return values[:, :-1], values[:, 1:]


def _mark(edge: Bools, apart: Bools, axis: int) -> None:
    """Both of two neighbours are at an edge."""
    one, other = _pairs(edge, axis)
    one |= apart
    other |= apart


def _bent(depth: Floats, clear: Bools, axis: int) -> Bools:
    """Where depth leaps: by more than a part of it and three times the leap on both sides."""
    a, b = _pairs(np.where(clear, 0.0, depth), axis)
    leap = np.abs(b - a)
    found = leap > EDGE_DEPTH * np.minimum(a, b)
    before = np.zeros_like(leap)
    if axis == 0:
        before[1:] = leap[:-1]
    else:
        before[:, 1:] = leap[:, :-1]
    return np.asarray(found & (leap > 3.0 * before))


#: Screen values by linear light in 4096 steps of its square root, which keeps dark tones apart.
_STEPS = 4096


def _table() -> Floats:
    light = (np.arange(_STEPS + 1) / _STEPS) ** 2
    return screen_values(light).astype(np.float32)


def screen_values(linear: Array) -> Array:
    """sRGB values for amounts of light (IEC 61966-2-1)."""
    light = np.clip(linear, 0.0, 1.0)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1.0 / 2.4) - 0.055)


def linear_light(screen: npt.ArrayLike) -> Array:
    """Light that a screen emits for sRGB values (IEC 61966-2-1)."""
    given = np.asarray(screen, dtype=np.float64)
    return np.where(given <= 0.04045, given / 12.92, ((given + 0.055) / 1.055) ** 2.4)


def to_screen(linear: Floats) -> Floats:
    """``screen_values`` from a table, for whole pictures: within half a step of 8 bits."""
    root = np.sqrt(np.clip(linear, 0.0, 1.0))
    found: Floats = _TABLE[(root * _STEPS + 0.5).astype(np.int32)]
    return found


_TABLE = _table()
