"""Rough: a base less its hills, consistent, safe, and cheap far away."""

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.surfaces import FractalNoise, Plane, Rough, Sphere
from alight.surfaces.noise.surface import FAR

HILLS = FractalNoise(0.1, 4.0, seed=8)
RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def ground():
    return Rough(Sphere(radius=50.0), HILLS)


@pytest.fixture(scope="module")
def close():
    u = RNG.normal(size=(20_000, 3))
    height = RNG.uniform(-0.9, 0.9, (20_000, 1)) * FAR * HILLS.max_height
    return u / np.linalg.norm(u, axis=1)[:, None] * (50.0 + height)


def test_distance_is_the_bases_less_the_height(ground, close, device):
    height, slope = HILLS.evaluate(close, device)
    base = Sphere(radius=50.0).sample(close, device)
    found = ground.sample(close, device)
    assert found.distance == pytest.approx(base.distance - height, rel=1e-12, abs=1e-12)
    assert found.gradient == pytest.approx(base.gradient - slope, rel=1e-11, abs=1e-12)


def test_gradient_is_the_slope_of_the_distance(ground, close):
    e = 1e-5
    x = close[np.abs(np.linalg.norm(close, axis=1) - 50.0) < 0.8 * FAR * HILLS.max_height]
    u = RNG.normal(size=x.shape)
    u /= np.linalg.norm(u, axis=1)[:, None]
    difference = (ground.query(x + e * u)[0] - ground.query(x - e * u)[0]) / (2 * e)
    slope = np.einsum("ij,ij->i", ground.sample(x).gradient, u)
    assert np.abs(difference - slope).max() < 1e-6


def test_far_away_it_is_a_lower_bound_with_the_bases_normal(ground):
    u = np.array([0.6, 0.0, 0.8])
    for distance in (10.0, 1000.0, -20.0):
        found = ground.sample((50.0 + distance) * u)
        sign = np.sign(distance)
        assert found.distance == pytest.approx(distance - sign * HILLS.max_height, rel=1e-12)
        assert found.normal == pytest.approx(u, rel=1e-14)


def test_coming_near_only_raises_the_distance(ground, close):
    """The hand-over at FAR heights can only step up on the way in: nothing is touched too early
    or missed."""
    edge = FAR * HILLS.max_height
    u = close / np.linalg.norm(close, axis=1)[:, None]
    outer = ground.query((50.0 + edge * 1.000001) * u)[0]
    inner = ground.query((50.0 + edge * 0.999999) * u)[0]
    assert (inner >= outer - 1e-5).all()
    assert (outer > 0.7 * edge).all()


def test_bounds_add_up(ground):
    base = Sphere(radius=50.0).bounds_to(HILLS.max_height)
    assert ground.bounds.slope == base.slope + HILLS.max_slope
    assert ground.bounds.curvature == base.curvature + HILLS.max_curvature


def test_sphere_tracing_finds_the_ground_and_never_passes_it(ground):
    """Rays walked by distance / slope end on the surface, above everything passed before."""
    u = RNG.normal(size=(200, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    reach = np.full(200, 60.0)
    for _ in range(400):
        distance = ground.query(reach[:, None] * u)[0]
        assert distance.min() > -1e-12
        reach -= distance / ground.bounds.slope
    assert distance.max() < 1e-9
    # No point between the start and the ground is inside.
    fraction = np.linspace(0.0, 0.999, 300)[:, None]
    between = 60.0 + fraction * (reach - 60.0)
    assert ground.query(between[..., None] * u)[0].min() > 0.0


def test_hills_on_hills():
    once = Rough(Plane(), HILLS)
    twice = Rough(once, FractalNoise(0.02, 0.5, octaves=1, seed=9))
    x = RNG.uniform(-0.3, 0.3, (500, 3))
    height = twice.noise.evaluate(x)[0]
    near = np.abs(once.query(x)[0]) < FAR * twice.noise.max_height
    assert near.sum() > 100
    assert twice.query(x)[0][near] == pytest.approx((once.query(x)[0] - height)[near], rel=1e-11)


def test_no_hills_change_nothing():
    flat = Rough(Plane(), FractalNoise(0.0, 4.0))
    x = RNG.normal(size=(100, 3))
    assert np.array_equal(flat.query(x)[0], Plane().query(x)[0])


def test_what_cannot_be_used():
    with pytest.raises(InputError, match="hills need a Surface"):
        Rough("plane", HILLS)
    with pytest.raises(InputError, match="FractalNoise"):
        Rough(Plane(), 0.1)
    with pytest.raises(InputError, match="lies its centre"):
        Rough(Sphere(radius=0.3), HILLS)
