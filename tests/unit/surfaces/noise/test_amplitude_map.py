"""AmplitudeMap: follows its table, without a seam, within its bounds."""

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.surfaces import AmplitudeMap, FractalNoise
from alight.surfaces.noise.amplitude_map import RESOLUTION

LATITUDE = np.radians(np.linspace(-90.0, 90.0, 37))
LONGITUDE = np.radians(np.arange(0.0, 360.0, 5.0))
#: Smooth on the sphere: 1 + z/2 + xy/2.
TABLE = (
    1.0
    + 0.5 * np.sin(LATITUDE)[:, None]
    + 0.5 * (np.cos(LATITUDE)[:, None] ** 2 * np.cos(LONGITUDE) * np.sin(LONGITUDE))
)
MAP = AmplitudeMap(TABLE, 100.0)


def factor(amplitude_map, x, device="cpu"):
    """The factor at points, from hills with it over hills without."""
    hills = {"amplitude": 1.0, "wavelength": 30.0, "octaves": 1, "seed": 1}
    plain, _ = FractalNoise(**hills).evaluate(x, device)
    varied, _ = FractalNoise(**hills, modulation=amplitude_map).evaluate(x, device)
    return varied / plain


def on_sphere(n, radius=100.0, seed=0):
    u = np.random.default_rng(seed).normal(size=(n, 3))
    return radius * u / np.linalg.norm(u, axis=1)[:, None]


def test_the_table_itself():
    assert MAP.at(LATITUDE[:, None], LONGITUDE[None, :]) == pytest.approx(TABLE, rel=1e-12)
    assert MAP.at(0.3, 0.1) == pytest.approx(MAP.at(0.3, 0.1 + 2.0 * np.pi), rel=1e-12)


def test_the_body_sees_the_table(device):
    """Smoothing by splines of spacing h adds h^2/8 of the second derivatives, about 2/r^2 each."""
    x = on_sphere(5000)
    u = x / 100.0
    wanted = 1.0 + 0.5 * u[:, 2] + 0.5 * u[:, 0] * u[:, 1]
    found = factor(MAP, x, device)
    assert np.abs(found - wanted).max() < 3.0 * (MAP.spacing / 100.0) ** 2


def test_no_seam_at_the_date_line_or_the_poles():
    t = np.linspace(-0.02, 0.02, 401)
    around = 100.0 * np.column_stack([np.cos(t), np.sin(t), np.zeros_like(t)])
    over = 100.0 * np.column_stack([np.sin(t), np.zeros_like(t), np.cos(t)])
    for track in (around, over):
        value = factor(MAP, track)
        step = np.linalg.norm(track[1] - track[0])
        assert np.abs(np.diff(value)).max() <= MAP.max_slope * step * 1.01


def test_gradient_and_bounds():
    """A table of random factors: the roughest there can be."""
    rough = AmplitudeMap(np.random.default_rng(2).uniform(0.0, 2.0, (19, 36)), 100.0)
    hills = FractalNoise(0.5, 20.0, seed=3, modulation=rough)
    rng = np.random.default_rng(4)
    x = np.concatenate([on_sphere(20_000, 90.0), rng.uniform(-250, 250, (20_000, 3))])
    u = rng.normal(size=x.shape)
    u /= np.linalg.norm(u, axis=1)[:, None]
    height, gradient = hills.evaluate(x)
    e = 1e-4
    difference = (hills.evaluate(x + e * u)[0] - hills.evaluate(x - e * u)[0]) / (2 * e)
    # Where a cell or the cube's end is crossed between the two, the curvature jumps.
    allowed = np.full(len(x), 1e-7 + e * hills.max_curvature)
    assert (np.abs(difference - np.einsum("ij,ij->i", gradient, u)) <= allowed).all()
    assert np.abs(height).max() <= hills.max_height
    assert np.linalg.norm(gradient, axis=1).max() <= hills.max_slope
    inside = np.abs(x).max(axis=1) < 150.0
    bend = np.linalg.norm(hills.evaluate(x + e * u)[1] - gradient, axis=1) / e
    assert bend[inside].max() <= hills.max_curvature


def test_a_map_of_one_half_body():
    """Hills in the north alone: the south is smooth, exactly."""
    table = np.zeros((19, 36))
    table[12:] = 1.0
    hills = FractalNoise(1.0, 10.0, modulation=AmplitudeMap(table, 100.0))
    x = on_sphere(4000)
    height, _ = hills.evaluate(x)
    assert not height[x[:, 2] < 0.0].any()
    assert np.sqrt(np.mean(height[x[:, 2] > 70.0] ** 2)) == pytest.approx(1.0, rel=0.2)


def test_resolution():
    assert MAP.spacing == pytest.approx(200.0 / RESOLUTION)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([1.0, 2.0], "shape"),
        ([[1.0, 2.0]], "at least 2 latitudes"),
        ([[1.0, np.nan], [1.0, 1.0]], "finite"),
        ("map", "shape"),
        ([[1.0, -0.5], [1.0, 1.0]], "holds -0.5"),
    ],
)
def test_maps_that_cannot_be_used(values, says):
    with pytest.raises(InputError, match=says):
        AmplitudeMap(values, 100.0)
    with pytest.raises(InputError, match="radius"):
        AmplitudeMap(TABLE, 0.0)
