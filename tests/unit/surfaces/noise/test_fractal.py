"""FractalNoise: statistics, gradient, bounds, repeatability."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import jv

from alight.core.errors import InputError
from alight.surfaces import AmplitudeMap, FractalNoise
from alight.surfaces.noise import fractal
from alight.surfaces.noise.fractal import RMS, WAVELENGTH, unit_vectors

RNG = np.random.default_rng(0)
POINTS = RNG.uniform(-3000.0, 3000.0, (100_000, 3))
UNIT = FractalNoise(RMS, WAVELENGTH, octaves=1)  # one octave in lattice units


def test_root_mean_square_constant():
    variance, _ = quad(lambda r: 8.0 * math.pi / 3.0 * (0.5 - r * r) ** 8 * r**4, 0.0, 0.5**0.5)
    assert pytest.approx(math.sqrt(variance), rel=1e-12) == RMS


def test_wavelength_constant():
    """The kernel d (a^2 - r^2)^4, a^2 = 1/2, has the spectrum J_13/2(ka) / (ka)^11/2 squared."""
    peak = minimize_scalar(lambda z: -(z**-4.5) * jv(6.5, z), bounds=(1, 9), method="bounded").x
    assert pytest.approx(2.0 * math.pi * 0.5**0.5 / peak, rel=1e-6) == WAVELENGTH


@pytest.mark.parametrize("octaves", [1, 4])
@pytest.mark.parametrize("roughness", [0.5, 0.8])
def test_root_mean_square_height_is_the_amplitude(octaves, roughness, device):
    """100 000 points are about as many independent hills: 3 standard errors are 1 %."""
    hills = FractalNoise(0.3, 7.0, octaves, roughness, seed=11)
    height, gradient = hills.evaluate(POINTS, device)
    assert np.sqrt(np.mean(height**2)) == pytest.approx(0.3, rel=0.01)
    assert abs(height.mean()) < 0.005
    # No direction of its own: the mean square slope is the same along every axis.
    square = np.mean(gradient**2, axis=0)
    assert square == pytest.approx(square.mean(), rel=0.03)
    turned = np.mean((gradient @ np.ones(3) / math.sqrt(3.0)) ** 2)
    assert turned == pytest.approx(square.mean(), rel=0.03)


def test_the_spectrum_peaks_at_the_wavelength():
    """Periodogram of straight tracks: a line through an isotropic field of radial spectrum E(k)
    sees the integral of E(k)/k over k above its own, so its mean square slope over its variance
    is a third of the mean of k^2 under E."""
    wavelength = 12.0
    hills = FractalNoise(1.0, wavelength, octaves=1, seed=4)
    height, gradient = hills.evaluate(POINTS)
    found = np.mean(gradient[:, 0] ** 2) / np.mean(height**2)
    a = 0.5**0.5

    def moment(power):
        return quad(lambda z: z**power * (jv(6.5, z) / z**5.5) ** 2 * z**2, 1e-9, 60.0, limit=400)[
            0
        ]

    k2 = moment(2) / moment(0) / a**2  # mean square wave number, per lattice unit
    assert found == pytest.approx(k2 / 3.0 * (WAVELENGTH / wavelength) ** 2, rel=0.02)


def test_gradient_is_the_slope_of_the_height(device):
    """Central differences of step e err by e^2 h'''/6 and by rounding of h and of x."""
    hills = FractalNoise(0.3, 7.0, seed=2)
    x = POINTS[:20_000]
    u = RNG.normal(size=x.shape)
    u /= np.linalg.norm(u, axis=1)[:, None]
    e = 1e-4
    difference = (hills.evaluate(x + e * u, device)[0] - hills.evaluate(x - e * u, device)[0]) / (
        2 * e
    )
    slope = np.einsum("ij,ij->i", hills.evaluate(x, device)[1], u)
    assert np.abs(difference - slope).max() < 1e-6 * hills.max_slope


def test_height_slope_and_curvature_stay_within_their_bounds():
    hills = FractalNoise(0.3, 7.0, seed=3)
    height, gradient = hills.evaluate(POINTS)
    u = RNG.normal(size=POINTS.shape)
    u *= 1e-5 / np.linalg.norm(u, axis=1)[:, None]
    bend = np.linalg.norm(hills.evaluate(POINTS + u)[1] - gradient, axis=1) / 1e-5
    for found, bound in (
        (np.abs(height), hills.max_height),
        (np.linalg.norm(gradient, axis=1), hills.max_slope),
        (bend, hills.max_curvature),
    ):
        # Bounds hold for the worst of all possible hills; 100 000 points reach a good part.
        assert 0.25 * bound < found.max() <= bound * (1.0 + 1e-6)


def test_bound_constants_are_the_worst_that_vectors_can_do():
    """Each corner's share at its worst, summed over a tetrahedron, maximised by random search."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1.0]])
    corners -= corners.sum(axis=1, keepdims=True) / 6.0
    rng = np.random.default_rng(5)
    # Inside, and on edges and faces, where two of the maxima lie.
    weight = np.concatenate([rng.dirichlet([a] * 4, 20_000) for a in (1.0, 0.3, 0.05)])
    points = np.concatenate([weight @ corners, np.mean(corners, axis=0)[None]])
    points = np.concatenate([points, 0.5 * (corners[:, None] + corners).reshape(-1, 3)])
    found = np.zeros((3, len(points)))
    for c in corners:
        r = np.linalg.norm(points - c, axis=1)
        t = np.maximum(0.5 - r * r, 0.0)
        found[0] += t**4 * r
        found[1] += np.maximum(t**4, np.abs(t**4 - 8.0 * t**3 * r * r))
        found[2] += _largest_bend(r, t)
    bounds = np.array([fractal.MAX_VALUE, fractal.MAX_SLOPE, fractal.MAX_BEND])
    assert (found.max(axis=1) <= bounds).all()
    assert (found.max(axis=1) >= 0.998 * bounds).all()


def _largest_bend(r, t):
    """Norm of the second derivative of t^4 g.d over all directions of the unit vector g."""
    angle = np.linspace(0.0, 0.5 * np.pi, 61)[:, None]
    c, s = np.cos(angle), np.sin(angle)
    across = -8.0 * t**3 * r * c
    along = 3.0 * across + 48.0 * t**2 * r**3 * c
    mixed = -8.0 * t**3 * r * s
    mean, spread = 0.5 * (along + across), np.hypot(0.5 * (along - across), mixed)
    return np.maximum(np.abs(mean) + spread, np.abs(across)).max(axis=0)


def test_no_jump_between_tetrahedra():
    """Along a fine track the slope changes by no more than the curvature allows."""
    t = np.linspace(0.0, 6.0, 60_001)[:, None]
    track = np.array([0.1, 0.2, 0.3]) + t * np.array([0.7, -0.5, 0.61])
    height, gradient = UNIT.evaluate(track)
    step = float(np.linalg.norm(track[1] - track[0]))
    assert np.abs(np.diff(height)).max() <= UNIT.max_slope * step * 1.0001
    change = np.linalg.norm(np.diff(gradient, axis=0), axis=1)
    assert change.max() <= UNIT.max_curvature * step * 1.0001


def test_lattice_vectors_are_independent():
    """At a lattice point the gradient is t^4 g: neighbours and far points must not agree."""
    raw = FractalNoise(RMS, WAVELENGTH, octaves=1, seed=6)
    shift = raw.data(_cpu()).shift.numpy()[0]
    i = np.random.default_rng(7).integers(-(10**6), 10**6, (20_000, 3)).astype(float)

    def vectors(cells):
        place = cells - cells.sum(axis=1, keepdims=True) / 6.0 - shift
        return raw.evaluate(place)[1] / 0.0625

    g = vectors(i)
    assert np.linalg.norm(g, axis=1) == pytest.approx(1.0, rel=1e-6)
    limit = 4.0 / math.sqrt(3.0 * len(g))
    assert np.abs(g.mean(axis=0)).max() < limit
    for step in ([1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1], [1, -1, 0], [256, 0, 0],
                 [0, 65536, 0], [2, 3, 5]):  # fmt: skip
        together = np.mean(np.einsum("ij,ij->i", g, vectors(i + step)))
        assert abs(together) < limit, step


def _cpu():
    from alight.core import devices

    return devices.resolve("cpu")


def test_the_seed_alone_decides():
    x = POINTS[:1000]
    one = FractalNoise(0.3, 7.0, seed=9).evaluate(x)
    again = FractalNoise(0.3, 7.0, seed=9).evaluate(x[::-1])
    assert all(np.array_equal(a, b[::-1]) for a, b in zip(one, again, strict=True))
    other = FractalNoise(0.3, 7.0, seed=10).evaluate(x)[0]
    assert abs(np.corrcoef(one[0], other)[0, 1]) < 0.1


def test_frozen_hills():
    """A change of the hash or of the addressing would change every stored campaign."""
    height, gradient = FractalNoise(0.3, 7.0, seed=1).evaluate([12.5, -340.25, 77.0])
    assert height == pytest.approx(FROZEN[0], rel=1e-11)
    assert gradient == pytest.approx(FROZEN[1:], rel=1e-10)


FROZEN = (-0.09099485180163762, 0.19325629036268802, 0.2033716907113179, -0.045785131859769804)


def test_octaves():
    hills = FractalNoise(1.0, 8.0, octaves=3, roughness=0.5, lacunarity=3.0)
    assert hills.heights[1:] / hills.heights[:-1] == pytest.approx([0.5, 0.5])
    assert np.sum(hills.heights**2) == pytest.approx(1.0)
    assert hills.frequencies[1:] / hills.frequencies[:-1] == pytest.approx([3.0, 3.0])


def test_no_height_at_all():
    hills = FractalNoise(0.0, 8.0)
    assert not np.any(hills.evaluate(POINTS[:100])[0])
    assert hills.max_height == hills.max_slope == 0.0


def test_table_of_vectors_is_even():
    v = unit_vectors(256)
    assert np.linalg.norm(v, axis=1) == pytest.approx(1.0, rel=1e-14)
    assert np.abs(v.mean(axis=0)).max() < 1e-3
    assert v.T @ v / 256.0 == pytest.approx(np.eye(3) / 3.0, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"amplitude": -1.0}, "amplitude .*at least 0"),
        ({"wavelength": 0.0}, "wavelength"),
        ({"octaves": 0}, "octaves"),
        ({"octaves": 2.5}, "octaves"),
        ({"octaves": True}, "octaves"),
        ({"octaves": 99}, "octaves"),
        ({"roughness": 0.0}, "roughness"),
        ({"lacunarity": 1.0}, "lacunarity .*above 1"),
        ({"seed": -1}, "seed"),
        ({"modulation": [1.0]}, "AmplitudeMap"),
    ],
)
def test_what_cannot_be_used(change, says):
    with pytest.raises(InputError, match=says):
        FractalNoise(**{"amplitude": 1.0, "wavelength": 5.0, **change})


def test_name():
    assert repr(FractalNoise(1, 5)).startswith("FractalNoise(amplitude=1, wavelength=5, octaves=4")


def test_a_map_scales_the_hills():
    """A constant map scales everything; bounds too."""
    plain = FractalNoise(0.3, 7.0, seed=2)
    scaled = FractalNoise(0.3, 7.0, seed=2, modulation=AmplitudeMap(np.full((3, 4), 2.0), 1000.0))
    x = POINTS[:2000] / 4.0
    for a, b in zip(plain.evaluate(x), scaled.evaluate(x), strict=True):
        assert b == pytest.approx(2.0 * a, rel=1e-12, abs=1e-13)
    assert scaled.max_slope == pytest.approx(2.0 * plain.max_slope)
