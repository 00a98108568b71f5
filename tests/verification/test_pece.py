"""The Adams method of variable order: what it integrates exactly, and how it behaves.

Exactness (002 Eqs. 21-36). The predictor of order k integrates the polynomial through the last k
slopes: it is exact where f is a polynomial of degree k - 1 in t (y of degree k) for any steps. The
corrector of order k + 1 uses the new slope too: exact for degree k (y of k + 1). The modified
differences follow from those of the last step, phi_{i+1}(n+1) = phi_i(n+1) - beta_i phi_i(n). All
this is checked in exact fractions, with differences made from their definition.

Behaviour, of the steps that articulated landers take, with slopes from Python. The local error is
held at the tolerance T at whatever order and step are best, so that the global error goes as T;
smooth problems at tight tolerances cost fewer slopes than RK5(4). Where the slope jumps, steps
fail, the order falls to 1 and both recover.

Reference problems, against scipy's DOP853 at 1e-13: an orbit of e = 0.3 (3 turns) and 0.9, the
Lorenz system for a short time, van der Pol's oscillator with mu = 1.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from examples.adams_steps import adams_steps
from examples.pendulum_on_stop import Pendulum, apart
from scipy.integrate import solve_ivp

from alight.integrators.adams import ERROR_CONSTANTS, MAX_ORDER, ROWS, laws

# Exactness -----------------------------------------------------------------------------------

EXACT = laws(Fraction, lambda: [Fraction(0)] * ROWS, ERROR_CONSTANTS, lambda f: f, None)

#: Unequal steps, the newest first, and the next one.
STEPS = [Fraction(n, 16) for n in (5, 9, 9, 6, 12, 24, 13, 7, 14, 11, 11, 8, 16, 10)]
NEXT = Fraction(7, 16)
NODES = [-sum(STEPS[:i], Fraction(0)) for i in range(len(STEPS) + 1)]  # x_n = 0, x_{n-1}, ...


def divided(values, nodes):
    """f[x_0, ..., x_m]."""
    if len(nodes) == 1:
        return values[0]
    upper, lower = divided(values[:-1], nodes[:-1]), divided(values[1:], nodes[1:])
    return (upper - lower) / (nodes[0] - nodes[-1])


def differences(f, nodes, count):
    """phi_1 to phi_count from their definition (002 Eqs. 23, 24); the entry 0 is not used."""
    found = [Fraction(0)]
    for i in range(1, count + 1):
        scale = math.prod((nodes[0] - nodes[j] for j in range(1, i)), start=Fraction(1))
        found.append(scale * divided([f(x) for x in nodes[:i]], nodes[:i]))
    return found


def one_step(k, degree):
    """Predicted and corrected integrals of t^degree over the next step, and the true one."""

    def f(x):
        return (x + 2) ** degree

    psi = [Fraction(0)] + [-x for x in NODES[1:ROWS]]
    _, beta, _, g = EXACT.coefficients(psi, NEXT, k, k + 1)
    phi = differences(f, NODES, k)
    stars = [b * p for b, p in zip(beta[1 : k + 1], phi[1:], strict=True)]
    predicted = NEXT * sum(w * s for w, s in zip(g[1 : k + 1], stars, strict=True))
    corrected = predicted + NEXT * g[k + 1] * (f(NEXT) - sum(stars))
    true = ((NEXT + 2) ** (degree + 1) - Fraction(2) ** (degree + 1)) / (degree + 1)
    return predicted, corrected, true


@pytest.mark.parametrize("k", range(1, MAX_ORDER + 1))
def test_exactness(k):
    for degree in range(k):
        predicted, corrected, true = one_step(k, degree)
        assert predicted == corrected == true
    predicted, corrected, true = one_step(k, k)
    assert predicted != true
    assert corrected == true
    assert one_step(k, k + 1)[1] != true


@pytest.mark.parametrize("k", range(1, MAX_ORDER + 1))
def test_differences_are_exact(k):
    """Differences renewed are those defined."""

    def f(x):
        return (x + 2) ** k

    psi = [Fraction(0)] + [-x for x in NODES[1:ROWS]]
    _, beta, sigma, _ = EXACT.coefficients(psi, NEXT, k, k + 1)
    old = differences(f, NODES, k + 1)
    new = differences(f, [NEXT, *NODES], k + 2)
    left = f(NEXT)
    for i in range(1, k + 3):
        assert left == new[i]
        left -= beta[i] * old[i] if i <= k + 1 else 0
    # sigma makes of phi_{k+1} the backward difference of equal steps: k! h^k for t^k.
    assert sigma[k + 1] * new[k + 1] == math.factorial(k) * NEXT**k


# Behaviour -----------------------------------------------------------------------------------


def kepler(t, y):
    return np.concatenate([y[2:], -y[:2] / np.linalg.norm(y[:2]) ** 3])


def ellipse(e):
    return [1.0 - e, 0.0, 0.0, math.sqrt((1.0 + e) / (1.0 - e))]


def lorenz(t, y):
    x, y, z = y
    return np.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])


def van_der_pol(t, y):
    return np.array([y[1], (1.0 - y[0] ** 2) * y[1] - y[0]])


#: Right-hand side, span, start, and how many times the tolerance the error at the end may be: each
#: problem carries the error of a step along and makes it grow (that of an orbit by the time, with
#: the speed at the pericentre; of the Lorenz system by some e^(0.9 t)), and there are 200 to 1400
#: steps. RK5(4) has like factors: 300, 450, 200 and 20.
PROBLEMS = {
    "kepler 0.3": (kepler, (0.0, 20.0), ellipse(0.3), 1500.0),
    "kepler 0.9": (kepler, (0.0, 20.0), ellipse(0.9), 6000.0),
    "lorenz": (lorenz, (0.0, 5.0), [1.0, 1.0, 1.0], 800.0),
    "van der pol": (van_der_pol, (0.0, 20.0), [2.0, 0.0], 50.0),
}
problems = pytest.mark.parametrize("name", PROBLEMS)


def best(name):
    rhs, span, y0, _ = PROBLEMS[name]
    return solve_ivp(rhs, span, y0, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]


@problems
def test_error_follows_the_tolerance(name):
    rhs, span, y0, factor = PROBLEMS[name]
    tolerances = 10.0 ** -np.arange(6.0, 12.1)
    reference, errors = best(name), []
    for tolerance in tolerances:
        done = adams_steps(rhs, span, y0, tolerance)
        errors.append(np.abs(done.y[-1] - reference).max())
        assert errors[-1] < factor * tolerance
    # Orders change with the tolerance, and with them the share of it that a step uses.
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert slope == pytest.approx(1.0, abs=0.2)


@problems
@pytest.mark.parametrize(("tolerance", "share"), [(1e-8, 0.6), (1e-10, 0.45), (1e-12, 0.25)])
def test_fewer_slopes_than_rk45(name, tolerance, share):
    rhs, span, y0, _ = PROBLEMS[name]
    rk45 = solve_ivp(rhs, span, y0, rtol=tolerance, atol=tolerance)
    assert adams_steps(rhs, span, y0, tolerance).evaluations / rk45.nfev < share


# A slope that jumps ----------------------------------------------------------------------------


def bouncing(t, y):
    """A ball on a spring that is there only below 0: the force is continuous, its slope jumps;
    a push that is there only below 0 jumps itself.
    """
    below = y[0] < 0.0
    return np.array([y[1], -1.0 - (2e3 * y[0] - 5.0 if below else 0.0)])


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8])
def test_a_jump_lowers_the_order_to_1_and_it_recovers(tolerance):
    done = adams_steps(bouncing, (0.0, 8.0), [1.0, 0.0], tolerance)
    t, order, size = done.t[:-1], done.order, done.size
    below = done.y[:, 0] < 0.0
    times = t[below[1:] != below[:-1]]
    assert len(times) >= 4
    for hit in times[::2]:  # it leaves with steps that are short already
        near = np.abs(t - hit) < 0.02
        assert order[near].min() == 1
        assert size[near].min() < 1e-2 * size.max()
    # It falls free in between, where order 2 is exact, and long steps follow.
    for before, after in zip(times[1::2], [*times[2::2], done.t[-1]], strict=True):
        assert size[(t > before) & (t < after)].max() > 0.1
    energy = 0.5 * done.y[:, 1] ** 2 + done.y[:, 0]
    flight = done.y[:, 0] > 0.0
    assert np.abs(energy[flight] - 1.0).max() < 1e4 * tolerance


def test_the_order_recovers_to_what_a_smooth_problem_is_worth():
    """An oscillator whose stiffness doubles at once: 8 and more before, 1 there, as much after."""

    def rhs(t, y):
        return np.array([y[1], -(1.0 if t < 10.0 else 2.0) * y[0]])

    done = adams_steps(rhs, (0.0, 30.0), [1.0, 0.0], 1e-8)
    t, order = done.t[:-1], done.order
    assert np.median(order[(t > 5.0) & (t < 9.5)]) >= 7
    assert order[np.abs(t - 10.0) < 0.01].min() == 1
    assert np.median(order[t > 20.0]) >= 7
    w = math.sqrt(2.0)
    phase = w * 20.0
    exact = math.cos(10.0) * math.cos(phase) - math.sin(10.0) / w * math.sin(phase)
    assert done.y[-1, 0] == pytest.approx(exact, abs=1e-6)


# The pendulum on a stop (002 Figs. 3-5) ----------------------------------------------------------


@pytest.mark.parametrize(("inertia", "span", "hits"), [(1.0 / 3.0, 4.0, 1), (1.0, 10.0, 2)])
def test_pendulum_on_a_stop(inertia, span, hits):
    """Tolerance 1e-6 against RK4 at 1e-4 s: angles differ by less than 1e-4 rad all the time."""
    case = Pendulum(inertia=inertia, span=span)
    adams, rk4 = case.adams(), case.rk4()
    assert apart(adams, rk4) < 1e-4
    times = case.touches(adams)
    assert len(times) == 2 * hits
    t, order, size = adams.t[:-1], adams.order, adams.size
    for hit in times[::2]:
        near = np.abs(t - hit) < 0.02
        assert order[near].min() == 1
        assert size[near].min() < 1e-3 * size.max()
    assert order[-1] >= 5
    assert size[-5:].min() > 0.1
    assert adams.evaluations < 0.01 * rk4.evaluations
