"""Friction that sticks, by itself: a block on a plane that is pulled, pushed and let go.

Held: z = P / k below the limit, and nothing moves. Sliding: a = (P - mu N) / m. Energy:
m v^2 / 2 + k z^2 / 2 - (work of P) = -(what is lost), which only grows.
"""

import numpy as np
import pytest
from examples.adams_steps import Steps, adams_steps
from scipy.integrate import solve_ivp

from alight.contact.stick_friction import evaluate_stick

MASS, STIFFNESS, RELAXATION, LIMIT = 5.0, 2e4, 0.03, 2.0


def pulled(pull, limit=lambda t: LIMIT):
    """Slope of x, v (along x), strain, and energy lost, under a force ``pull(t)`` [N]."""

    def slope(t, y):
        strain, slip = (y[2], 0.0, 0.0), (y[1], 0.0, 0.0)
        force, rate, _, lost = evaluate_stick(strain, slip, limit(t), STIFFNESS, RELAXATION)
        return np.array([y[1], (pull(t) + force[0]) / MASS, rate[0], float(lost)])

    return slope


def energy(y):
    return 0.5 * MASS * y[:, 1] ** 2 + 0.5 * STIFFNESS * y[:, 2] ** 2


def test_power_balances_and_is_never_gained():
    """force . u + k z . z' = -lost <= 0, for any strain, slip, limit and normal."""
    rng = np.random.default_rng(3)
    n = 2000
    normal = rng.normal(size=(n, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    strain = rng.normal(size=(n, 3)) * 1e-4 * 10.0 ** rng.uniform(-3, 1, (n, 1))
    slip = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-5, 0, (n, 1))
    force, rate, slides, lost = evaluate_stick(
        strain, slip, LIMIT, STIFFNESS, RELAXATION, normal=normal
    )
    along = slip - (slip * normal).sum(1)[:, None] * normal
    power = (force * along).sum(1) + STIFFNESS * (strain * rate).sum(1)
    np.testing.assert_allclose(power, -lost, rtol=1e-9, atol=1e-12)
    assert (lost >= 0.0).all()
    assert 0.1 < slides.mean() < 0.9
    size = np.linalg.norm(force, axis=1)
    np.testing.assert_allclose(size[slides], LIMIT, rtol=1e-14)
    assert (size[~slides] <= LIMIT).all()
    np.testing.assert_allclose((force * normal).sum(1), 0.0, atol=1e-14)


def test_what_stands_still_below_the_limit_does_not_move_at_all():
    """At 0.999999 of the limit: no rate, and exactly the force of the spring."""
    strain = np.array([0.6, 0.8, 0.0]) * 0.999999 * LIMIT / STIFFNESS
    force, rate, slides, lost = evaluate_stick(strain, (0, 0, 0), LIMIT, STIFFNESS, RELAXATION)
    assert rate.tolist() == [0.0, 0.0, 0.0]
    assert force.tolist() == (-STIFFNESS * strain).tolist()
    assert not slides
    assert lost == 0.0


def test_off_the_ground_nothing_is_felt():
    force, rate, slides, lost = evaluate_stick(
        (1e-4, 0, 0), (1.0, 0, 0), 0.0, STIFFNESS, RELAXATION
    )
    assert not force.any()
    assert not rate.any()
    assert slides
    assert lost == 0.0


def test_slope_is_continuous_at_the_limit():
    """Just below and just above: the same force and rate."""
    strain, slip = (0.5 * LIMIT / STIFFNESS, 0, 0), (0.5 * LIMIT / STIFFNESS / RELAXATION, 0, 0)
    below, above = (
        evaluate_stick(strain, slip, LIMIT * (1.0 + e), STIFFNESS, RELAXATION)
        for e in (1e-12, -1e-12)
    )
    assert not below[2]
    assert above[2]
    np.testing.assert_allclose(above[0], below[0], rtol=1e-11)
    np.testing.assert_allclose(above[1], below[1], rtol=1e-11)


def runge_kutta(slope, span, y0):
    """By SciPy's RK5(4), at the tolerances of the other."""
    done = solve_ivp(slope, span, y0, rtol=1e-9, atol=1e-14)
    return Steps(done.t, done.y.T, np.full(done.t.size - 1, 5), 0, done.nfev)


def adams(slope, span, y0):
    """By the steps of articulated landers."""
    return adams_steps(slope, span, y0, 1e-9, 1e-14)


each_method = pytest.mark.parametrize("solve", [runge_kutta, adams])


@each_method
def test_a_block_pulled_below_the_limit_stays(solve):
    """A ramp of 1 s to 0.99 of the limit, then on: P / k away, at rest."""
    done = solve(pulled(lambda t: 0.99 * LIMIT * min(1.0, t)), (0.0, 2.0), np.zeros(4))
    give = 0.99 * LIMIT / STIFFNESS
    late = done.y[done.t > 1.5]
    np.testing.assert_allclose(late[:, 0], give, rtol=1e-5)
    assert np.ptp(late[:, 0]) < 1e-5 * give
    np.testing.assert_allclose(done.y[:, 0], done.y[:, 2], rtol=0.0, atol=1e-12)  # never slid


@each_method
def test_a_block_pulled_above_the_limit_slides_at_it(solve):
    """The limit is exact: a = (P - mu N) / m once the spring is drawn."""
    done = solve(pulled(lambda t: 1.5 * LIMIT), (0.0, 2.0), np.zeros(4))
    first, last = np.searchsorted(done.t, 1.0), -1
    gained = done.y[last, 1] - done.y[first, 1]
    assert gained == pytest.approx(0.5 * LIMIT / MASS * (done.t[last] - done.t[first]), rel=1e-8)
    assert done.y[-1, 2] == pytest.approx(LIMIT / STIFFNESS, rel=1e-8)
    work = 1.5 * LIMIT * (done.y[:, 0] - done.y[0, 0])
    np.testing.assert_allclose(energy(done.y) + done.y[:, 3], work, rtol=0.0, atol=1e-6 * work[-1])


@each_method
def test_a_block_comes_to_a_stop_and_stays(solve):
    """v^2 m / (2 mu N), but for the spring's own L / k; then not a hair further."""
    done = solve(pulled(lambda t: 0.0), (0.0, 2.0), [0.0, 0.4, 0.0, 0.0])
    distance = MASS * 0.4**2 / (2.0 * LIMIT)
    assert done.y[-1, 0] == pytest.approx(distance, abs=2.0 * LIMIT / STIFFNESS)
    late = done.y[done.t > 1.8]
    assert np.ptp(late[:, 0]) < 1e-9
    total = energy(done.y)
    assert (np.diff(done.y[:, 3]) >= -1e-12).all()
    np.testing.assert_allclose(total + done.y[:, 3], total[0], rtol=2e-6)


def test_energy_falls_whatever_the_limit_does():
    """A block that rings on its spring while the normal force swings to nearly nothing and back."""
    slope = pulled(lambda t: 0.0, limit=lambda t: LIMIT * (1.001 + np.sin(9.0 * t)))
    done = runge_kutta(slope, (0.0, 1.0), [0.0, 0.01, 0.0, 0.0])
    total = energy(done.y)
    assert (np.diff(total) <= 1e-12).all()
    np.testing.assert_allclose(total + done.y[:, 3], total[0], rtol=1e-6)
