"""The rotation of the target.

Torque-free rotation, in principal axes with moments I1 < I2 < I3 and Omega(0) = (A, 0, C):

    Omega = (A cn(p t), B sn(p t), C dn(p t)),   p^2 = C^2 (I3 - I1)(I3 - I2)/(I1 I2)

with period 4 K(k)/p. The attitude follows q' = 1/2 q * [Omega, 0], and q carries I Omega into the
same inertial vector at all times. In the turning frame a free particle obeys

    x'' = -Omega x (Omega x x) - 2 Omega x v - dOmega/dt x x

(paper 000 Eq. 2 with its left side corrected, and the last term that it leaves out).
References: the closed forms; SciPy's DOP853 on Euler's equations at a tolerance of 1e-13, whose
own error grows to some 1e-12 over the spans used here.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj

from alight.core import devices, frames
from alight.flight import Tumbling, UniformRotation
from alight.scenario import bodies

DEVICES = [device.name for device in devices.available()]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def integrated(inertia, rate, q_NT, times):
    """Omega and q_NT by DOP853."""

    def slope(_t, y):
        turn = np.linalg.solve(inertia, np.cross(inertia @ y[:3], y[:3]))
        return np.concatenate([turn, frames.quat_rate(y[3:], y[:3])])

    start = np.concatenate([rate, q_NT])
    span = (0.0, times[-1])
    y = solve_ivp(slope, span, start, "DOP853", times, rtol=1e-13, atol=1e-15).y.T
    return y[:, :3], frames.quat_normalize(y[:, 3:])


def apart(q, other):
    """Largest difference of quaternions up to sign."""
    sign = np.sign(np.sum(q * other, -1, keepdims=True))
    return np.abs(sign * q - other).max()


def random_body(seed, kind):
    """Inertia in axes of no meaning, rate and attitude."""
    rng = np.random.default_rng(seed)
    moments = np.sort(rng.uniform(1.0, 1.9, 3))
    if kind == "oblate":
        moments[1] = moments[0]
    if kind == "prolate":
        moments[1] = moments[2]
    turn = frames.quat_to_matrix(frames.quat_normalize(rng.normal(size=4)))
    inertia = turn @ np.diag(moments) @ turn.T
    lean = {"short": [0.2, 0.5, 1.0], "long": [1.0, 0.5, 0.2]}.get(kind, rng.normal(size=3))
    return 0.5 * (inertia + inertia.T), turn @ lean, frames.quat_normalize(rng.normal(size=4))


def test_golden_period_and_rates(device):
    """I = (1, 2, 3), A = 0.5, C = 1: p = 1, B = 0.5, k^2 = 1/12, period 6.420600312362."""
    law = Tumbling((1.0, 2.0, 3.0), (0.5, 0.0, 1.0))
    assert law.period == pytest.approx(6.420600312362, abs=1e-12)
    assert law.body.parameter == pytest.approx(1 / 12, rel=1e-14)
    times = np.linspace(0.0, law.period, 101)
    sn, cn, dn, _ = ellipj(times, 1 / 12)
    expected = np.column_stack([0.5 * cn, 0.5 * sn, dn])
    assert law.evaluate(times, device)[0] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("kind", ["short", "long", "any", "oblate", "prolate"])
def test_against_dop853_over_many_periods(kind, device):
    inertia, rate, start = random_body(10, kind)
    law = Tumbling(inertia, rate, start)
    times = np.linspace(0.0, 10 * law.period, 201)
    omega, slope, q_NT = law.evaluate(times, device)
    omega_ref, q_ref = integrated(inertia, rate, start, times)
    # DOP853 at 1e-13 a step: its error grows with the angle turned, some 200 to 400 rad here.
    bound = 3e-14 * np.linalg.norm(rate) * times[-1]
    assert np.abs(omega - omega_ref).max() < bound * np.linalg.norm(rate)
    assert apart(q_NT, q_ref) < bound
    euler = np.linalg.solve(inertia, np.cross(omega @ inertia, omega).T).T
    assert slope == pytest.approx(euler, abs=1e-13)


@pytest.mark.parametrize("kind", ["short", "long", "oblate", "prolate"])
def test_inertial_momentum_and_energy_stay(kind, device):
    inertia, rate, start = random_body(4, kind)
    law = Tumbling(inertia, rate, start)
    times = np.random.default_rng(0).uniform(0.0, 1e6 * law.period, 2000)
    omega, _, q_NT = law.evaluate(times, device)
    momentum = frames.quat_rotate(q_NT, omega @ inertia)
    first = frames.quat_rotate(start, inertia @ rate)
    size = np.linalg.norm(first)
    # The table is right to 1e-13 of Omega; moments differ by less than a factor of two.
    assert np.abs(momentum - first).max() < 4e-13 * size
    energy = np.einsum("ti,ij,tj->t", omega, inertia, omega)
    assert energy == pytest.approx(rate @ inertia @ rate, rel=4e-13)
    assert law.momentum_direction == pytest.approx(first / size, abs=1e-14)


def test_attitude_follows_the_rate(device):
    """Central difference of q over h: error h^2/6 of its third derivative, about (|Omega|/2)^3."""
    inertia, rate, start = random_body(7, "long")
    law = Tumbling(inertia, rate, start)
    step = 1e-4
    times = np.linspace(0.0, 3 * law.period, 300)
    before, after = (law.evaluate(times + s, device)[2] for s in (-step, step))
    omega, _, q_NT = law.evaluate(times, device)
    slope = (after - before) / (2 * step)
    bound = 2 * step**2 / 6 * np.linalg.norm(rate) ** 3 + 1e-12 / step
    assert np.abs(slope - frames.quat_rate(q_NT, omega)).max() < bound


def test_symmetric_top(device):
    """Omega circles the axis at (I3 - I1) Omega3/I1, which circles H at H/I1."""
    along, across = 1.5, 1.0
    rate = np.array([0.3, 0.0, 0.8])
    law = Tumbling((across, across, along), rate)
    cone = (along - across) * rate[2] / across
    assert law.period == pytest.approx(2 * np.pi / cone, rel=1e-13)
    H = np.hypot(across * rate[0], along * rate[2])
    assert law.precession_rate == pytest.approx(H / across, rel=1e-13)
    times = np.linspace(0.0, 200.0, 101)
    angle = cone * times
    expected = np.column_stack([0.3 * np.cos(angle), 0.3 * np.sin(angle), np.full(101, 0.8)])
    assert law.evaluate(times, device)[0] == pytest.approx(expected, abs=1e-12)


def test_toutatis(device):
    """Periods of 5.41 d about the long axis and 7.35 d of precession.

    The catalogue's Omega takes the mean of the two larger moments, which are 4 % apart: the
    periods come out right to about the square of the difference and the tilt, a percent.
    """
    toutatis = bodies.find("toutatis")
    tumbling = toutatis.tumbling
    law = Tumbling(tumbling.inertia_ratios, tumbling.spin_vector)
    assert not law.body.about_shortest
    assert law.period == pytest.approx(tumbling.long_axis_period, rel=0.03)
    precession = 2 * np.pi / law.precession_rate
    assert precession == pytest.approx(tumbling.precession_period, rel=0.03)
    # Three years on: the long axis keeps its tilt from H within what the two moments allow.
    times = np.random.default_rng(2).uniform(0.0, 1e8, 1000)
    q_NT = law.evaluate(times, device)[2]
    long_axis = frames.quat_rotate(q_NT, [1.0, 0.0, 0.0])
    tilt = np.degrees(np.arccos(long_axis @ law.momentum_direction))
    assert np.ptp(tilt) < 3.0
    inertia = np.diag(tumbling.inertia_ratios)
    times = np.linspace(0.0, 20 * law.period, 50)
    omega, _, q_NT = law.evaluate(times, device)
    omega_ref, q_ref = integrated(inertia, tumbling.spin_vector, [0, 0, 0, 1.0], times)
    assert np.abs(omega - omega_ref).max() < 1e-10 * np.linalg.norm(tumbling.spin_vector)
    assert apart(q_NT, q_ref) < 1e-10


@pytest.mark.parametrize("kind", ["uniform", "tumbling"])
def test_a_free_particle_flies_straight(kind):
    """Integrate the equation of motion in T; in N the path is a straight line."""
    inertia, rate, start = random_body(2, "long")
    law = (
        UniformRotation(omega=rate, q_NT=start)
        if kind == "uniform"
        else Tumbling(inertia, rate, start)
    )

    def slope(t, y):
        x, v = y[:3], y[3:]
        (omega,), (turn,), _ = law.evaluate([t], "cpu")
        force = -np.cross(omega, np.cross(omega, x)) - 2 * np.cross(omega, v) - np.cross(turn, x)
        return np.concatenate([v, force])

    x0, v0 = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.2, -0.1])
    y = solve_ivp(slope, (0.0, 5.0), [*x0, *v0], "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    inertial_velocity = v0 + np.cross(rate, x0)
    expected = frames.quat_rotate(start, x0 + 5.0 * inertial_velocity)
    q_NT = law.evaluate(5.0, "cpu")[2]
    assert frames.quat_rotate(q_NT, y[:3]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kind", ["uniform", "tumbling"])
def test_a_free_lander_keeps_its_inertial_momentum(kind):
    """w' = -I^-1 (w* x I w*) - w* x w - R^T Omega', w* = w + R^T Omega (papers 000-3, 004-1).

    With constant Omega, w.I w/2 - Omega_b.I Omega_b/2, the turning part of E_J, stays as well.
    """
    inertia, rate, start = random_body(2, "long")
    law = (
        UniformRotation(omega=rate, q_NT=start)
        if kind == "uniform"
        else Tumbling(inertia, rate, start)
    )
    own = np.array([0.5, 0.8, 0.9])

    def slope(t, y):
        q_TB, w = y[:4], y[4:]
        (omega,), (turn,), _ = law.evaluate([t], "cpu")
        total = frames.inertial_rate(q_TB, w, omega)
        euler = -np.cross(total, own * total) / own
        w_slope = euler - np.cross(total, w) - frames.quat_rotate_inv(q_TB, turn)
        return np.concatenate([frames.quat_rate(q_TB, w), w_slope])

    first = np.array([0.1, 0.2, -0.3, 0.9, 0.4, -0.2, 0.3])
    first[:4] = frames.quat_normalize(first[:4])
    times = np.linspace(0.0, 10.0, 5)
    y = solve_ivp(slope, (0.0, 10.0), first, "DOP853", times, rtol=1e-11, atol=1e-12).y.T
    omega, _, q_NT = law.evaluate(times, "cpu")
    q_TB, w = frames.quat_normalize(y[:, :4]), y[:, 4:]
    total = frames.inertial_rate(q_TB, w, omega)
    momentum = frames.quat_rotate(frames.quat_multiply(q_NT, q_TB), own * total)
    assert momentum == pytest.approx(np.tile(momentum[0], (5, 1)), abs=1e-9)
    if kind == "uniform":
        carried = total - w
        energy = np.sum(own * (w * w - carried * carried), axis=1)
        assert energy == pytest.approx(energy[0], abs=1e-9)
    else:
        energy = np.sum(own * total * total, axis=1)
        assert energy == pytest.approx(energy[0], rel=1e-9)
