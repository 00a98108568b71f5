"""Draws at given uniform numbers, against the inverse distribution functions in 40 digits.

A statistical test of twenty thousand draws does not notice a normal law 5 % too wide. Here every
kind is drawn at chosen uniform numbers u, ends included, and each value must be the closed form's
to rounding: mpmath evaluates the definition, not the code's way to it. Half a bit is added to u
where a normal quantile is taken, since u stands for an interval of 2^-53 whose end 0 has none.
"""

import functools
import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from alight.campaign.dispersions.distributions import KINDS, make

EPS = 2.0**-52
HALF = mp.mpf(2) ** -54
#: Both ends, both tails, the quarters and others: whole multiples of 2^-53, as drawn numbers are.
U = [0.0, 2.0**-53, 2.0**-30 + 2.0**-53, 0.1, 0.25, 0.5, 0.75, 0.9, 0.31415927, 1.0 - 2.0**-53]
U = [math.floor(u * 2.0**53) * 2.0**-53 for u in U]
mpf = functools.lru_cache(lambda number: mp.mpf(float(number)))


def grid(dims):
    """Rows of uniform numbers: each with each in one or two columns, shifted ones in three."""
    if dims < 3:
        return np.array(list(itertools.product(U, repeat=dims)))
    return np.stack([U, np.roll(U, 3), np.roll(U, 7)], axis=-1)


def draws(name, nominal, parameters, u):
    kind, u = make(name, nominal, parameters), np.asarray(u, dtype=float)
    assert kind.dims == u.shape[1], "uniform numbers are drawn that nobody uses"
    return kind.draw(u)


def agree(found, exact, scale, ulps=8.0):
    """Every value within ``ulps`` roundings of the largest number that was added up to make it."""
    wanted = np.array([[float(x) for x in row] for row in exact])
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=ulps * EPS * scale)


def phi(z):
    return mp.erfc(-z / mp.sqrt(2)) / 2


def quantile(p):
    """z with Phi(z) = p, by the tail that is the smaller one."""
    tail = min(p, 1 - p)
    start = -mp.sqrt(-2 * mp.log(tail)) if tail < 0.1 else mp.sqrt(2) * mp.erfinv(2 * tail - 1)
    z = mp.findroot(lambda x: mp.log(phi(x) / tail), start)
    return z if p < 0.5 else -z


def frame(up):
    """Columns east, north, up of the plane square to ``up``, as rows of mpmath numbers."""
    x, y, z = (mpf(c) for c in up)
    length, across = mp.sqrt(x * x + y * y + z * z), mp.sqrt(x * x + y * y)
    east = (-y / across, x / across, mp.mpf(0)) if across else (mp.mpf(0), mp.mpf(1), mp.mpf(0))
    k = (x / length, y / length, z / length)
    north = (
        k[1] * east[2] - k[2] * east[1],
        k[2] * east[0] - k[0] * east[2],
        k[0] * east[1] - k[1] * east[0],
    )
    return east, north, k


def combined(axes, weights):
    return [sum(w * axis[i] for w, axis in zip(weights, axes, strict=True)) for i in range(3)]


def direction(cosine, turn):
    """Unit vector by the cosine of its angle to the third axis and its azimuth in turns."""
    sine = mp.sqrt(1 - cosine * cosine)
    return [sine * mp.cos(2 * mp.pi * turn), sine * mp.sin(2 * mp.pi * turn), cosine]


# -- each component by itself -------------------------------------------------------------------


def test_normal():
    found = draws("normal", [0.0, -3.0], {"sigma": [2.0, 0.25]}, [[u, u] for u in U])
    z = [quantile(mpf(u) + HALF) for u in U]
    agree(found, [[2 * a, -3 + a / 4] for a in z], scale=20.0)
    about = draws("normal", 7.0, {"sigma": 0.5, "mean": 1.0}, grid(1))
    agree(about, [[1 + a / 2] for a in z], scale=6.0)


LIMITS = {
    "both": (0.5, 1.2),
    "high": (-math.inf, 1.5),
    "low": (0.0, math.inf),
    "from the mean": (1.0, 1.3),
    "above": (1.1, 1.3),
    "far above": (3.4, 3.8),
    "far below": (-1.8, -1.4),
}


