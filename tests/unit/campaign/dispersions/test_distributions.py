"""Each kind of dispersion has the distribution it is named for, and says what is wrong with it.

Draws are compared with their distribution functions by the test of Kolmogorov and Smirnov, at a
fixed seed. ``bent`` uniform numbers (u to the power of 1.06) are a wrong answer that every such
check must notice.
"""

import math

import numpy as np
import pytest
from scipy import stats

from alight.campaign.dispersions.distributions import KINDS, make
from alight.campaign.dispersions.quantiles import covariance_root, normal_quantile
from alight.core import frames, random
from alight.core.errors import InputError

N = 20_000
#: A right answer falls below this once in ten thousand seeds; the seed is fixed.
ODDS = 1e-4


def numbers(dims, bent=False):
    u = random.uniform(7, np.arange(N), "test of kinds", dims)
    return u**1.06 if bent else u


def fits(values, cdf):
    return stats.kstest(values, cdf).pvalue > ODDS


def angles(v, axis):
    return np.arccos(np.clip(v @ axis / np.linalg.norm(v, axis=1), -1.0, 1.0))


def azimuths(v):
    return (np.arctan2(v[:, 1], v[:, 0]) + math.pi) / (2 * math.pi)


def normal_checks(v):
    return [(v[:, i], stats.norm([1.0, 2.0, 3.0][i], 0.5).cdf) for i in range(3)]


def truncated_checks(v):
    return [(v[:, 0], stats.truncnorm((0.5 - 1) / 0.4, (1.2 - 1) / 0.4, 1.0, 0.4).cdf)]


def tail_checks(v):
    return [(v[:, 0], stats.truncnorm(6.0, 7.0, 0.0, 1.0).cdf)]


def uniform_checks(v):
    return [(v[:, i], stats.uniform(-1.0 - i, 3.0 + 2 * i).cdf) for i in range(2)]


def log_normal_checks(v):
    return [(v[:, 0], stats.lognorm(0.3, scale=2.0).cdf)]


def disc_checks(v):
    d = v - [1.0, 2.0, 3.0]
    return [(np.hypot(d[:, 0], d[:, 1]), lambda r: (r / 0.7) ** 2), (azimuths(d), "uniform")]


def ball_checks(v):
    d = v - [1.0, 2.0, 3.0]
    r = np.linalg.norm(d, axis=1)
    # Archimedes: each coordinate of an even direction is even between -1 and 1.
    even = [(d[:, i] / r, stats.uniform(-1.0, 2.0).cdf) for i in range(3)]
    return [(r, lambda r: (r / 0.7) ** 3), *even]


def cone_checks(v):
    axis = np.array([1.0, 2.0, 3.0]) / math.sqrt(14.0)
    most = 1.0 - math.cos(0.4)
    local = v @ frames.local_frame(axis)
    return [(angles(v, axis), lambda a: (1.0 - np.cos(a)) / most), (azimuths(local), "uniform")]


def cap_checks(v):
    up = frames.direction(0.5, 3.0)
    place = frames.direction(v[:, 0], v[:, 1])
    most = 1.0 - math.cos(0.4)
    local = place @ frames.local_frame(up)
    return [(angles(place, up), lambda a: (1.0 - np.cos(a)) / most), (azimuths(local), "uniform")]


def turned_checks(q):
    axis = np.array([0.1, 0.2, 0.3, 0.9])
    turn = frames.quat_multiply(q, frames.quat_conjugate(frames.quat_normalize(axis)))
    angle = 2.0 * np.arccos(np.clip(turn[:, 3], 0.0, 1.0))
    length = np.linalg.norm(turn[:, :3], axis=1)
    even = [(turn[:, i] / length, stats.uniform(-1.0, 2.0).cdf) for i in range(3)]
    return [(angle, lambda a: (a - np.sin(a)) / (0.7 - math.sin(0.7))), *even]


def orientation_checks(q):
    # The angle of an even rotation has the density (1 - cos a)/pi; any vector ends anywhere.
    angle = 2.0 * np.arccos(np.clip(np.abs(q[:, 3]), 0.0, 1.0))
    turned = frames.quat_rotate(q, np.array([0.6, 0.0, 0.8]))
    even = [(turned[:, i], stats.uniform(-1.0, 2.0).cdf) for i in range(3)]
    return [(angle, lambda a: (a - np.sin(a)) / math.pi), *even]


MATRIX = np.diag([4.0, 1.0, 9.0, 0.01, 0.04, 0.01])
MATRIX[0, 3] = MATRIX[3, 0] = 0.8 * 2.0 * 0.1
MATRIX[1, 2] = MATRIX[2, 1] = -0.5 * 3.0


def covariance_checks(v):
    sigma = np.sqrt(np.diag(MATRIX))
    scaled = v / sigma
    # Any sum of components is normal, with the variance that the matrix says.
    pair = scaled[:, 0] - scaled[:, 3]
    one = [(scaled[:, i], stats.norm.cdf) for i in range(6)]
    return [*one, (pair, stats.norm(0.0, math.sqrt(2.0 - 1.6)).cdf)]


