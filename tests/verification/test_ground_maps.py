"""Ground that varies: each place has its own restitution and friction.

- Dropped on two halves of a sphere, a ball leaves each at its own e u, whatever the scheme. Errors
  are those of one ground: 5e-4 (1 - e^2) by weight and some 3e-4 by steps (test_restitution).
- A hit keeps the restitution of the place where it began; friction follows the place.
- On a plane without friction a cube slides at v; where friction mu begins it is stopped within
  v^2/(2 mu g). It feels the ground under its centre, a step late: v dt of the way.
- On a map whose factors are all 1, every run has the bits that it has without a map.
- No contact gives energy, wherever edges of regions lie.
"""

import numpy as np
import pytest

from alight import contact, engine, flight, gravity, motions, surfaces, vehicles
from alight.contact import Ball, Box, Cap, GroundMap, Region, Regions
from alight.core import devices, frames
from alight.core.outcomes import Outcome

DEVICES = [device.name for device in devices.available()]
RADIUS = 250.0
G = 1e-4
BALL = vehicles.RigidLander.sphere(0.2, 1.0)
CUBE = vehicles.RigidLander.cube(0.2, 1.0)
#: The smooth scheme reads the ground by the same function, and is not compiled for it every day.
SCHEMES = ["clipped", pytest.param("smooth", marks=pytest.mark.validate)]
NORTH = Box(0.0, np.pi / 2, -np.pi, np.pi)


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def sphere_model(law, lander=BALL, max_time=100.0, rate=0.0):
    return motions.Model(
        gravity.PointMass(G * RADIUS**2),
        surfaces.Sphere(radius=RADIUS),
        lander,
        law,
        rotation=flight.UniformRotation(rate),
        stop=engine.Stop(max_time=max_time),
    )


def dropped(law, latitudes, longitudes, speed, device="cpu", max_time=100.0):
    """First contacts of balls that come straight down, and how fast they came and left."""
    up = frames.direction(latitudes, longitudes)
    model = sphere_model(law, max_time=max_time)
    release = motions.Release(up * (RADIUS + 0.1 + 0.02), -speed * up)
    result = engine.run_batch(model, release, device=device)
    _, rows = np.unique(result.touches["run"], return_index=True)
    assert len(rows) == len(release)
    hit = result.touches[rows]
    return hit, -hit["normal_speed_out"] / hit["normal_speed_in"]


# -- restitution ----------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_region_has_its_restitution(scheme, device):
    """A half by its value, a cap by a factor on the rest, and the rest."""
    ground = Regions(
        [
            Region("north", NORTH, restitution=0.8),
            Region("pond", Cap(-0.8, 1.0, 0.2), restitution_factor=0.5),
        ]
    )
    law = contact.Compliant(restitution=0.6, friction=0.0, scheme=scheme, ground=ground, depth=1e-4)
    lat, lon = [0.7, 0.05, -0.05, -0.8, -0.8], [2.0, -1.0, -1.0, 1.1, 2.0]
    hit, got = dropped(law, lat, lon, 0.05, device, max_time=10.0)
    # Of the speed the springs return, weight takes a little on the way out.
    assert got == pytest.approx([0.8, 0.8, 0.6, 0.3, 0.6], abs=1e-3)
    assert (hit["energy_out"] < hit["energy_in"]).all()


def test_factors_multiply_what_each_run_has():
    """Dispersed values and a map combine: e of the run times the factor of the place."""
    table = np.repeat([[1.2], [1.0], [0.5]], 8, axis=1)
    e = np.array([0.3, 0.5, 0.8])
    law = contact.Compliant(restitution=e, friction=0.0, ground=GroundMap({"restitution": table}))
    lat = np.radians([45.0, -45.0, 0.0])
    _, got = dropped(law, lat, [0.3, 0.4, 3.1], 0.05, max_time=10.0)
    assert got == pytest.approx(e * [0.75, 1.1, 1.0], abs=1e-3)


