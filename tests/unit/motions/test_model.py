"""Models, stops and steps: what is refused, and what two models share."""

import numpy as np
import pytest

from alight import contact, engine, flight, gravity, motions, surfaces, vehicles
from alight.core.errors import InputError

GRAVITY = gravity.Uniform((0.0, 0.0, -1e-3))
CONTACT = contact.Compliant(restitution=0.5)


@pytest.mark.parametrize(
    "name", ["gravity", "surface", "lander", "contact", "rotation", "stop", "steps"]
)
def test_each_part_must_be_of_its_kind(cube, name):
    parts = {"gravity": GRAVITY, "surface": surfaces.Plane(), "lander": cube, "contact": CONTACT}
    with pytest.raises(InputError, match=f"{name} is 'granite'; it must be"):
        motions.Model(**{**parts, name: "granite"})


def test_externals_must_be_laws(cube):
    with pytest.raises(InputError, match="externals hold 3"):
        motions.Model(GRAVITY, surfaces.Plane(), cube, CONTACT, externals=(3.0,))


@pytest.mark.parametrize("name", ["max_time", "settle_speed", "settle_rate", "settle_time"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, "soon"])
def test_limits_are_positive(name, value):
    with pytest.raises(InputError, match=name):
        engine.Stop(**{name: value})


@pytest.mark.parametrize("value", [0.0, -5.0, np.nan])
def test_escape_radius_is_positive(value):
    with pytest.raises(InputError, match="escape_radius"):
        engine.Stop(escape_radius=value)


@pytest.mark.parametrize("value", [0, 2.5, True])
def test_max_steps_is_whole(value):
    with pytest.raises(InputError, match="max_steps"):
        engine.Stop(max_steps=value)


@pytest.mark.parametrize("name", ["tolerance", "longest", "shortest"])
@pytest.mark.parametrize("value", [0.0, -1e-9, np.inf])
def test_steps_are_positive(name, value):
    with pytest.raises(InputError, match=name):
        motions.Steps(**{name: value})


@pytest.mark.parametrize("mass", [0.0, -1.0, np.nan])
def test_a_lander_has_mass(mass):
    with pytest.raises(InputError, match="mass"):
        vehicles.RigidLander.cube(0.2, mass)


def test_an_inertia_no_body_has_is_refused():
    with pytest.raises(InputError, match="largest exceeds the sum of the other two"):
        vehicles.RigidLander.cube(0.2, 1.0, inertia=(1.0, 1.0, 3.0))


def test_models_of_the_same_kinds_share_their_kernel(cube):
    one = motions.Model(GRAVITY, surfaces.Plane(), cube, CONTACT)
    other = motions.Model(
        gravity.Uniform((0.0, 0.0, -2.0)),
        surfaces.Plane(normal=(1.0, 0.0, 0.0)),
        vehicles.RigidLander.sphere(1.0, 2.0),
        contact.Compliant(restitution=[0.1, 0.2]),
        flight.UniformRotation(1e-4),
    )
    assert one.composition() is other.composition()


def test_least_mass_is_met_at_the_longest_lever(cube):
    """1/m + R^2/I for a cube, whose inertia is the same about every axis."""
    model = motions.Model(GRAVITY, surfaces.Plane(), cube, CONTACT)
    expected = 1.0 / (1.0 + 0.03 / (0.04 / 6.0))
    assert model.lightest == pytest.approx(expected)


def test_no_hit_meets_less_than_the_lightest_mass():
    """1/m_n = 1/m + (r x n).I^-1 (r x n) over levers r to the bounding sphere and directions n."""
    lander = vehicles.RigidLander.box((1.0, 0.2, 0.1), mass=3.0)
    lightest = motions.Model(GRAVITY, surfaces.Plane(), lander, CONTACT).lightest
    rng = np.random.default_rng(4)
    r, n = rng.normal(size=(2, 200_000, 3))
    r *= lander.bounding_radius / np.linalg.norm(r, axis=1, keepdims=True)
    turn = np.cross(r, n / np.linalg.norm(n, axis=1, keepdims=True))
    met = 1.0 / (1.0 / 3.0 + np.einsum("ni,ij,nj->n", turn, lander.inverse_inertia, turn))
    assert lightest < met.min() < 1.01 * lightest