def choice_checks(v):
    # Numbers 0, 1, 2 with an even number added are continuous, as the test wants.
    jitter = random.uniform(3, np.arange(N), "jitter")[:, 0]
    return [(v[:, 0] + jitter, lambda x: np.interp(x, [0, 1, 2, 3], [0, 0.2, 0.5, 1.0]))]


CASES = {
    "normal": ("normal", [1.0, 2.0, 3.0], {"sigma": 0.5}, normal_checks),
    "truncated": ("truncated", 1.0, {"sigma": 0.4, "low": 0.5, "high": 1.2}, truncated_checks),
    "far tail": ("truncated", 0.0, {"sigma": 1.0, "low": 6.0, "high": 7.0}, tail_checks),
    "uniform": ("uniform", [0, 0], {"low": [-1, -2], "high": [2, 3]}, uniform_checks),
    "log-normal": ("log-normal", 2.0, {"sigma": 0.3}, log_normal_checks),
    "disc": ("disc", [1.0, 2.0, 3.0], {"radius": 0.7}, disc_checks),
    "ball": ("ball", [1.0, 2.0, 3.0], {"radius": 0.7}, ball_checks),
    "cone": ("cone", [1.0, 2.0, 3.0], {"half_angle": 0.4}, cone_checks),
    "cap": ("cap", [0.5, 3.0], {"half_angle": 0.4}, cap_checks),
    "orientation": ("orientation", [0, 0, 0, 1], {}, orientation_checks),
    "turned": ("orientation", [0.1, 0.2, 0.3, 0.9], {"half_angle": 0.7}, turned_checks),
    "covariance": ("covariance", np.zeros(6), {"matrix": MATRIX}, covariance_checks),
    "choice": ("choice", 0.0, {"values": [0, 1, 2], "weights": [2, 3, 5]}, choice_checks),
}


def test_every_kind_has_a_case():
    assert {case[0] for case in CASES.values()} == set(KINDS) - {"sweep"}  # it draws nothing


@pytest.mark.parametrize("case", CASES)
def test_distribution(case):
    name, nominal, parameters, checks = CASES[case]
    kind = make(name, nominal, parameters)
    values = kind.draw(numbers(kind.dims))
    assert values.shape == (N, kind.width)
    assert all(fits(*check) for check in checks(values))
    bent = kind.draw(numbers(kind.dims, bent=True))
    assert not all(fits(*check) for check in checks(bent)), "the check cannot fail"


@pytest.mark.parametrize("case", CASES)
def test_each_row_by_itself(case):
    """The bits of a row do not depend on the rows around it."""
    name, nominal, parameters, _ = CASES[case]
    kind = make(name, nominal, parameters)
    u = numbers(kind.dims)[:101]
    whole = kind.draw(u)
    for i in (0, 1, 50, 100):
        assert np.array_equal(kind.draw(u[i : i + 1])[0], whole[i])


@pytest.mark.parametrize("case", CASES)
def test_ends_of_the_unit_interval_are_finite(case):
    name, nominal, parameters, _ = CASES[case]
    kind = make(name, nominal, parameters)
    for u in (0.0, 0.5, 1.0 - 2.0**-53):
        assert np.isfinite(kind.draw(np.full((1, kind.dims), u))).all()


def test_limits_hold_exactly():
    kind = make("truncated", 1.0, {"sigma": 10.0, "low": 0.9, "high": 1.1})
    u = np.concatenate([[[0.0], [1.0 - 2.0**-53]], numbers(1)])
    assert kind.draw(u).min() >= 0.9
    assert kind.draw(u).max() <= 1.1
    one_sided = make("truncated", 1.0, {"sigma": 1.0, "low": 0.0}).draw(u)
    assert one_sided.min() >= 0.0
    assert one_sided.max() > 4.0


def test_normal_numbers_are_those_of_core_random():
    runs = np.arange(1000)
    u = random.uniform(5, runs, "x", 3)
    assert np.array_equal(normal_quantile(u), random.normal(5, runs, "x", 3))


def test_covariance_of_draws():
    kind = make("covariance", np.arange(6.0), {"matrix": MATRIX})
    values = kind.draw(numbers(6))
    scale = np.sqrt(np.outer(np.diag(MATRIX), np.diag(MATRIX)))
    # The error of a sample covariance is about sqrt(2/N) of its scale: five of those.
    assert np.allclose(np.cov(values.T) / scale, MATRIX / scale, atol=5 * math.sqrt(2 / N))
    assert np.allclose(values.mean(0), np.arange(6.0), atol=5 * 3.0 / math.sqrt(N))