def test_values_of_a_region_may_differ_from_run_to_run():
    each = np.array([0.2, 0.5, 0.9])
    ground = Regions([Region("north", NORTH, restitution=each)])
    law = contact.Compliant(restitution=0.6, friction=0.0, ground=ground)
    assert law.count == 3
    _, got = dropped(law, [0.5, 0.5, 0.5], [0.0, 1.0, 2.0], 0.05, max_time=10.0)
    assert got == pytest.approx(each, abs=1e-3)


def test_a_hit_keeps_the_restitution_it_began_with():
    """Fast across an edge: in a hit of 30 ms the ball goes 3 cm, from e = 0.9 to e = 0.3."""
    ground = Regions([Region("east", Box(-np.pi / 2, np.pi / 2, 0.0, np.pi), restitution=0.3)])
    law = contact.Compliant(restitution=0.9, friction=0.0, ground=ground, depth=1e-2)
    model = sphere_model(law, max_time=5.0)
    before = np.linspace(-0.06, 0.02, 33)
    angle = before / RADIUS
    place = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1) * (RADIUS + 0.1 + 1e-3)
    release = motions.Release(place, np.tile([-0.1, 1.0, 0.0], (len(before), 1)))
    hit = engine.run_batch(model, release).touches
    hit = hit[np.unique(hit["run"], return_index=True)[1]]
    got = -hit["normal_speed_out"] / hit["normal_speed_in"]
    began_east = hit["place"][:, 1] > 0.0
    left_east = hit["place"][:, 1] + (hit["end"] - hit["start"]) > 0.0
    assert (left_east & ~began_east).sum() > 5
    assert began_east.any()
    # The sphere falls away under it by 1e-3 of the depth while it is pressed in.
    assert got == pytest.approx(np.where(began_east, 0.3, 0.9), abs=5e-3)


# -- friction -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_sliding_into_friction(scheme, device):
    """No friction up to the edge of the region at x = 0, then mu: it stops at v^2/(2 mu g)."""
    g, speed, mu = 5.7e-3, 0.05, np.array([0.3, 0.6])
    far = 1e4
    ground = Regions([Region("sand", Ball((far, 0.0, 0.0), far), friction=mu)])
    law = contact.Compliant(
        restitution=0.5,
        friction=0.0,
        rolling_resistance=0.0,
        ground=ground,
        scheme=scheme,
        speed=0.01,
    )
    model = motions.Model(
        gravity.Uniform((0.0, 0.0, -g)),
        surfaces.Plane(),
        CUBE,
        law,
        stop=engine.Stop(max_time=120.0),
    )
    place = np.tile([-0.3, 0.0, 0.1], (2, 1))
    result = engine.run_batch(model, motions.Release(place, (speed, 0.0, 0.0)), device=device)
    stop = speed**2 / (2.0 * mu * g)
    # Clipped: the edge is found within a step, dt of some 20 ms when lying still: v dt = 1 mm.
    # Smooth: steps shrink until they have found it; sticking creeps at slip_speed for a second.
    assert result.position[:, 0] == pytest.approx(stop, abs=1e-3 if scheme == "clipped" else 1e-4)
    assert (result.outcome == Outcome.SETTLED).all()


def test_a_slope_holds_only_where_there_is_friction():
    """tan 20 deg = 0.36: held in the region with 0.6, sliding beside it with 0.1."""
    theta, g = np.radians(20.0), 5.7e-3
    ground = Regions([Region("rough", Ball((0.0, 10.0, 0.0), 5.0), friction=0.6)])
    law = contact.Compliant(restitution=0.5, friction=0.1, ground=ground)
    model = motions.Model(
        gravity.Uniform((g * np.sin(theta), 0.0, -g * np.cos(theta))),
        surfaces.Plane(),
        CUBE,
        law,
        stop=engine.Stop(max_time=60.0),
    )
    release = motions.Release([[0.0, 10.0, 0.1], [0.0, 0.0, 0.1]])
    result = engine.run_batch(model, release)
    assert result.outcome.tolist() == [Outcome.SETTLED, Outcome.TIMED_OUT]
    assert abs(result.position[0, 0]) < 1e-3
    pull = g * (np.sin(theta) - 0.1 * np.cos(theta))
    assert result.position[1, 0] == pytest.approx(0.5 * pull * 60.0**2, rel=1e-2)