@pytest.mark.parametrize(("low", "high"), LIMITS.values(), ids=LIMITS)
def test_truncated(low, high):
    """x with Phi(x) = Phi(a) + u (Phi(b) - Phi(a)); of limits above the mean 1 - u, downwards."""
    mean, sigma = mpf(1.0), mpf(0.4)
    parameters = {"sigma": 0.4, "low": low, "high": high}
    found = draws("truncated", 1.0, parameters, grid(1))
    first, last = phi((mpf(low) - mean) / sigma), phi((mpf(high) - mean) / sigma)
    for value, u in zip(found[:, 0], U, strict=True):
        share = 1 - mpf(u) - HALF if low > 1.0 else mpf(u) + HALF
        exact = mean + sigma * quantile(first + share * (last - first))
        z = float((exact - mean) / sigma)
        # A probability is known to one part in 2^53 of itself or, past the mean, of 1.
        known = EPS * min(1.0, float(phi(-abs(z)) if (z < 0) or low > 1.0 else 1.0))
        loose = 8.0 * known / (math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi))
        assert value == pytest.approx(float(exact), rel=0.0, abs=0.4 * loose + 8.0 * EPS * 4.0)


def test_uniform():
    found = draws("uniform", [0.0, 0.0], {"low": [-1.0, 4.0], "high": [2.0, 4.5]}, grid(2))
    agree(found, [[-1 + 3 * mpf(u), 4 + mpf(v) / 2] for u, v in grid(2)], scale=4.5, ulps=1.0)


def test_log_normal():
    found = draws("log-normal", [2.0], {"sigma": 0.3}, grid(1))
    about = draws("log-normal", 2.0, {"sigma": 0.3, "median": 5.0}, grid(1))
    for one, other, u in zip(found[:, 0], about[:, 0], U, strict=True):
        factor = mp.exp(mpf(0.3) * quantile(mpf(u) + HALF))
        assert one == pytest.approx(float(2 * factor), rel=16.0 * EPS)
        assert other == pytest.approx(float(5 * factor), rel=16.0 * EPS)


def test_choice_changes_exactly_where_the_weights_say():
    values, below = [10.0, 20.0, 30.0], 2.0**-53
    edges = {"weights": [1.0, 2.0, 1.0]}, [0.0, 0.25 - below, 0.25, 0.75 - below, 0.75, 1.0 - below]
    found = draws("choice", 0.0, {"values": values, **edges[0]}, np.array(edges[1])[:, None])
    assert found[:, 0].tolist() == [10.0, 10.0, 20.0, 20.0, 30.0, 30.0]
    even = draws("choice", 0.0, {"values": [1.0, 2.0]}, [[0.5 - below], [0.5]])
    assert even[:, 0].tolist() == [1.0, 2.0]
    vectors = draws("choice", [0.0, 0.0], {"values": [[1.0, 2.0], [3.0, 4.0]]}, [[0.1], [0.9]])
    assert vectors.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_the_last_choice_has_a_weight_though_weights_add_up_to_less_than_their_sum():
    """Eleven times 0.1 added in a row is less than added by parts: the last edge is below 1."""
    weights = [0.1] * 11 + [0.0]
    assert np.cumsum(weights)[-1] / np.sum(weights) < 1.0 - 2.0**-53, "another example is needed"
    last = draws("choice", 0.0, {"values": range(12), "weights": weights}, [[1.0 - 2.0**-53]])
    assert last[0, 0] == 10.0


# -- vectors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (1.0, -2.0, 0.5)])
def test_disc(axis):
    """pi r^2 = u pi R^2; the azimuth is even, from east towards north of the axis."""
    found = draws("disc", [1.0, 2.0, 3.0], {"radius": 0.7, "axis": axis}, grid(2))
    east, north, _ = frame(axis)
    exact = []
    for u, v in grid(2):
        r, turn = mpf(0.7) * mp.sqrt(mpf(u)), 2 * mp.pi * mpf(v)
        flat = combined((east, north), (r * mp.cos(turn), r * mp.sin(turn)))
        exact.append([1 + flat[0], 2 + flat[1], 3 + flat[2]])
    agree(found, exact, scale=3.0)


def test_ball():
    """(4/3) pi r^3 = u (4/3) pi R^3, in an even direction."""
    found = draws("ball", [1.0, 2.0, 3.0], {"radius": 0.7}, grid(3))
    exact = []
    for u, v, w in grid(3):
        r = mpf(0.7) * mp.cbrt(mpf(u))
        way = direction(1 - 2 * mpf(v), mpf(w))
        exact.append([i + 1 + r * c for i, c in enumerate(way)])
    agree(found, exact, scale=3.0)