def test_singular_covariance():
    a = np.array([[1.0, 0, 0], [2.0, 0, 0], [0, 1.0, 0], [1.0, 1.0, 0], [0, 0, 3.0], [0, 0, 0]])
    matrix = a @ a.T
    root = covariance_root(matrix)
    assert np.allclose(root @ root.T, matrix, rtol=0, atol=1e-12 * matrix.max())


def test_axes_and_lengths():
    disc = make("disc", [0, 0, 0], {"radius": 2.0, "axis": [1.0, 1.0, 0.0]})
    assert np.abs(disc.draw(numbers(2)) @ [1.0, 1.0, 0.0]).max() < 1e-14 * 2.0
    cone = make("cone", [0, 0, -3.0], {"half_angle": 1e-4})
    v = cone.draw(numbers(2))
    assert np.allclose(np.linalg.norm(v, axis=1), 3.0, rtol=1e-14)
    assert np.hypot(v[:, 0], v[:, 1]).max() == pytest.approx(3.0 * 1e-4, rel=1e-3)
    assert np.allclose(
        np.linalg.norm(make("orientation", [0, 0, 0, 1], {}).draw(numbers(3)), axis=1), 1
    )


def test_no_spread_is_a_spread():
    """A radius or an angle of 0 gives the nominal value itself."""
    for name, parameters in (("disc", {"radius": 0.0}), ("ball", {"radius": 0}), ("cone", {})):
        kind = make(name, [1.0, 2.0, 3.0], parameters or {"half_angle": 0.0})
        found = kind.draw(np.full((1, kind.dims), 0.3))
        np.testing.assert_allclose(found, [[1.0, 2.0, 3.0]], rtol=4e-16)


def test_zero_weights_are_never_drawn():
    kind = make("choice", 0.0, {"values": [1, 2, 3], "weights": [0, 1, 0]})
    assert set(kind.draw(np.array([[0.0], [0.5], [1.0 - 2.0**-53]])).ravel()) == {2.0}


BAD = [
    ("norml", 0.0, {}, 'Did you mean "normal"'),
    ("normal", 0.0, {}, "needs sigma"),
    ("normal", 0.0, {"sgma": 1}, 'Did you mean "sigma"'),
    ("normal", 0.0, {"sigma": -1.0}, "0 or more"),
    ("normal", 0.0, {"sigma": "a"}, "must be a number"),
    ("normal", 0.0, {"sigma": math.nan}, "finite"),
    ("normal", [0, 0, 0], {"sigma": [1, 2]}, "one for each component"),
    ("truncated", 0.0, {"sigma": 1.0, "low": 2.0, "high": 1.0}, "must not be above"),
    ("truncated", 0.0, {"sigma": 1.0, "low": 50.0, "high": 60.0}, "never reaches"),
    ("normal", [0, 0, 0], {"sigma": [1.0, math.nan, 1.0]}, "finite"),
    ("normal", [0, 0, 0], {"sigma": [1.0, math.inf, 1.0]}, "finite"),
    ("truncated", [0, 0], {"sigma": 1.0, "low": [0.0, math.nan]}, "finite"),
    ("truncated", [0, 0], {"sigma": 1.0, "low": [0, 2], "high": [1, 1]}, "must not be above"),
    ("truncated", 0.0, {"sigma": 0.0, "low": 0.0}, "above 0"),
    ("truncated", 0.0, {"sigma": 1.0, "low": 1.0, "high": 1.0}, "never reaches"),
    ("uniform", 0.0, {"low": 0.0, "high": math.inf}, "finite"),
    ("log-normal", 0.0, {"sigma": 1.0}, "above 0"),
    ("log-normal", 1.0, {"sigma": -1.0}, "0 or more"),
    ("disc", 0.0, {"radius": 1.0}, "vectors of three"),
    ("ball", [0, 0, 0], {"radius": -1.0}, "at least 0"),
    ("cone", [0, 0, 0], {"half_angle": 0.1}, "no direction"),
    ("cone", [0, 0, 1], {"half_angle": 4.0}, "180 deg"),
    ("cap", [0, 0, 0], {"half_angle": 0.1}, "latitude and longitude"),
    ("orientation", [0, 0, 0], {}, "four numbers"),
    ("covariance", np.zeros(6), {"matrix": np.eye(3)}, "6 x 6"),
    ("covariance", np.zeros(6), {"matrix": np.eye(6) + np.eye(6, k=1)}, "not symmetric"),
    ("covariance", np.zeros(6), {"matrix": np.ones((6, 6)) * 2 - np.eye(6)}, "semi-definite"),
    ("choice", 0.0, {"values": []}, "list of values"),
    ("choice", 0.0, {"values": [1, 2], "weights": [1]}, "one for each value"),
    ("choice", 0.0, {"values": [1, 2], "weights": [0, 0]}, "not all 0"),
]


@pytest.mark.parametrize(("name", "nominal", "parameters", "said"), BAD)
def test_errors_say_what_is_wrong(name, nominal, parameters, said):
    with pytest.raises(InputError, match=said):
        make(name, nominal, parameters)
