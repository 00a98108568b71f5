"""What kernels do with a rigid body, against NumPy and closed forms.

m* = 1/m - [c] I^-1 [c] is the change of velocity at the contact per impulse (paper 000, eq. 20).
"""

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

from alight.core import devices
from alight.core.errors import InputError
from alight.core.types import scalar, vec3
from alight.vehicles import RigidBody, RigidLander
from alight.vehicles.rigid import data, hull_meshes

HULL = hull_meshes.box([0.1, 0.1, 0.1])


def _body(mass, inertia):
    return RigidLander("body", mass, inertia, [[0.0, 0.0, 0.0]], HULL)


def _skew(c):
    x, y, z = c
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def test_general_body_of_the_table():
    lander = _body(1.0, np.diag([0.02, 0.05, 0.06]))
    lever = [0.12, 0.09, -0.16]
    expected = [[1.647, -0.18, 0.384], [-0.18, 2.52, 0.72], [0.384, 0.72, 1.693]]
    np.testing.assert_allclose(lander.inverse_mass(lever, device="cpu"), expected, rtol=1e-13)
    found = lander.effective_mass(lever, [0.0, 0.0, 2.0], device="cpu")
    assert found == pytest.approx(1 / 1.693, rel=1e-14)


@pytest.mark.parametrize("angle", [0.1, np.pi / 4, np.arctan(2.0), 1.5])
def test_tip_of_a_slender_rod(angle):
    """m11 = 1 + 3 sin^2, m13 = 3 sin cos, m33 = 1 + 3 cos^2 of a rod of 1 kg, in contact axes."""
    length, thin = 0.7, 1e-6
    s, c = np.sin(angle), np.cos(angle)
    along = np.array([c, 0.0, -s])
    # a rod has no moment along itself; a thin one shows that it does not matter here
    inertia = length**2 / 12 * (np.eye(3) - np.outer(along, along)) + thin * np.outer(along, along)
    m = _body(1.0, inertia).inverse_mass(0.5 * length * along, device="cpu")
    expected = [1 + 3 * s**2, 3 * s * c, 1 + 3 * c**2]
    np.testing.assert_allclose([m[0, 0], m[0, 2], m[2, 2]], expected, rtol=1e-9)
    assert m[1, 1] == pytest.approx(4.0, rel=1e-9)


def test_corner_of_a_cube():
    """Along the diagonal the cube meets its whole mass; along an edge 1/m + 2 (a/2)^2 / I."""
    cube = RigidLander.cube(0.2, 1.5)
    corner = np.array([0.1, 0.1, 0.1])
    assert cube.effective_mass(corner, corner, device="cpu") == pytest.approx(1.5, rel=1e-14)
    edge = 1 / (1 / 1.5 + 2 * 0.01 / (1.5 * 0.04 / 6))
    assert cube.effective_mass(corner, [1, 0, 0], device="cpu") == pytest.approx(edge, rel=1e-14)
    # the cube of the table of impacts: its lowest corner, turned by 20, 30, 10 degrees
    turn = Rotation.from_euler("xyz", [20, 30, 10], degrees=True).as_matrix()
    corners = RigidLander.cube(0.2, 1.0).points @ turn.T
    lowest = corners[np.argmin(corners[:, 2])]
    expected = [0.032553293489, -0.054949229927, -0.160999581408]
    np.testing.assert_allclose(lowest, expected, rtol=1e-10)


def test_many_levers_against_numpy():
    rng = np.random.default_rng(7)
    turn = Rotation.random(random_state=7).as_matrix()
    lander = _body(2.5, turn @ np.diag([0.03, 0.04, 0.06]) @ turn.T)
    levers, normals = rng.normal(size=(4, 300, 3)), rng.normal(size=(4, 300, 3))
    found = lander.inverse_mass(levers, device="cpu")
    assert found.shape == (4, 300, 3, 3)
    np.testing.assert_array_equal(found, np.swapaxes(found, -1, -2))
    inverse = np.linalg.inv(lander.inertia)
    expected = np.empty_like(found)
    for index in np.ndindex(4, 300):
        c = _skew(levers[index])
        expected[index] = np.eye(3) / 2.5 - c @ inverse @ c
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12 * np.abs(expected).max())
    assert np.linalg.eigvalsh(found).min() > (1 - 1e-10) / 2.5  # never easier to move than free
    unit = normals / np.linalg.norm(normals, axis=-1, keepdims=True)
    mass = lander.effective_mass(levers, normals, device="cpu", threads=2)
    along = np.einsum("abi,abij,abj->ab", unit, expected, unit)
    np.testing.assert_allclose(mass, 1.0 / along, rtol=1e-11)


def test_levers_that_cannot_be():
    lander = RigidLander.cube(0.2, 1.0)
    with pytest.raises(InputError, match="levers must be finite"):
        lander.inverse_mass([0.0, 1.0])
    with pytest.raises(InputError, match="levers must be finite"):
        lander.inverse_mass([0.0, 1.0, np.nan])
    with pytest.raises(InputError, match="one of them is zero"):
        lander.effective_mass([0.0, 1.0, 0.0], [0.0, 0.0, 0.0])
    assert lander.inverse_mass(np.empty((0, 3)), device="cpu").shape == (0, 3, 3)


@wp.kernel(enable_backward=False)
def _motion(
    offset: int,
    body: RigidBody,
    v: vec3,
    w: vec3,
    lever: vec3,
    impulse: vec3,
    vectors_out: wp.array(dtype=vec3),
    numbers_out: wp.array(dtype=scalar),
):
    i = wp.tid() + offset
    vectors_out[i] = data.angular_acceleration(body, w, impulse)
    v2 = v + impulse / body.mass
    w2 = w + data.rate_change(body, lever, impulse)
    vectors_out[i + 1] = v2 + wp.cross(w2, lever)
    numbers_out[i] = data.linear_energy(body, v)
    numbers_out[i + 1] = data.angular_energy(body, w)
    numbers_out[i + 2] = data.linear_energy(body, v2) + data.angular_energy(body, w2)


def test_motion_in_kernels():
    turn = Rotation.from_euler("xyz", [0.3, 0.5, -0.2]).as_matrix()
    inertia = turn @ np.diag([0.03, 0.04, 0.06]) @ turn.T
    lander = _body(2.5, inertia)
    v, w, c, p = (np.random.default_rng(k).normal(size=3) for k in range(4))
    device = devices.resolve("cpu")
    vectors = wp.zeros(2, dtype=vec3, device="cpu")
    numbers = wp.zeros(3, dtype=scalar, device="cpu")
    arguments = [vec3(*v), vec3(*w), vec3(*c), vec3(*p)]
    inputs = [lander.kernel_data(device), *arguments, vectors, numbers]
    devices.launch(_motion, 1, inputs, device)
    acceleration, after = vectors.numpy()
    before = v + np.cross(w, c)
    np.testing.assert_allclose(
        acceleration, np.linalg.solve(inertia, p - np.cross(w, inertia @ w)), rtol=1e-12
    )
    # an impulse changes the velocity of its point by m* p, and does work p . (mean velocity)
    m = lander.inverse_mass(c, device="cpu")
    np.testing.assert_allclose(after - before, m @ p, rtol=1e-12)
    linear, angular, later = numbers.numpy()
    assert linear == pytest.approx(0.5 * 2.5 * v @ v, rel=1e-14)
    assert angular == pytest.approx(0.5 * w @ inertia @ w, rel=1e-14)
    assert later - linear - angular == pytest.approx(p @ (before + after) / 2, rel=1e-11)
