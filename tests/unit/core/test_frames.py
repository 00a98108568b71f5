"""Quaternions, directions and local frames against SciPy, closed forms and each other.

Tolerances are a few units in the last place: eps = 2.2e-16, and no function here does more than
some twenty operations on numbers of order one.
"""

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

from alight.core import frames
from alight.core.devices import available, launch
from alight.core.types import mat33, quat, scalar, vec2, vec3

ULPS = 20 * np.finfo(float).eps


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(7)


@pytest.fixture(scope="module")
def rotations(rng):
    """Random rotations, with half turns and small turns, where formulas lose digits."""
    half_turns = np.pi * np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.8, 0], [0, 0.6, -0.8]])
    small = 1e-9 * rng.normal(size=(5, 3))
    random = Rotation.random(200, rng=rng)
    return Rotation.concatenate(
        [random, Rotation.from_rotvec(half_turns), Rotation.from_rotvec(small)]
    )


def _same_rotation(a, b):
    """Quaternions equal up to sign."""
    signs = np.sign(np.sum(a * b, -1, keepdims=True))
    return np.allclose(a, signs * b, rtol=0, atol=ULPS)


def test_rotate_agrees_with_scipy(rotations, rng):
    q, v = rotations.as_quat(), rng.normal(size=(len(rotations), 3))
    scale = np.linalg.norm(v, axis=-1, keepdims=True)
    assert np.all(np.abs(frames.quat_rotate(q, v) - rotations.apply(v)) <= ULPS * scale)
    assert np.all(np.abs(frames.quat_rotate_inv(q, v) - rotations.inv().apply(v)) <= ULPS * scale)


def test_multiply_agrees_with_scipy_and_chains(rotations, rng):
    other = Rotation.random(len(rotations), rng=rng)
    product = frames.quat_multiply(rotations.as_quat(), other.as_quat())
    assert _same_rotation(product, (rotations * other).as_quat())
    v = rng.normal(size=3)
    chained = frames.quat_rotate(rotations.as_quat(), frames.quat_rotate(other.as_quat(), v))
    assert np.allclose(frames.quat_rotate(product, v), chained, rtol=0, atol=ULPS * 4)


def test_matrices_agree_with_scipy(rotations):
    q = rotations.as_quat()
    assert np.allclose(frames.quat_to_matrix(q), rotations.as_matrix(), rtol=0, atol=ULPS)
    back = frames.quat_from_matrix(rotations.as_matrix())
    assert _same_rotation(back, q)
    assert np.all(back[..., 3] >= 0)


def test_from_matrix_keeps_small_rotations():
    # Reading the scalar part first would leave a small angle with half its digits.
    angle = 1e-7
    R = frames.quat_to_matrix(frames.quat_from_axis_angle([0, 0, 1], angle))
    assert frames.quat_from_matrix(R)[2] == pytest.approx(np.sin(angle / 2), rel=1e-14)


def test_axis_angle_agrees_with_scipy(rng):
    axis, angle = rng.normal(size=(50, 3)), rng.uniform(-7, 7, 50)
    unit = axis / np.linalg.norm(axis, axis=-1, keepdims=True)
    expected = Rotation.from_rotvec(unit * angle[:, None]).as_quat()
    assert _same_rotation(frames.quat_from_axis_angle(axis, angle), expected)


def test_quarter_turn_about_z_takes_x_to_y():
    q_TB = frames.quat_from_axis_angle([0, 0, 2.0], np.pi / 2)
    assert np.allclose(q_TB, [0, 0, np.sqrt(0.5), np.sqrt(0.5)], rtol=0, atol=ULPS)
    assert np.allclose(frames.quat_rotate(q_TB, [1, 0, 0]), [0, 1, 0], rtol=0, atol=ULPS)


def test_normalize(rng):
    q = rng.normal(size=(20, 4)) * 1e3
    unit = frames.quat_normalize(q)
    assert np.allclose(np.linalg.norm(unit, axis=-1), 1, rtol=ULPS)
    assert np.allclose(np.cross(unit[:, :3], q[:, :3]), 0, atol=1e3 * ULPS)
    assert np.all(np.isnan(frames.quat_normalize(np.zeros(4))))


