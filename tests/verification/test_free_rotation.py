"""A rigid body without torque: I w' = (I w) x w,  q' = 1/2 q * [w, 0].

References: the closed form in Jacobi's elliptic functions for moments I1 < I2 < I3 and
w(0) = (A, 0, C) turning about axis 3,

    w = (A cn pt, B sn pt, C dn pt),  p = C sqrt((I3-I1)(I3-I2)/(I1 I2)),
    B = A sqrt(I1(I3-I1)/(I2(I3-I2))),  k^2 = I1(I2-I1)A^2/(I3(I3-I2)C^2),  period 4K/p;

the cone of a symmetric top, on which w circles the axis at (I3-I1) w3 / I1; the equations
integrated by SciPy's DOP853 and by Taylor series in extended precision; and what no motion may
change: the angular momentum in inertial axes and the energy.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from scipy.special import ellipj

from alight.core import devices, frames
from alight.vehicles.rigid.free_rotation import turn

DEVICES = [device.name for device in devices.available()]
EPS = np.finfo(float).eps
NONE = np.array([0.0, 0.0, 0.0, 1.0])

pytestmark = pytest.mark.parametrize("device", DEVICES)


def apart(q, other):
    """Largest difference of attitudes; q and -q are the same."""
    return np.minimum(np.abs(q - other).max(-1), np.abs(q + other).max(-1)).max()


def directions(rng, n):
    v = rng.normal(size=(n, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def solid(rng):
    """A random inertia that some body has, tilted against the body axes; its largest is 1."""
    integrals = rng.uniform(0.02, 1.0, 3)
    moments = integrals.sum() - integrals
    R = Rotation.random(random_state=rng).as_matrix()
    tensor = R @ np.diag(moments / moments.max()) @ R.T
    return 0.5 * (tensor + tensor.T)


# -- closed forms ------------------------------------------------------------------------------


def test_golden_triaxial(device):
    t = np.linspace(-15.0, 30.0, 91)
    _, w = turn([1.0, 2.0, 3.0], NONE, [0.5, 0.0, 1.0], t, device)
    sn, cn, dn, _ = ellipj(t, 1.0 / 12.0)
    assert np.abs(w - np.stack([0.5 * cn, 0.5 * sn, dn], -1)).max() < 100 * EPS
    _, again = turn([1.0, 2.0, 3.0], NONE, [0.5, 0.0, 1.0], 6.420600312362, device)
    assert np.abs(again - [0.5, 0.0, 1.0]).max() < 1e-12


def test_body_cone_of_a_symmetric_top(device):
    I1, I3, w3 = 1.0, 1.6, 0.8
    t = np.linspace(-20.0, 20.0, 41)
    _, w = turn([I1, I1, I3], NONE, [0.3, 0.0, w3], t, device)
    angle = (I3 - I1) * w3 / I1 * t
    expected = np.stack([0.3 * np.cos(angle), 0.3 * np.sin(angle), np.full_like(t, w3)], -1)
    assert np.abs(w - expected).max() < 20 * EPS


def test_nearly_symmetric_is_the_limit_of_symmetric(device):
    w, t = [0.3, 0.1, 0.8], np.linspace(0.0, 20.0, 21)
    q0, w0 = turn([1.0, 1.0, 1.6], NONE, w, t, device)
    for part in (1e-6, 1e-9, 1e-12):
        q1, w1 = turn([1.0, 1.0 + part, 1.6], NONE, w, t, device)
        assert apart(q1, q0) < 20.0 * part + 100 * EPS
        assert np.abs(w1 - w0).max() < 20.0 * part + 100 * EPS


# -- the equations integrated ------------------------------------------------------------------


def integrated(tensor, q, w, t):
    """DOP853 on the equations; its own error is up to 1e-11 after 200 rad."""
    inverse = np.linalg.inv(tensor)

    def slope(_, y):
        x, y_, z, s = y[:4]
        a, b, c = rate = y[4:]
        h1, h2, h3 = tensor @ rate
        torque = np.array([h2 * c - h3 * b, h3 * a - h1 * c, h1 * b - h2 * a])
        turning = [s * a + y_ * c - z * b, s * b + z * a - x * c, s * c + x * b - y_ * a]
        return np.concatenate(
            [0.5 * np.array([*turning, -x * a - y_ * b - z * c]), inverse @ torque]
        )

    solved = solve_ivp(
        slope, (0.0, t[-1]), np.r_[q, w], method="DOP853", rtol=1e-13, atol=1e-15, t_eval=t
    ).y.T
    return frames.quat_normalize(solved[:, :4]), solved[:, 4:]


def test_against_dop853(device):
    rng = np.random.default_rng(11)
    for span in (10.0, 40.0, 40.0, 40.0, 200.0, 200.0):
        tensor, w = solid(rng), directions(rng, 1)[0]
        q = Rotation.random(random_state=rng).as_quat()
        t = np.linspace(0.0, span, 9)
        q1, w1 = turn(tensor, q, w, t, device)
        q2, w2 = integrated(tensor, q, w, t)
        assert apart(q1, q2) < 5e-11
        assert np.abs(w1 - w2).max() < 5e-11


def taylor(moments, w, span, order=24):
    """Taylor series in extended precision from the attitude (0, 0, 0, 1), on principal axes.

    Steps of 1/3 rad at order 24 leave less than 1e-19 per step. ``moments`` and ``w`` are (n, 3).
    """
    I1, I2, I3 = np.asarray(moments, np.longdouble).T
    gain = np.stack([(I2 - I3) / I1, (I3 - I1) / I2, (I1 - I2) / I3], -1)
    w = np.asarray(w, np.longdouble)
    q = np.tile(NONE.astype(np.longdouble), (len(w), 1))
    steps = int(3.0 * span) + 1
    dt = np.longdouble(span) / steps
    for _ in range(steps):
        ws, qs = [w], [q]
        for n in range(order):
            a, b = np.array(ws), np.array(ws[::-1])
            x, y, z, s = np.moveaxis(np.array(qs[::-1]), -1, 0)
            c1, c2, c3 = np.moveaxis(a, -1, 0)
            rate = np.stack([c2 * b[..., 2], c3 * b[..., 0], c1 * b[..., 1]], -1).sum(0)
            turning = [s * c1 + y * c3 - z * c2, s * c2 + z * c1 - x * c3, s * c3 + x * c2 - y * c1]
            turning.append(-x * c1 - y * c2 - z * c3)
            ws.append(gain * rate * dt / (n + 1))
            qs.append(np.stack(turning, -1).sum(0) * dt / (2 * (n + 1)))
        w, q = sum(ws[::-1]), sum(qs[::-1])
    return frames.quat_normalize(q.astype(float)), w.astype(float)


def hard_cases(rng):
    """Moments and unit rates where a closed form may lose digits."""
    for part in (1e-2, 1e-6, 1e-10, 1e-13):
        for moments in (
            [1.0, 1.0 + part, 1.5],
            [1.0, 1.5, 1.5 + part],
            [1, 1 + part, 1 + 3 * part],
        ):
            for w in directions(rng, 3):
                yield moments, w
            # Between the curves that part turning about one axis from turning about another.
            for axis in (0, 2):
                narrow = directions(rng, 1)[0]
                narrow[axis] *= np.sqrt(part)
                yield moments, narrow / np.linalg.norm(narrow)
    for part in (1e-1, 1e-3, 1e-6, 1e-9, 1e-12):
        for axis in range(3):
            w = part * directions(rng, 1)[0]
            w[axis] = rng.choice([-1.0, 1.0])
            yield [1.0, 2.0, 2.5], w / np.linalg.norm(w)
    for moments in ([1e-3, 1.0, 1.0005], [1.0, 1.01, 2.01]):
        for w in directions(rng, 4):
            yield moments, w
    yield [1.0, 2.0, 2.5], np.array([0.0, 0.6, 0.8])
    yield [1.0, 2.0, 2.5], np.array([0.6, 0.0, 0.8])
    yield [1.0, 2.0, 2.5], np.array([0.6, 0.8, 0.0])


def test_hard_cases_to_rounding(device):
    span = 30.0
    cases = list(hard_cases(np.random.default_rng(5)))
    q2, w2 = taylor([case[0] for case in cases], [case[1] for case in cases], span)
    for i, (moments, w) in enumerate(cases):
        q1, w1 = turn(moments, NONE, w, span, device)
        assert apart(q1, q2[i]) < 5 * EPS * span, (moments, w)
        assert np.abs(w1 - w2[i]).max() < 5 * EPS * span, (moments, w)


@pytest.mark.parametrize("part", [1e-3, 1e-6, 1e-10, 1e-14, 0.0])
def test_near_the_separatrix(part, device):
    """h_z = wall h_x parts turning about axis 3 from turning about axis 1.

    Near it errors of h grow like exp(g t), g the growth on the intermediate axis, until the body
    has gone over: within 20 rad by less than 1e3 here.
    """
    moments, span = np.array([1.0, 2.0, 2.5]), 20.0
    rng = np.random.default_rng(2)
    h = directions(rng, 6)
    wall = np.sqrt((1.0 - 1.0 / 2.0) / (1.0 / 2.0 - 1.0 / 2.5))
    h[:, 2] = wall * h[:, 0] * (1.0 + part * np.array([1.0, -1.0] * 3))
    w = h / moments
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    q1, w1 = turn(moments, NONE, w, span, device)
    q2, w2 = taylor(np.tile(moments, (6, 1)), w, span)
    assert apart(q1, q2) < 1e3 * EPS * span
    assert np.abs(w1 - w2).max() < 1e3 * EPS * span


@pytest.mark.parametrize("part", [1e-6, 1e-9, 1e-12])
def test_a_small_departure_from_the_unstable_axis_keeps_its_digits(part, device):
    """It grows like exp(0.45 t) until the body turns over, so its own digits tell when."""
    moments, span = np.array([1.0, 2.0, 2.5]), 12.0
    w = part * directions(np.random.default_rng(4), 8)
    w[:, 1] = 1.0
    _, w1 = turn(moments, NONE, w, span, device)
    _, w2 = taylor(np.tile(moments, (8, 1)), w, span)
    small = np.abs(w2[:, [0, 2]]).max(-1, keepdims=True)
    assert (np.abs(w1 - w2)[:, [0, 2]] < 1e-12 * small).all()


# -- what no motion changes --------------------------------------------------------------------


def many(rng, n=40):
    """Random tilted bodies, some nearly symmetric, with attitudes and rates of about 1 rad/s."""
    for i in range(n):
        tensor = solid(rng)
        if i % 4 == 0:
            R = Rotation.random(random_state=rng).as_matrix()
            tensor = R @ np.diag([1.0, 1.0 + 10.0 ** -rng.uniform(0.5, 13.0), 1.7]) @ R.T
        yield tensor, Rotation.random(random_state=rng).as_quat(), directions(rng, 1)[0]


def test_angular_momentum_and_energy_over_long_times(device):
    t = np.array([1.0, 1e2, -1e4, 1e6, 1e9])
    for tensor, q0, w0 in many(np.random.default_rng(7)):
        q, w = turn(tensor, q0, w0, t, device)
        before = frames.quat_rotate(q0, tensor @ w0)
        after = frames.quat_rotate(q, w @ tensor)
        assert np.abs(after - before).max() < 40 * EPS * np.linalg.norm(before)
        energy = np.einsum("ij,ij->i", w @ tensor, w)
        assert energy == pytest.approx(w0 @ tensor @ w0, rel=40 * EPS)
        assert np.abs(np.linalg.norm(q, axis=-1) - 1.0).max() < 4 * EPS


def test_turns_compose_and_reverse(device):
    """Two turns are one; an error of h in the first shifts the phase of the second by its time."""
    t1, t2 = 300.0, -10000.0
    for tensor, q0, w0 in many(np.random.default_rng(8), 20):
        allowed = 40 * EPS * abs(t2)
        q1, w1 = turn(tensor, q0, w0, t1, device)
        q2, w2 = turn(tensor, q1, w1, t2, device)
        q, w = turn(tensor, q0, w0, t1 + t2, device)
        assert apart(q2, q) < allowed
        assert np.abs(w2 - w).max() < allowed
        back, rate = turn(tensor, q2, w2, -t1 - t2, device)
        assert apart(back, q0) < allowed
        assert np.abs(rate - w0).max() < allowed
