"""The order of every integrator, measured.

With a fixed step h a method of order p has a global error of C h^p, its embedded solution of order
q gives an error estimate of C h^(q+1) and, used to march, a global error of C h^q; dense output of
order d is off by C h^(d+1) inside one step from an exact state. The slope of log(error) over
log(h) is the order; it is fitted by least squares and must be within 0.15 of the claim.

Problems, each with its exact solution:
- Kepler:  r'' = -r/|r|^3, an ellipse of semi-axis 1 and eccentricity e from its pericentre;
           x = cos E - e, y = sqrt(1 - e^2) sin E, E - e sin E = t.
- swing:   y1' = 2t y1 ln y2, y2' = -2t y2 ln y1 (depends on t, nonlinear, coupled);
           y1 = exp(sin t^2), y2 = exp(cos t^2).
"""

import math

import numpy as np
import pytest

from alight.integrators import RK4, RK54, solve
from alight.integrators.problem import InitialValueProblem, checked_settings
from alight.integrators.runge_kutta import FixedSteps

#: How far a measured order may be from the claimed one.
MARGIN = 0.15
ECCENTRICITY = 0.3


def kepler(t, y):
    return np.concatenate([y[2:], -y[:2] / np.linalg.norm(y[:2]) ** 3])


def kepler_exact(t):
    e, b = ECCENTRICITY, math.sqrt(1.0 - ECCENTRICITY**2)
    E = t
    for _ in range(50):
        E -= (E - e * math.sin(E) - t) / (1.0 - e * math.cos(E))
    rate = 1.0 / (1.0 - e * math.cos(E))
    return np.array([math.cos(E) - e, b * math.sin(E), -rate * math.sin(E), rate * b * math.cos(E)])


def swing(t, y):
    return np.array([2.0 * t * y[0] * math.log(y[1]), -2.0 * t * y[1] * math.log(y[0])])


def swing_exact(t):
    return np.array([math.exp(math.sin(t * t)), math.exp(math.cos(t * t))])


#: Right-hand side, exact solution, where it starts, how long it runs, and steps in that time.
PROBLEMS = {
    "kepler": (kepler, kepler_exact, 0.0, 4.0, (120, 170, 240, 339, 480)),
    "swing": (swing, swing_exact, 0.5, 1.0, (40, 57, 80, 113, 160)),
}
problems = pytest.mark.parametrize("problem", PROBLEMS)
methods = pytest.mark.parametrize("tableau", [RK4, RK54], ids=lambda m: m.name)


def fitted_order(sizes, errors):
    """The slope of log(error) over log(size); errors must stand clear of rounding."""
    assert min(errors) > 1e-13
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0]


def march(tableau, name, count, embedded=False):
    """The error after ``count`` fixed steps, by the method or by its embedded solution."""
    rhs, exact, start, length, _ = PROBLEMS[name]
    problem = InitialValueProblem(rhs, (start, start + length), exact(start))
    step = length / count
    wishes = checked_settings(problem, 1e-9, 1e-9, None, math.inf, None, step)
    stepper = FixedSteps(tableau, problem, wishes)
    for n in range(count):
        taken, error = stepper.trial(start + (n + 1) * step)
        stepper.accept(taken)
        if embedded:
            stepper.y = taken.y1 - error
            stepper.slope = problem.slope(stepper.t, stepper.y)
    return np.abs(stepper.y - exact(start + length)).max()


def one_step(tableau, name, step):
    """A step from an exact state, where the solution bends: the segment and its estimate."""
    rhs, exact, start, length, _ = PROBLEMS[name]
    start += 0.4 * length
    problem = InitialValueProblem(rhs, (start, start + length), exact(start))
    wishes = checked_settings(problem, 1e-9, 1e-9, None, math.inf, None, step)
    return FixedSteps(tableau, problem, wishes).trial(start + step)


def local_sizes(name):
    """Sizes of single steps: twice those of a march, as their errors do not add up."""
    return 2.0 * PROBLEMS[name][3] / np.array(PROBLEMS[name][4])


@problems
@methods
def test_global_order(tableau, problem):
    *_, length, counts = PROBLEMS[problem]
    errors = [march(tableau, problem, n) for n in counts]
    assert fitted_order(length / np.array(counts), errors) == pytest.approx(
        tableau.order, abs=MARGIN
    )


@problems
def test_global_order_of_the_embedded_solution(problem):
    *_, length, counts = PROBLEMS[problem]
    errors = [march(RK54, problem, n, embedded=True) for n in counts]
    order = fitted_order(length / np.array(counts), errors)
    assert order == pytest.approx(RK54.error_order, abs=MARGIN)


@problems
def test_order_of_the_error_estimate(problem):
    sizes = local_sizes(problem)
    estimates = [np.abs(one_step(RK54, problem, h)[1]).max() for h in sizes]
    order = fitted_order(sizes, estimates)
    assert order == pytest.approx(RK54.error_order + 1, abs=MARGIN)


@problems
@methods
def test_order_of_dense_output(tableau, problem):
    exact = PROBLEMS[problem][1]
    sizes = local_sizes(problem)
    shares = np.array([0.2, 0.4, 0.6, 0.8])
    errors = []
    for h in sizes:
        step, _ = one_step(tableau, problem, h)
        truth = np.array([exact(step.time(theta)) for theta in shares])
        errors.append(np.abs(step.part(shares) - truth).max())
    assert fitted_order(sizes, errors) == pytest.approx(tableau.dense_order + 1, abs=MARGIN)


@problems
def test_error_follows_the_tolerance(problem):
    """An estimate of C h^5 held at a tolerance T makes steps h of T^(1/5), and the error of the
    solution of order 5, which is the one kept, falls as h^5 = T.
    """
    rhs, exact, start, length, _ = PROBLEMS[problem]
    tolerances = 10.0 ** -np.arange(5.0, 11.0)
    errors = []
    for tolerance in tolerances:
        done = solve(rhs, (start, start + length), exact(start), rtol=tolerance, atol=tolerance)
        errors.append(np.abs(done.y[-1] - exact(start + length)).max())
        # Every step adds its tolerance at most; what is added grows as it is carried along.
        assert errors[-1] < 10.0 * done.steps * tolerance
    assert fitted_order(tolerances, errors) == pytest.approx(1.0, abs=MARGIN)