def test_rate_is_the_derivative_under_a_constant_body_rate(rotations, rng):
    """q(t) = q0 * exp(w t / 2): the central difference over h errs by |w|^3 h^2 / 48."""
    q0, w, h = rotations.as_quat(), rng.normal(size=(len(rotations), 3)), 1e-4

    def at(t):
        angle = np.linalg.norm(w, axis=-1) * t
        return frames.quat_multiply(q0, frames.quat_from_axis_angle(w, angle))

    measured = (at(h) - at(-h)) / (2 * h)
    error = np.linalg.norm(measured - frames.quat_rate(q0, w), axis=-1)
    speed = np.linalg.norm(w, axis=-1)
    assert np.all(error <= 2 * speed**3 * h**2 / 48 + 4 * ULPS / h)


def test_inertial_rate_of_a_body_at_rest_is_the_spin_of_the_target(rotations):
    q, spin = rotations.as_quat(), np.array([0.1, -0.2, 0.3])
    w_NB_B = frames.inertial_rate(q, np.zeros(3), spin)
    assert np.allclose(frames.quat_rotate(q, w_NB_B), spin, rtol=0, atol=ULPS)


def test_skew_is_the_cross_product(rng):
    a, b = rng.normal(size=(2, 30, 3))
    product = np.einsum("nij,nj->ni", frames.skew(a), b)
    assert np.allclose(product, np.cross(a, b), rtol=0, atol=10 * ULPS)


def test_directions_of_the_axes():
    quarter = np.pi / 2
    found = frames.direction([0, 0, quarter, -quarter, 0], [0, quarter, 0, 0, np.pi])
    expected = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, -1], [-1, 0, 0]]
    assert np.allclose(found, expected, rtol=0, atol=ULPS)


def test_latitude_longitude_inverts_direction(rng):
    latitude, longitude = rng.uniform(-1.57, 1.57, 300), rng.uniform(-np.pi, np.pi, 300)
    radius = rng.uniform(1, 1e4, (300, 1))
    back = frames.latitude_longitude(radius * frames.direction(latitude, longitude))
    assert np.allclose(back[0], latitude, rtol=0, atol=ULPS)
    # Near the poles a unit of the last place of x and y is a larger part of the longitude.
    assert np.all(np.abs(back[1] - longitude) <= ULPS / np.cos(latitude))


def test_longitude_has_one_value_everywhere():
    zero = -0.0
    _, longitude = frames.latitude_longitude([[-1, zero, 0], [0, zero, 1], [zero, 0, 1]])
    assert np.array_equal(longitude, [np.pi, 0.0, 0.0])


def test_local_frame_is_east_north_up(rng):
    up = rng.normal(size=(200, 3))
    R = frames.local_frame(up)
    east, north, third = np.moveaxis(R, -1, 0)
    unit = up / np.linalg.norm(up, axis=-1, keepdims=True)
    assert np.allclose(third, unit, rtol=0, atol=ULPS)
    assert np.allclose(np.einsum("nij,nik->njk", R, R), np.eye(3), rtol=0, atol=ULPS)
    assert np.allclose(np.linalg.det(R), 1, rtol=0, atol=ULPS)
    latitude, longitude = frames.latitude_longitude(up)
    step = 1e-6
    eastward = frames.direction(latitude, longitude + step) - unit
    northward = frames.direction(latitude + step, longitude) - unit
    assert np.all(np.sum(east * eastward, -1) >= 0.999 * step * np.cos(latitude))
    assert np.all(np.sum(north * northward, -1) >= 0.999 * step)


def test_local_frame_at_the_poles_is_that_of_longitude_zero():
    for sign in (1.0, -1.0):
        expected = np.array([[0, 1, 0], [-sign, 0, 0], [0, 0, sign]]).T
        assert np.array_equal(frames.local_frame([0, 0, 5.0 * sign]), expected)


