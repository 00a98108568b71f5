"""FractalNoise: hills on hills, as a height field in space with its gradient and its bounds.

Each octave is simplex gradient noise (Perlin 2001): the lattice points of a tetrahedral grid
carry random unit vectors g, and each adds (1/2 - r^2)^4 g.d within r^2 < 1/2, with d the way from
it. That is smooth (three continuous derivatives), has no seam, no direction of its own, and a
gradient in closed form. The vectors come from a table by an integer hash of the lattice point
and the octave's key: the same hills on every device, in any order, from the seed alone.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices, random
from alight.core.checks import Array, checked_number, checked_points
from alight.core.errors import InputError
from alight.core.types import scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.surfaces.noise.amplitude_map import AmplitudeMap, Variation, variation_at

#: Root mean square of one octave: two lattice points a unit volume, each adding
#: (1/3) r^2 (1/2 - r^2)^8 to the variance.
RMS = 0.003609543133499014
#: Where one octave's spectrum k^2 |F(k)|^2 peaks, as a wavelength in lattice units.
WAVELENGTH = 0.8619160990096214
#: Most that an octave's value, gradient and second derivatives can reach, whatever the vectors:
#: sums over a tetrahedron's corners of what one corner can do, at the worst point (rounded up).
MAX_VALUE, MAX_SLOPE, MAX_BEND = 0.00929, 0.07249, 0.8256

#: Unit vectors in the table, and the shift that leaves their number of a 64-bit hash.
VECTORS = 256
_SHIFT = wp.constant(wp.uint64(56))

# Odd 64-bit multipliers for the three axes (fractional digits of sqrt 2, 3 and 5) and for mixing.
_STEP_X = wp.constant(wp.uint64(0x6A09E667F3BCC909))
_STEP_Y = wp.constant(wp.uint64(0xBB67AE8584CAA73B))
_STEP_Z = wp.constant(wp.uint64(0x3C6EF372FE94F82B))
_MIX = wp.constant(wp.uint64(0xD6E8FEB86659FD93))

_THIRD = wp.constant(scalar(1.0 / 3.0))
_SIXTH = wp.constant(scalar(1.0 / 6.0))


@wp.struct
class Height:
    """Height [m] and its gradient."""

    value: scalar
    gradient: vec3


@wp.struct
class NoiseData:
    """The octaves, the table of unit vectors, and how the amplitude varies over the body."""

    octaves: int
    amplitude: wp.array(dtype=scalar)  # of each octave, over RMS [m]
    frequency: wp.array(dtype=scalar)  # lattice units per metre [1/m]
    shift: wp.array(dtype=vec3)  # of the lattice, in its units
    key: wp.array(dtype=wp.uint64)
    vector: wp.array(dtype=vec3)
    varies: int
    variation: Variation


@wp.func
def corner(vector: wp.array(dtype=vec3), h: wp.uint64, d: vec3):
    """What one lattice point adds: value and gradient."""
    m = (h ^ (h >> wp.uint64(32))) * _MIX
    g = vector[int(m >> _SHIFT)]
    t = wp.max(scalar(0.5) - wp.dot(d, d), scalar(0.0))
    p = wp.dot(g, d)
    t2 = t * t
    t4 = t2 * t2
    back = scalar(8.0) * t2 * t * p
    share = Height()
    share.value = t4 * p
    share.gradient = t4 * g - back * d
    return share


@wp.func
def simplex(vector: wp.array(dtype=vec3), key: wp.uint64, x: vec3):
    """One octave in lattice units."""
    one = wp.uint64(1)
    skew = (x[0] + x[1] + x[2]) * _THIRD
    i = wp.floor(x[0] + skew)
    j = wp.floor(x[1] + skew)
    k = wp.floor(x[2] + skew)
    back = (i + j + k) * _SIXTH
    d = vec3(x[0] - i + back, x[1] - j + back, x[2] - k + back)
    # The tetrahedron: from the corner below, along the largest offset, then the second, then all.
    xy = wp.where(d[0] >= d[1], one, wp.uint64(0))
    xz = wp.where(d[0] >= d[2], one, wp.uint64(0))
    yz = wp.where(d[1] >= d[2], one, wp.uint64(0))
    i1 = xy & xz
    j1 = (one - xy) & yz
    k1 = (one - xz) & (one - yz)
    i2 = xy | xz
    j2 = (one - xy) | yz
    k2 = (one - xz) | (one - yz)
    h = key + wp.uint64(wp.int64(i)) * _STEP_X
    h += wp.uint64(wp.int64(j)) * _STEP_Y + wp.uint64(wp.int64(k)) * _STEP_Z
    a = corner(vector, h, d)
    d1 = d - vec3(scalar(i1), scalar(j1), scalar(k1)) + vec3(_SIXTH, _SIXTH, _SIXTH)
    b = corner(vector, h + i1 * _STEP_X + j1 * _STEP_Y + k1 * _STEP_Z, d1)
    d2 = d - vec3(scalar(i2), scalar(j2), scalar(k2)) + vec3(_THIRD, _THIRD, _THIRD)
    c = corner(vector, h + i2 * _STEP_X + j2 * _STEP_Y + k2 * _STEP_Z, d2)
    half = scalar(0.5)
    last = corner(vector, h + _STEP_X + _STEP_Y + _STEP_Z, d - vec3(half, half, half))
    total = Height()
    total.value = a.value + b.value + c.value + last.value
    total.gradient = a.gradient + b.gradient + c.gradient + last.gradient
    return total


@wp.func
def noise_height(data: NoiseData, x: vec3):
    """All octaves, with the gradient of their sum."""
    total = Height()
    for n in range(data.octaves):
        f = data.frequency[n]
        a = data.amplitude[n]
        one = simplex(data.vector, data.key[n], f * x + data.shift[n])
        total.value += a * one.value
        total.gradient += (a * f) * one.gradient
    if data.varies != 0:
        factor = variation_at(data.variation, x)
        total.gradient = factor.value * total.gradient + total.value * factor.gradient
        total.value = factor.value * total.value
    return total


class FractalNoise:
    """A sum of octaves of noise: each ``roughness`` times as high as the one before it and
    ``lacunarity`` times as short.

    Parameters
    ----------
    amplitude:
        Root mean square height of all octaves together [m].
    wavelength:
        Wavelength at which the first octave's spectrum peaks [m].
    octaves:
        Their number, 1 to 24.
    roughness:
        Height of an octave over that of the one before it; 1/2 with a lacunarity of 2 gives hills
        that look alike at every size.
    lacunarity:
        Wavelength of an octave over that of the one after it.
    seed:
        Whole number; the same seed gives the same hills.
    modulation:
        An ``AmplitudeMap`` by which the amplitude varies over the body, or None.
    """

    Data = NoiseData
    height = noise_height

    def __init__(
        self,
        amplitude: float,
        wavelength: float,
        octaves: int = 4,
        roughness: float = 0.5,
        lacunarity: float = 2.0,
        seed: int = 0,
        modulation: AmplitudeMap | None = None,
    ) -> None:
        self.amplitude = checked_number("amplitude [m]", amplitude, above=False)
        self.wavelength = checked_number("wavelength [m]", wavelength)
        whole = isinstance(octaves, (int, np.integer)) and not isinstance(octaves, bool)
        if not whole or not 1 <= octaves <= 24:
            raise InputError(f"octaves is {octaves!r}; it must be a whole number from 1 to 24")
        self.octaves = int(octaves)
        self.roughness = checked_number("roughness", roughness)
        self.lacunarity = checked_number("lacunarity", lacunarity, least=1.0)
        if modulation is not None and not isinstance(modulation, AmplitudeMap):
            raise InputError(f"modulation is {modulation!r}; it must be an AmplitudeMap or None")
        self.seed, self.modulation = seed, modulation
        self._keys = [random.key_of(seed, f"noise octave {n}") for n in range(self.octaves)]
        self._devices: dict[str, Any] = {}
        self._set_bounds()

    @property
    def heights(self) -> Array:
        """Root mean square height of each octave [m]."""
        share = self.roughness ** np.arange(self.octaves)
        return np.asarray(self.amplitude * share / math.sqrt(float(share @ share)))

    @property
    def frequencies(self) -> Array:
        """Lattice units per metre of each octave [1/m]."""
        return np.asarray(WAVELENGTH / self.wavelength * self.lacunarity ** np.arange(self.octaves))

    def _set_bounds(self) -> None:
        a, f = self.heights / RMS, self.frequencies
        top, slope, bend = MAX_VALUE * a.sum(), MAX_SLOPE * (a @ f), MAX_BEND * (a @ f**2)
        if self.modulation is not None:
            m = self.modulation
            bend = m.largest * bend + 2.0 * m.max_slope * slope + m.max_curvature * top
            slope = m.largest * slope + m.max_slope * top
            top = m.largest * top
        #: The height never exceeds this, either way [m].
        self.max_height = float(top)
        #: Its gradient is never longer than this.
        self.max_slope = float(slope)
        #: No second derivative of it exceeds this [1/m].
        self.max_curvature = float(bend)

    def data(self, device: devices.Device) -> Any:
        """The octaves as a struct whose arrays live on ``device``, copied there once."""
        if device.name not in self._devices:
            self._devices[device.name] = self._make_data(device)
        return self._devices[device.name]

    def _make_data(self, device: devices.Device) -> Any:
        def put(array: Any, kind: Any) -> wp.array:
            return wp.array(array, dtype=kind, device=device.name)

        data = NoiseData()
        data.octaves = self.octaves
        data.amplitude = put(self.heights / RMS, scalar)
        data.frequency = put(self.frequencies, scalar)
        # Lattices that share a point would share a zero there: each octave is moved.
        shifts = [random.uniform(self.seed, 0, f"noise shift {n}", 3) for n in range(self.octaves)]
        data.shift = put(np.concatenate(shifts), vec3)
        data.key = put(np.array([k.astype("<u4").view("<u8")[0] for k in self._keys]), wp.uint64)
        data.vector = put(unit_vectors(VECTORS), vec3)
        data.varies = int(self.modulation is not None)
        if self.modulation is not None:
            data.variation = self.modulation.data(device)
        return data

    def evaluate(
        self, points: npt.ArrayLike, device: str = "auto", threads: int | None = None
    ) -> tuple[Array, Array]:
        """Height (...) [m] and its gradient (..., 3) at points (..., 3) [m]."""
        x = checked_points(points, "noise")
        target = devices.resolve(device)
        launch, (value, gradient) = self.prepared(x.reshape(-1, 3), target, threads)
        launch()
        return value.numpy().reshape(x.shape[:-1]), gradient.numpy().reshape(x.shape)

    def prepared(
        self, points: Array, device: devices.Device, threads: int | None = None
    ) -> tuple[Callable[[], None], tuple[wp.array, ...]]:
        """A call that fills arrays of height and gradient on the device, and the arrays."""
        inputs = [self.data(device), devices.array(points, vec3, device)]
        kinds = (scalar, vec3)
        return devices.prepared(_height_kernel(), len(points), inputs, kinds, device, threads)

    def __repr__(self) -> str:
        return (
            f"FractalNoise(amplitude={self.amplitude:g}, wavelength={self.wavelength:g}, "
            f"octaves={self.octaves}, roughness={self.roughness:g}, "
            f"lacunarity={self.lacunarity:g}, seed={self.seed})"
        )


def unit_vectors(count: int) -> Array:
    """Unit vectors spread evenly over the sphere (Fibonacci lattice)."""
    n = np.arange(count)
    z = 1.0 - (2.0 * n + 1.0) / count
    turn = n * (math.pi * (3.0 - math.sqrt(5.0)))
    across = np.sqrt(1.0 - z * z)
    return np.column_stack([across * np.cos(turn), across * np.sin(turn), z])


@functools.cache
def _height_kernel() -> Any:
    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def evaluate_noise(
        offset: int,
        data: NoiseData,
        points: wp.array(dtype=vec3),
        height_out: wp.array(dtype=scalar),
        gradient_out: wp.array(dtype=vec3),
    ) -> None:
        i = wp.tid() + offset
        found = noise_height(data, points[i])
        height_out[i] = found.value
        gradient_out[i] = found.gradient

    return evaluate_noise