def test_rolling_resistance_of_a_region():
    """A rolling ball is slowed by 5/7 C_RR g/R once it is in the region."""
    g, speed, c = 5.7e-3, 0.05, 2e-3
    ground = Regions([Region("soft", Ball((1e4, 0.0, 0.0), 1e4), rolling_resistance=c)])
    law = contact.Compliant(restitution=0.5, friction=0.6, rolling_resistance=0.0, ground=ground)
    model = motions.Model(
        gravity.Uniform((0.0, 0.0, -g)),
        surfaces.Plane(),
        BALL,
        law,
        stop=engine.Stop(max_time=1000.0),
    )
    rate = (0.0, speed / 0.1, 0.0)
    release = motions.Release((-0.3, 0.0, 0.1), (speed, 0.0, 0.0), rate=rate)
    result = engine.run_batch(model, release)
    way = speed**2 / (2.0 * 5.0 / 7.0 * c * g / 0.1)
    assert result.outcome[0] == Outcome.SETTLED
    assert result.position[0, 0] == pytest.approx(way, rel=1e-2)


def same_bits(one, other):
    """Whether two structured arrays agree in every field; what lies between fields is no matter."""
    if one.dtype.names is None:
        return one.tobytes() == other.tobytes()
    return all(same_bits(one[name], other[name]) for name in one.dtype.names)


# -- nothing else changes -------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_map_of_ones_changes_no_bit(scheme, device):
    rng = np.random.default_rng(3)
    up = rng.normal(size=(6, 3))
    up /= np.linalg.norm(up, axis=1)[:, None]
    release = motions.Release(
        up * (RADIUS + 1.0),
        0.03 * rng.normal(size=(6, 3)) - 0.05 * up,
        rate=0.1 * rng.normal(size=(6, 3)),
    )
    results = []
    ones = GroundMap({name: np.ones((4, 5)) for name in ("restitution", "friction")})
    for ground in (None, ones):
        law = contact.Compliant(
            restitution=0.5, friction=0.5, static_friction=0.7, scheme=scheme, ground=ground
        )
        model = sphere_model(law, CUBE, 1500.0 if scheme == "clipped" else 400.0, rate=2e-4)
        results.append(engine.run_batch(model, release, device=device))
    one, other = results
    assert one.bounces.sum() >= 6
    assert same_bits(one.final, other.final)
    assert same_bits(one.touches, other.touches)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_edges_give_no_energy(scheme, device):
    """Tumbling over a chessboard of cells as small as the lander's hops: E_J never rises."""
    rng = np.random.default_rng(5)
    chess = np.indices((91, 180)).sum(axis=0) % 2
    chess[0], chess[-1] = 0, 0
    board = GroundMap(
        {
            "restitution": np.where(chess, 1.0, 0.3),
            "friction": np.where(chess, 1.5, 0.0),
            "rolling_resistance": np.where(chess, 3.0, 0.0),
        }
    )
    law = contact.Compliant(restitution=1.0, friction=0.6, ground=board, scheme=scheme)
    n = 12 if scheme == "clipped" else 4
    up = rng.normal(size=(n, 3))
    up /= np.linalg.norm(up, axis=1)[:, None]
    release = motions.Release(
        up * (RADIUS + 1.0),
        0.1 * rng.normal(size=(n, 3)) - 0.05 * up,
        rate=0.3 * rng.normal(size=(n, 3)),
    )
    model = sphere_model(law, CUBE, 3000.0, rate=2e-4)
    result = engine.run_batch(model, release, device=device)
    touch = result.touches
    scale = 0.5 * (0.1**2 + 2.0 * G * 1.0)
    assert len(touch) > 3 * n
    assert (touch["energy_out"] - touch["energy_in"]).max() < 1e-9 * scale
    # What steps of finite length gave and was taken back is small.
    assert result.final["gain"].max() < 2e-3 * scale
    assert not np.isin(result.outcome, [Outcome.NOT_FINITE, Outcome.STEP_FLOOR]).any()