# --- Kernels: Warp's functions keep our conventions, ours agree with NumPy ---------------------


@wp.kernel
def _kernel(
    offset: int,
    # in
    q: wp.array(dtype=quat),
    v: wp.array(dtype=vec3),
    # out
    rotated_out: wp.array(dtype=vec3),
    back_out: wp.array(dtype=vec3),
    square_out: wp.array(dtype=quat),
    matrix_out: wp.array(dtype=mat33),
    from_matrix_out: wp.array(dtype=quat),
    axis_angle_out: wp.array(dtype=quat),
    skew_out: wp.array(dtype=mat33),
    rate_out: wp.array(dtype=quat),
    latlon_out: wp.array(dtype=vec2),
):
    i = wp.tid() + offset
    rotated_out[i] = wp.quat_rotate(q[i], v[i])
    back_out[i] = wp.quat_rotate_inv(q[i], v[i])
    square_out[i] = q[i] * quat(scalar(0.6), scalar(0.0), scalar(0.0), scalar(0.8))
    matrix_out[i] = wp.quat_to_matrix(q[i])
    from_matrix_out[i] = wp.quat_from_matrix(wp.quat_to_matrix(q[i]))
    axis_angle_out[i] = wp.quat_from_axis_angle(wp.normalize(v[i]), scalar(1.25))
    skew_out[i] = wp.skew(v[i])
    rate_out[i] = frames.wp_quat_rate(q[i], v[i])
    latlon_out[i] = frames.wp_latitude_longitude(v[i])


@pytest.mark.parametrize("device", available(), ids=str)
def test_kernels_agree_with_numpy(device, rotations, rng):
    q, v = rotations.as_quat(), rng.normal(size=(len(rotations), 3))
    v[:2] = [[0, 0, 2.0], [0, 0, -0.5]]
    kinds = [vec3, vec3, quat, mat33, quat, quat, mat33, quat, vec2]
    out = [wp.zeros(len(q), dtype=kind, device=device.name) for kind in kinds]
    given = [
        wp.array(q, dtype=quat, device=device.name),
        wp.array(v, dtype=vec3, device=device.name),
    ]
    launch(_kernel, len(q), given, device, outputs=out)
    latitude, longitude = frames.latitude_longitude(v)
    expected = [
        frames.quat_rotate(q, v),
        frames.quat_rotate_inv(q, v),
        frames.quat_multiply(q, [0.6, 0, 0, 0.8]),
        frames.quat_to_matrix(q),
        q,
        frames.quat_from_axis_angle(v, 1.25),
        frames.skew(v),
        frames.quat_rate(q, v),
        np.stack([latitude, longitude], -1),
    ]
    for kind, (found, wanted) in enumerate(zip(out, expected, strict=True)):
        numbers = found.numpy()
        if kind == 4:  # the sign of a quaternion is free
            assert _same_rotation(numbers, wanted)
        else:
            assert np.allclose(numbers, wanted, rtol=0, atol=4 * ULPS), f"output {kind}"


@pytest.mark.parametrize(
    ("one", "other"), [((3,), (3,)), ((5, 3), (5, 3)), ((3,), (7, 3)), ((4, 1, 3), (6, 3))]
)
def test_cross_products_have_the_bits_of_numpys_own(one, other):
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=one), rng.normal(size=other)
    assert frames.cross(a, b).tobytes() == np.cross(a, b).tobytes()


def test_rotation_vectors_there_and_back():
    """Down to no turn at all; a turn beyond half a circle is shown the shorter way."""
    way = np.random.default_rng(9).normal(size=(20, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    for angle in (0.0, 1e-300, 1e-9, 0.3, 3.1):
        v = angle * way
        assert frames.rotation_vector(frames.quat_from_rotation_vector(v)) == pytest.approx(
            v, rel=1e-13, abs=1e-300
        )
    longer = frames.rotation_vector(frames.quat_from_rotation_vector(5.0 * way))
    assert longer == pytest.approx((5.0 - 2.0 * np.pi) * way, rel=1e-13)
