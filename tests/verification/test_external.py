"""External accelerations.

A mass gm at d acts on a lander at x, in axes fixed at the target's centre, with

    a = gm ((d - x)/|d - x|^3 - d/|d|^3) = grad V,   V = gm (1/|d - x| - 1/|d| - d.x/|d|^3)

References: these in 60 digits; differences of V; the three bodies in inertial space by SciPy's
DOP853; and Hill's terms for a moon locked to its planet, where tide and centrifugal acceleration
add up to (3 n^2 x, 0, -n^2 z) to first order in x/d.
"""

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from alight.core import devices, frames
from alight.core.constants import AU, GM_SUN
from alight.flight import (
    Companion,
    Fixed,
    Orbit,
    SolarPressure,
    SunTide,
    Tumbling,
    synchronous_rotation,
)

DEVICES = [device.name for device in devices.available()]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def exact_tide(gm, d, x):
    """Acceleration and potential in 60 digits."""
    with mp.workdps(60):
        d, x = [mp.mpf(float(v)) for v in d], [mp.mpf(float(v)) for v in x]
        gap = [a - b for a, b in zip(d, x, strict=True)]
        far, near = (mp.sqrt(sum(v * v for v in w)) for w in (d, gap))
        pull = [gm * (g / near**3 - v / far**3) for g, v in zip(gap, d, strict=True)]
        dot = sum(a * b for a, b in zip(d, x, strict=True))
        potential = gm * (1 / near - 1 / far - dot / far**3)
        return np.array([float(p) for p in pull]), float(potential)


@pytest.mark.parametrize("share", [1e-9, 1e-6, 1e-3, 0.1, 0.5])
def test_tide_to_twelve_digits(share, device):
    rng = np.random.default_rng(1)
    d = AU * np.array([0.3, -0.8, 0.5])
    points = rng.normal(size=(30, 3))
    points *= share * np.linalg.norm(d) / np.linalg.norm(points, axis=1)[:, None]
    pull, potential = SunTide(Fixed(d)).evaluate(0.0, points, device=device)
    for i, x in enumerate(points):
        expected, level = exact_tide(GM_SUN, d, x)
        assert np.linalg.norm(pull[i] - expected) < 1e-14 * np.linalg.norm(expected)
        # V crosses zero between the tide's hills and valleys: relative to its size on them.
        scale = GM_SUN / np.linalg.norm(d) * share**2
        assert abs(potential[i] - level) < 2e-14 * scale


@pytest.mark.parametrize("law", ["tide", "light"])
def test_acceleration_is_the_gradient(law, device):
    """Central differences: error h^2/6 of the third derivative; none for sunlight's linear V."""
    place = Orbit(5000.0, 0.3, 0.5, 0.2, 0.1, 1.0, period=4e4)
    made = Companion(35.0, place) if law == "tide" else SolarPressure(0.02, place)
    rotation = Tumbling((1.0, 2.0, 2.5), (1e-4, 0.0, 2e-4))
    points = np.random.default_rng(3).normal(size=(30, 3)) * 200.0
    t, step = 777.0, 1.0
    measured = np.stack(
        [
            (
                made.evaluate(t, points + e, rotation, device)[1]
                - made.evaluate(t, points - e, rotation, device)[1]
            )
            / (2 * step)
            for e in step * np.eye(3)
        ],
        -1,
    )
    pull = made.evaluate(t, points, rotation, device)[0]
    scale = np.linalg.norm(pull, axis=1).max()
    distance = place.nearest() - 800.0
    truncation = 4.0 * step**2 * 35.0 / distance**4 if law == "tide" else 0.0
    assert np.abs(measured - pull).max() < truncation + 1e-11 * scale


def in_target_axes(rotation, external, gm_target, state, times):
    """The lander's path by the equation of motion in T axes (docs/explanation/flight.md)."""

    def slope(t, y):
        x, v = y[:3], y[3:]
        (omega,), (turn,), _ = rotation.evaluate([t], "cpu")
        pull = external.evaluate(t, x, rotation, "cpu")[0] - gm_target * x / np.linalg.norm(x) ** 3
        frame = np.cross(omega, np.cross(omega, x)) + 2 * np.cross(omega, v) + np.cross(turn, x)
        return np.concatenate([v, pull - frame])

    span = (times[0], times[-1])
    return solve_ivp(slope, span, state, "DOP853", times, rtol=1e-11, atol=1e-10).y.T


def in_inertial_space(gm, position, velocity, times):
    """Positions (times, bodies, 3) of bodies under each other's gravity."""
    n = len(gm)

    def slope(_t, y):
        x, v = y.reshape(2, n, 3)
        gap = x[None] - x[:, None]
        cube = np.linalg.norm(gap, axis=-1) ** 3 + np.eye(n)
        return np.concatenate([v, np.einsum("j,ijk->ik", gm, gap / cube[..., None])]).ravel()

    start = np.concatenate([position, velocity]).ravel()
    span = (times[0], times[-1])
    y = solve_ivp(slope, span, start, "DOP853", times, rtol=1e-12, atol=1e-10).y.T
    return y.reshape(len(times), 2, n, 3)[:, 0]