@pytest.mark.parametrize("half_angle", [1e-4, 0.4, math.pi])
def test_cone(half_angle):
    """The solid angle 2 pi (1 - cos a) is u times that of the whole cone."""
    nominal = (1.0, 2.0, -3.0)
    found = draws("cone", nominal, {"half_angle": half_angle}, grid(2))
    most, length = 1 - mp.cos(mpf(half_angle)), mp.sqrt(14)
    axes, exact = frame(nominal), []
    for u, v in grid(2):
        way = combined(axes, direction(1 - mpf(u) * most, mpf(v)))
        exact.append([length * c for c in way])
    agree(found, exact, scale=4.0)


def test_cap():
    """Along a great circle from the nominal place, by the angle a and the bearing from east."""
    found = draws("cap", [0.5, 3.0], {"half_angle": 0.4}, grid(2))
    at, most = mpf(0.5), 1 - mp.cos(mpf(0.4))
    for (latitude, longitude), (u, v) in zip(found, grid(2), strict=True):
        a, bearing = mp.acos(1 - mpf(u) * most), 2 * mp.pi * mpf(v)
        rise = mp.sin(at) * mp.cos(a) + mp.cos(at) * mp.sin(a) * mp.sin(bearing)
        ahead = mp.cos(at) * mp.cos(a) - mp.sin(at) * mp.sin(a) * mp.sin(bearing)
        east = mpf(3.0) + mp.atan2(mp.sin(a) * mp.cos(bearing), ahead)
        assert latitude == pytest.approx(float(mp.asin(rise)), abs=16.0 * EPS)
        off = math.remainder(longitude - float(east), 2.0 * math.pi)
        assert abs(off) < 16.0 * EPS * math.pi


def test_orientation():
    """Shoemake: radii sqrt(1 - u) and sqrt(u) in two planes, an even angle in each."""
    found = draws("orientation", [0.0, 0.0, 0.0, 1.0], {}, grid(3))
    exact = []
    for u, v, w in grid(3):
        a, b = 2 * mp.pi * mpf(v), 2 * mp.pi * mpf(w)
        one, two = mp.sqrt(1 - mpf(u)), mp.sqrt(mpf(u))
        exact.append([one * mp.sin(a), one * mp.cos(a), two * mp.sin(b), two * mp.cos(b)])
    agree(found, exact, scale=1.0)


@pytest.mark.parametrize("half_angle", [1e-3, 0.7, 3.0])
def test_orientation_within_an_angle(half_angle):
    """a - sin a is u times that of the widest turn; the turn is made after the nominal attitude."""
    found = draws("orientation", [0.2, 0.4, 0.4, 0.8], {"half_angle": half_angle}, grid(3))
    most = mpf(half_angle) - mp.sin(mpf(half_angle))
    x, y, z, w = (mp.mpf(c) / 5 for c in (1, 2, 2, 4))
    exact = []
    for u, v, t in grid(3):
        # The cube root of both sides: nearly a straight line, whose root is found to all digits.
        side = mp.cbrt(6 * mpf(u) * most)
        angle = mp.findroot(lambda a, c=side: mp.cbrt(6 * (a - mp.sin(a))) - c, side) if u else side
        a, b, c = (mp.sin(angle / 2) * i for i in direction(1 - 2 * mpf(v), mpf(t)))
        d = mp.cos(angle / 2)
        # (a i + b j + c k + d)(x i + y j + z k + w), Hamilton's product.
        product = [
            d * x + a * w + b * z - c * y,
            d * y - a * z + b * w + c * x,
            d * z + a * y - b * x + c * w,
            d * w - a * x - b * y - c * z,
        ]
        exact.append(product)
    agree(found, exact, scale=1.0)


def test_covariance():
    """nominal + L z, L the lower Cholesky factor: here of sigma 2, 3, 0.5 and correlations."""
    matrix = [[4.0, -3.0, 0.5], [-3.0, 9.0, 0.25], [0.5, 0.25, 0.25]]
    found = draws("covariance", [1.0, 2.0, 3.0], {"matrix": matrix}, grid(3))
    with mp.workdps(40):
        root = mp.cholesky(mp.matrix(matrix))
        exact = []
        for row in grid(3):
            z = [quantile(mpf(u) + HALF) for u in row]
            exact.append([i + 1 + sum(root[i, j] * z[j] for j in range(3)) for i in range(3)])
    agree(found, exact, scale=30.0)


def test_every_kind_is_drawn_exactly():
    tested = {n.removeprefix("test_").replace("_", "-") for n in globals() if n.startswith("test_")}
    for kind, made in KINDS.items():
        if getattr(made, "dims", 1) == 0:
            continue  # it goes by the number of the run
        assert any(name == kind or name.startswith(f"{kind}-") for name in tested), kind


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(40):
        yield
