"""``Sliding``: what is refused, the parameters it hands to kernels, and ground that varies."""

import numpy as np
import pytest

from alight import engine, gravity, motions, surfaces, vehicles
from alight.contact import Ball, GroundMap, Region, Regions, Sliding
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.shapes import Mesh
from alight.vehicles.rigid import hull_meshes

POINT = vehicles.RigidLander.point(1.0)
FLAT = gravity.Uniform((0.0, 0.0, -1e-3))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"restitution": -0.1}, "restitution is -0.1"),
        ({"restitution": 1.1}, "^restitution is 1.1; .*more energy"),
        ({"restitution": np.nan}, "restitution is nan"),
        ({"restitution": [0.5, 1.5]}, "restitution is 1.5"),
        ({"restitution": 0.5, "tangential_restitution": 1.2}, "tangential_restitution is 1.2"),
        ({"restitution": 0.5, "tangential_restitution": -0.2}, "tangential_restitution is -0.2"),
        ({"restitution": 0.5, "friction": -0.1}, "friction is -0.1"),
        ({"restitution": 0.5, "friction": 0.5, "static_friction": 0.4}, "static_friction is below"),
        ({"restitution": 0.5, "hop": 0.0}, r"hop \[m\] is 0.0"),
        ({"restitution": 0.5, "hop": np.inf}, r"hop \[m\] is inf"),
        ({"restitution": 0.5, "ground": "soft"}, "ground is 'soft'"),
        ({"restitution": [0.5, 0.6], "friction": [0.1, 0.2, 0.3]}, r"numbers of runs: \[2, 3\]"),
        (
            {"restitution": 0.9, "ground": GroundMap({"restitution": np.full((7, 12), 1.2)})},
            "restitution would be 1.08",
        ),
        (
            {"restitution": 0.9, "ground": GroundMap({"rolling_resistance": np.ones((7, 12))})},
            "does not|none of",
        ),
    ],
)
def test_bad_input_is_named(given, message):
    with pytest.raises(InputError, match=message):
        Sliding(**given)


def test_rows_and_repr():
    law = Sliding([0.0, 1.0], 0.4, static_friction=0.5, tangential_restitution=0.8, hop=2e-2)
    rows = law.rows(vehicles.RigidLander.cube(0.2, 2.0))
    assert law.count == len(rows) == 2
    assert rows["restitution"].tolist() == [0.0, 1.0]
    assert rows["tangential"].tolist() == [0.8, 0.8]
    assert rows["friction"].tolist() == [0.4, 0.4]
    assert rows["static_friction"].tolist() == [0.5, 0.5]
    assert rows["hop"].tolist() == [2e-2, 2e-2]
    assert "tangential_restitution=0.8" in repr(law)
    assert Sliding(0.5, 0.7).static_friction == 0.7


def test_ground_without_a_bend_is_refused():
    facets = surfaces.Facets(hull_meshes.box((10.0, 10.0, 10.0)))
    with pytest.raises(InputError, match=r"Facets does not: take surfaces\.Parametric"):
        motions.Model(FLAT, facets, POINT, Sliding(0.5))


@pytest.mark.parametrize(
    "lander",
    [
        vehicles.RigidLander.cube(0.2, 1.0),
        vehicles.RigidLander.sphere(0.2, 1.0),
        vehicles.RigidLander("off", 1.0, (1, 1, 1), [[0.1, 0, 0]], hull_meshes.sphere(0.2)),
    ],
    ids=["cube", "sphere", "off centre"],
)
def test_landers_that_are_no_points_are_refused(lander):
    with pytest.raises(InputError, match=r"follows a point, .*RigidLander.point\(mass\)"):
        motions.Model(FLAT, surfaces.Plane(), lander, Sliding(0.5))


def test_a_point():
    made = vehicles.RigidLander.point(2.0, 0.3, name="pebble")
    assert (made.name, made.mass, made.n_points) == ("pebble", 2.0, 1)
    assert not made.points.any()
    assert not made.radii.any()
    assert made.bounding_radius == pytest.approx(0.15)
    assert isinstance(made.hull, Mesh)
    for option in ({"points": 8}, {"extra": [[0, 0, 1]]}, {"center_of_mass": [0, 0, 1]}):
        with pytest.raises(InputError, match="a point has no"):
            vehicles.RigidLander.point(1.0, **option)


@pytest.mark.validate
def test_values_of_single_runs_and_places():
    """Each run its own friction; and a region that is slippery, in which it slides on."""
    g, v = 1e-3, 0.05
    law = Sliding(0.0, [0.5, 0.25])
    start = motions.Release([[5.0, 0, 0]] * 2, [v, 0, 0])
    found = engine.run_batch(motions.Model(FLAT, surfaces.Plane(), POINT, law), start, device="cpu")
    way = found.position[:, 0] - 5.0
    assert way == pytest.approx(v**2 / (2 * g * np.array([0.5, 0.25])), rel=1e-9)
    # Ice from 2 m on: what is left of v^2 there goes on at a tenth of the friction.
    ice = Region("ice", Ball((57.0, 0.0, 0.0), 50.0), friction_factor=0.1)
    law = Sliding(0.0, 0.5, ground=Regions([ice]))
    model = motions.Model(FLAT, surfaces.Plane(), POINT, law)
    found = engine.run_batch(model, motions.Release([5.0, 0, 0], [v, 0, 0]), device="cpu")
    assert found.outcome.tolist() == [Outcome.SETTLED]
    left = v**2 - 2 * g * 0.5 * 2.0
    assert found.position[0, 0] == pytest.approx(7.0 + left / (2 * g * 0.05), rel=1e-6)


def test_one_run_is_the_same_alone_and_among_others():
    law = Sliding(0.6, 0.4, tangential_restitution=0.9)
    model = motions.Model(gravity.PointMass(30.0), surfaces.Sphere(radius=400.0), POINT, law)
    rng = np.random.default_rng(2)
    x = rng.normal(size=(20, 3))
    x *= 410.0 / np.linalg.norm(x, axis=1, keepdims=True)
    release = motions.Release(x, rng.normal(size=(20, 3)) * 0.02)
    whole = engine.run_batch(model, release, device="cpu")
    alone = engine.run_batch(model, release[7], device="cpu")
    assert (whole.position[7] == alone.position[0]).all()
    assert whole.time[7] == alone.time[0]