def test_three_bodies():
    """A lander near a tumbling moon on an eccentric orbit: T axes against inertial space.

    Both integrations are good to about 1e-10 of some 1000 m, which the motion amplifies a little.
    """
    gm_target, gm = 0.3, 35.0
    orbit = Orbit(1200.0, 0.3, 0.6, 0.3, 0.2, -0.5, gm=gm + gm_target)
    start = frames.quat_normalize([0.2, -0.3, 0.1, 0.9])
    rate = np.array([1.5e-4, 0.4e-4, 1e-4])
    rotation = Tumbling((1.0, 1.3, 1.6), rate, start)
    times = np.linspace(0.0, 0.4 * orbit.period, 6)
    x0, v0 = np.array([150.0, 60.0, -40.0]), np.array([0.01, -0.02, 0.015])

    # The companion's velocity at t = 0 by differences of its own orbit, of order 6.
    h = orbit.period * 1e-3
    offsets, weights = np.arange(-3, 4), np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
    companion_velocity = weights @ orbit.evaluate(h * offsets, device="cpu") / h
    companion = orbit.evaluate(0.0, device="cpu")
    lander = frames.quat_rotate(start, x0)
    lander_velocity = frames.quat_rotate(start, v0 + np.cross(rate, x0))
    zero = np.zeros(3)
    paths = in_inertial_space(
        np.array([gm_target, gm, 0.0]),
        np.array([zero, companion, lander]),
        np.array([zero, companion_velocity, lander_velocity]),
        times,
    )
    seen = orbit.evaluate(times, device="cpu")
    assert paths[:, 1] - paths[:, 0] == pytest.approx(seen, abs=1e-7)

    path = in_target_axes(rotation, Companion(gm, orbit), gm_target, [*x0, *v0], times)
    q_NT = rotation.evaluate(times, "cpu")[2]
    ours = frames.quat_rotate(q_NT, path[:, :3])
    moved = np.linalg.norm(paths[-1, 2] - paths[-1, 0] - lander)
    assert moved > 300.0
    assert ours == pytest.approx(paths[:, 2] - paths[:, 0], abs=1e-6)


def test_locked_moon_gives_hills_terms(device):
    """Tide plus centrifugal acceleration is (3 n^2 x, 0, -n^2 z), with an error of order x/d."""
    gm, distance = 4.2828e13, 9.377e6
    rotation = synchronous_rotation(gm, distance)
    law = Companion.synchronous(gm, distance, rotation=rotation)
    n2 = rotation.rate**2
    unit = np.random.default_rng(2).normal(size=(50, 3))
    errors = []
    for size in (1e3, 1e4):
        x = size * unit
        pull = law.evaluate(123.0, x, rotation, device)[0]
        centrifugal = n2 * x * [1.0, 1.0, 0.0]
        hill = n2 * x * [3.0, 0.0, -1.0]
        errors.append(np.abs(pull + centrifugal - hill).max() / (n2 * size))
    # The next term is 3 n^2 x^2/d (1 - ...), ten times as much at ten times the distance.
    assert errors[0] < 50 * 1e3 / distance
    assert errors[1] / errors[0] == pytest.approx(10.0, rel=0.05)


def test_locked_moon_equals_one_on_an_orbit(device):
    """A circular orbit that keeps pace, seen in T, is the companion fixed in T."""
    gm, distance = 35.2, 1146.0
    rotation = synchronous_rotation(gm, distance, gm_target=0.3)
    moving = Companion(gm, Orbit(distance, period=rotation.period))
    fixed = Companion.synchronous(gm, distance, gm_target=0.3, rotation=rotation)
    points = np.random.default_rng(2).normal(size=(50, 3)) * 80.0
    times = np.linspace(0.0, 1e7, 50)
    for a, b in zip(
        moving.evaluate(times, points, rotation, device),
        fixed.evaluate(times, points, rotation, device),
        strict=True,
    ):
        # The period is the rate's inverse to 1e-16, over 250 turns.
        assert np.abs(a - b).max() < 1e-12 * np.abs(b).max()


def test_energy_in_the_turning_frame_stays():
    """v^2/2 - U - |Omega x x|^2/2 - V on a moon locked to its planet."""
    gm, gm_target, distance = 35.2, 0.287, 1146.0
    rotation = synchronous_rotation(gm, distance, gm_target=gm_target)
    law = Companion.synchronous(gm, distance, gm_target=gm_target, rotation=rotation)
    assert law.steady
    times = np.linspace(0.0, 2e4, 5)
    start = [100.0, 20.0, 40.0, 0.02, 0.02, 0.01]
    path = in_target_axes(rotation, law, gm_target, start, times)
    x, v = path[:, :3], path[:, 3:]
    level = law.evaluate(0.0, x, rotation, "cpu")[1]
    spin = np.cross(rotation.omega, x)
    own = gm_target / np.linalg.norm(x, axis=1)
    energy = 0.5 * np.sum(v * v, 1) - own - 0.5 * np.sum(spin * spin, 1) - level
    assert np.linalg.norm(x[-1] - x[0]) > 50.0
    assert np.abs(level).max() > 1e-5 * np.abs(energy[0])
    assert energy == pytest.approx(energy[0], rel=1e-9)
