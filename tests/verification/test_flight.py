"""Flight: what the engine does between release and the first touch.

In axes that turn with the target at Omega (T), a lander's centre of mass obeys

    x'' = g(x) - Omega x (Omega x x) - 2 Omega x v - Omega' x x + a_E      (paper 000 Eq. 2, mended)

and its rate relative to the target is w = w_N - R^T Omega, with w_N torque-free:

    w_N = (A cn t, B sn t, C dn t)  for I = (1, 2, 3), A = B = 0.5, C = 1, k^2 = 1/12.

Seen from inertial axes (N) all of this is simpler, and that is where the references live: straight
lines, Kepler's ellipse r = a (1 - e cos E), and SciPy's DOP853 at 1e-12. Under even rotation

    E_J = m v^2/2 + w.I w/2 - m |Omega x x|^2/2 - Omega.I Omega/2 - m U

is constant. Steps are fifth order with an error of at most ``Steps.tolerance`` each (relative to
distance and speed), so errors fall about in proportion to it and grow with the number of steps.
A step may never pass through the ground: the first touch is compared with a search in fine steps.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj

import alight
from alight import contact, engine, flight, gravity, motions, surfaces, vehicles
from alight.core import devices, frames
from alight.core.constants import AU, GM_SUN
from alight.core.outcomes import Outcome
from alight.flight import SOLAR_PRESSURE

DEVICES = [device.name for device in devices.available()]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


CONTACT = contact.Compliant(restitution=0.5)
BALL = vehicles.RigidLander.sphere(0.2, 1.0)
CUBE = vehicles.RigidLander.cube(0.2, 1.0)


def relative_velocity(rotation, position, velocity):
    """Velocity relative to the target at t = 0 of what moves at ``velocity`` in N (N = T then)."""
    omega = rotation.evaluate(0.0, device="cpu")[0]
    return np.asarray(velocity) - np.cross(omega, position)


def seen_inertially(solution):
    """Positions and velocities of a solution in N axes."""
    omega, _, q_NT = solution.model.rotation.evaluate(solution.time, device="cpu")
    x = solution.position
    v = solution.velocity + np.cross(omega, x)
    return frames.quat_rotate(q_NT, x), frames.quat_rotate(q_NT, v)


# -- attitude -------------------------------------------------------------------------------------


def test_torque_free_golden_on_a_spinning_target(device):
    """Rates of the golden case; angular momentum constant in N; the centre of mass stands still."""
    lander = vehicles.RigidLander.cube(0.2, 100.0, inertia=(1.0, 2.0, 3.0))
    rotation = flight.UniformRotation(0.6, (0.48, 0.6, 0.64))
    model = motions.Model(
        gravity.Uniform((0.0, 0.0, 0.0)),
        surfaces.Plane(point=(0.0, 0.0, -1e4)),
        lander,
        CONTACT,
        rotation,
        stop=engine.Stop(max_time=60.0),
    )
    q = frames.quat_normalize([0.1, 0.2, 0.3, 0.9])
    rate = np.array([0.5, 0.0, 1.0]) - frames.quat_rotate_inv(q, rotation.omega)
    place = np.array([1.0, 2.0, 3.0])
    release = motions.Release(place, relative_velocity(rotation, place, (0, 0, 0)), q, rate)
    solution = engine.simulate(model, release, device=device)
    sn, cn, dn, _ = ellipj(solution.time, 1.0 / 12.0)
    inertial = frames.inertial_rate(solution.attitude, solution.rate, rotation.omega)
    assert inertial == pytest.approx(np.column_stack([0.5 * cn, 0.5 * sn, dn]), abs=1e-11)
    _, _, q_NT = rotation.evaluate(solution.time, device="cpu")
    q_NB = frames.quat_multiply(q_NT, solution.attitude)
    momentum = frames.quat_rotate(q_NB, inertial * [1.0, 2.0, 3.0])
    assert np.abs(momentum - momentum[0]).max() < 1e-10 * np.linalg.norm(momentum[0])
    # 000-1: no force, so no motion in N: some 500 steps of 1e-9 of |x| = 3.7 m at the very most.
    x, _ = seen_inertially(solution)
    assert np.abs(x - place).max() < 500 * 1e-9 * 3.7


@pytest.mark.validate
def test_attitude_on_a_tumbling_target_keeps_inertial_angular_momentum():
    inertia = np.array([2.0, 3.0, 4.0]) * 1e-3
    lander = vehicles.RigidLander.cube(0.2, 1.0, inertia=inertia)
    rotation = flight.Tumbling((1.0, 1.6, 2.1), (2e-3, 1e-3, 3e-3))
    model = tumbling_model(rotation, lander, 2000.0)
    q = frames.quat_normalize([0.4, -0.2, 0.1, 0.8])
    release = motions.Release([80.0, 0.0, 20.0], [0.0, 0.9, 0.3], q, [0.02, 0.05, 0.01])
    solution = engine.simulate(model, release)
    omega, _, q_NT = rotation.evaluate(solution.time, device="cpu")
    inertial = frames.inertial_rate(solution.attitude, solution.rate, omega)
    q_NB = frames.quat_multiply(q_NT, solution.attitude)
    momentum = frames.quat_rotate(q_NB, inertial * inertia)
    assert np.abs(momentum - momentum[0]).max() < 1e-10 * np.linalg.norm(momentum[0])


# -- motion of the centre of mass -----------------------------------------------------------------


def ball_model(gm, rotation, max_time, tolerance=1e-9, radius=10.0, **more):
    return motions.Model(
        gravity.PointMass(gm),
        surfaces.Sphere(radius=radius),
        BALL,
        CONTACT,
        rotation,
        stop=engine.Stop(max_time=max_time),
        steps=motions.Steps(tolerance=tolerance),
        **more,
    )


def tumbling_model(rotation, lander, max_time):
    """A point mass off the origin: the pull turns with the target."""
    return motions.Model(
        gravity.PointMass(100.0, (6.0, -3.0, 2.0)),
        surfaces.Sphere(radius=10.0),
        lander,
        CONTACT,
        rotation,
        stop=engine.Stop(max_time=max_time),
        steps=motions.Steps(tolerance=1e-11),
    )


def test_straight_line_seen_from_a_rotating_frame(device):
    """000-1: x_N = x0 + v t; steps of the tolerance, of which a hundred or so are taken."""
    rotation = flight.UniformRotation(3e-3, (0.0, 0.6, 0.8))
    place, velocity = np.array([20.0, 5.0, 3.0]), np.array([0.05, 0.02, -0.01])
    model = ball_model(1e-30, rotation, 3000.0, 1e-12, radius=1.0)
    release = motions.Release(place, relative_velocity(rotation, place, velocity))
    solution = engine.simulate(model, release, device=device)
    x, v = seen_inertially(solution)
    expected = place + solution.time[:, None] * velocity
    assert np.abs(x - expected).max() < len(x) * 1e-12 * np.linalg.norm(expected[-1])
    # An error of the place turns into one of the inertial velocity at the rate of the rotation.
    bound = len(x) * 1e-12 * (2 * 3e-3 * np.linalg.norm(expected[-1]) + 0.5)
    assert np.abs(v - velocity).max() < bound


@pytest.mark.parametrize(("tolerance", "bound"), [(1e-7, 1e-3), (1e-9, 2e-5), (1e-11, 4e-7)])
def test_kepler_orbits(tolerance, bound):
    """Ten orbits at e = 0.4. An energy error eps shifts the phase by 3 pi eps a turn."""
    gm, a, e, tilt = 100.0, 100.0, 0.4, 0.5
    rotation = flight.UniformRotation(3e-3, (0.36, 0.48, 0.8))
    period = 2.0 * np.pi * np.sqrt(a**3 / gm)
    model = ball_model(gm, rotation, 10 * period, tolerance)
    along, across = np.array([1.0, 0, 0]), np.array([0, np.cos(tilt), np.sin(tilt)])
    place = a * (1 - e) * along
    fast = np.sqrt(gm * (1 + e) / (a * (1 - e))) * across
    release = motions.Release(place, relative_velocity(rotation, place, fast))
    solution = engine.simulate(model, release)
    anomaly = 2.0 * np.pi * solution.time / period
    eccentric = anomaly + e * np.sin(anomaly)
    for _ in range(20):
        slope = 1.0 - e * np.cos(eccentric)
        eccentric -= (eccentric - e * np.sin(eccentric) - anomaly) / slope
    b = a * np.sqrt(1 - e * e)
    expected = np.outer(a * (np.cos(eccentric) - e), along) + np.outer(
        b * np.sin(eccentric), across
    )
    x, _ = seen_inertially(solution)
    assert np.abs(x - expected).max() < bound * a
    scale = gm / (2 * a)
    assert np.ptp(solution.energy.total) < bound / 30.0 * scale


@pytest.mark.validate
def test_jacobi_constant_about_an_irregular_body():
    """E_J over four orbits of Itokawa, at tolerances of 1e-7, 1e-9, 1e-11.

    The scale is kinetic plus potential energy at the release, seen from N. At the default tolerance
    E_J keeps to 1e-8 an orbit; its error falls as the tolerance does, to within a factor of 5.
    """
    body = alight.body("itokawa")
    rotation = flight.UniformRotation(body.rotation_rate)
    law = gravity.Polyhedron(body.mesh(1280), gm=body.gm)
    place = np.array([420.0, 0.0, 60.0])
    fast = np.array([0.0, -0.9, 0.5]) / np.hypot(0.9, 0.5) * np.sqrt(body.gm / 420.0)
    scale = 1.5 * body.gm / 420.0
    changes = []
    for tolerance in (1e-7, 1e-9, 1e-11):
        model = motions.Model(
            law,
            surfaces.Sphere(radius=50.0),
            BALL,
            CONTACT,
            rotation,
            stop=engine.Stop(max_time=1.5e5),
            steps=motions.Steps(tolerance=tolerance),
        )
        release = motions.Release(place, relative_velocity(rotation, place, fast))
        solution = engine.simulate(model, release)
        assert solution.outcome is Outcome.TIMED_OUT
        changes.append(np.ptp(solution.energy.total) / scale)
    orbits = 1.5e5 / (2.0 * np.pi * np.sqrt(420.0**3 / body.gm))
    assert changes[1] / orbits < 1e-8
    assert changes[2] < 1e-9
    assert 100 / 5 < changes[0] / changes[1] < 100 * 5
    assert 100 / 5 < changes[1] / changes[2] < 100 * 5


def dop853(acceleration, place, velocity, times):
    """Positions and velocities in N."""

    def slope(t, y):
        return np.concatenate([y[3:], acceleration(t, y[:3])])

    start = np.concatenate([place, velocity])
    span = (0.0, times[-1])
    y = solve_ivp(slope, span, start, "DOP853", times, rtol=1e-12, atol=1e-13).y.T
    return y[:, :3], y[:, 3:]


def test_tumbling_target_against_dop853():
    """The pull of a mass fixed in a tumbling target; E_J is not conserved there."""
    rotation = flight.Tumbling((1.0, 1.6, 2.1), (2e-3, 1e-3, 3e-3))
    place, velocity = np.array([90.0, 10.0, 20.0]), np.array([0.1, 0.9, 0.4])
    model = tumbling_model(rotation, BALL, 1000.0)
    release = motions.Release(place, relative_velocity(rotation, place, velocity))
    solution = engine.simulate(model, release)

    def pull(t, x):
        q_NT = rotation.evaluate(t, device="cpu")[2]
        r = x - frames.quat_rotate(q_NT, np.array([6.0, -3.0, 2.0]))
        return -100.0 * r / np.linalg.norm(r) ** 3

    pick = np.unique(np.linspace(0, len(solution.time) - 1, 40).astype(int))
    x, v = (a[pick] for a in seen_inertially(solution))
    expected = dop853(pull, place, velocity, solution.time[pick])
    # Two hundred steps of 1e-11 of 100 m.
    assert np.abs(x - expected[0]).max() < 200 * 1e-11 * 100.0
    assert np.abs(v - expected[1]).max() < 200 * 1e-11 * 1.0
    total = solution.energy.total
    assert np.ptp(total) > 1e-3 * abs(total[0])


def test_sun_light_tide_and_companion_against_dop853(device):
    """Every external push at once, in N axes as the textbook has them."""
    rotation = flight.UniformRotation(4e-3, (0.0, 0.6, 0.8))
    sun = np.array([0.9, 0.5, 0.2]) * AU
    gm, ratio = 30.0, 2.0
    tilt, axis, e = 0.3, 400.0, 0.1
    companion = flight.Companion(gm, flight.Orbit(axis, e, tilt, 0.0, 0.0, 0.0, gm=gm + 100.0))
    pushes = (
        flight.SolarPressure(ratio, flight.Fixed(sun)),
        flight.SunTide(flight.Fixed(sun), 1e6 * GM_SUN),
        companion,
    )
    model = ball_model(100.0, rotation, 2000.0, 1e-11, externals=pushes)
    place, velocity = np.array([90.0, 10.0, 20.0]), np.array([0.1, 0.9, 0.4])
    release = motions.Release(place, relative_velocity(rotation, place, velocity))
    solution = engine.simulate(model, release, device=device)

    def other(t):
        mean = t * np.sqrt((gm + 100.0) / axis**3)
        eccentric = mean
        for _ in range(30):
            eccentric -= (eccentric - e * np.sin(eccentric) - mean) / (1 - e * np.cos(eccentric))
        y = axis * np.sqrt(1 - e * e) * np.sin(eccentric)
        return np.array([axis * (np.cos(eccentric) - e), y * np.cos(tilt), y * np.sin(tilt)])

    def towards(strength, place, x):
        d = place - x
        return strength * d / np.linalg.norm(d) ** 3

    far = np.linalg.norm(sun)
    light = -1.3 * SOLAR_PRESSURE * (AU / far) ** 2 * ratio * sun / far

    def pull(t, x):
        tide = 1e6 * GM_SUN * (x @ sun * 3.0 * sun / far**2 - x) / far**3  # to 1e-9 of itself
        beside = towards(gm, other(t), x) - towards(gm, other(t), np.zeros(3))
        return towards(100.0, np.zeros(3), x) + light + tide + beside

    # Each push moves the lander by far more than the error allowed.
    time = solution.time[-1]
    least = min(np.linalg.norm(light), 1e6 * GM_SUN * 90.0 / far**3, gm * 90.0 / axis**3)
    bound = 300 * 1e-11 * 150.0
    assert 0.5 * least * time**2 > 1e4 * bound
    pick = np.unique(np.linspace(0, len(solution.time) - 1, 40).astype(int))
    x, v = (a[pick] for a in seen_inertially(solution))
    expected = dop853(pull, place, velocity, solution.time[pick])
    assert np.abs(x - expected[0]).max() < bound
    assert np.abs(v - expected[1]).max() < bound * 0.01


# -- no step jumps the ground ---------------------------------------------------------------------


def grazing(periapsis, speed, eccentricity):
    """State of a conic 60 degrees before its periapsis, where it has that speed."""
    p = periapsis * (1.0 + eccentricity)
    angle = -np.pi / 3.0
    along, across = np.cos(angle), np.sin(angle)
    place = p / (1.0 + eccentricity * along) * np.array([along, across, 0.0])
    pace = speed / (1.0 + eccentricity)
    return place, pace * np.array([-across, eccentricity + along, 0.0])


@pytest.mark.parametrize("eccentricity", [0.3, 1.0, 20.0])
@pytest.mark.parametrize("turn", [0.0, 0.2])
def test_arcs_that_just_touch_a_sphere_and_arcs_that_just_do_not(eccentricity, turn, device):
    """Periapsis a millionth of the radius below the ground, and above it, from 0.01 to 10 m/s.

    The ground turns below by ``turn`` of the angular speed at periapsis. A thousand steps of 1e-9
    could just make up for the millionth; some dozens are taken.
    """
    radius = 100.0
    stand = radius + 0.1
    for speed in np.geomspace(0.01, 10.0, 7):
        rotation = flight.UniformRotation(turn * speed / stand)
        gm = stand * speed**2 / (1.0 + eccentricity)
        model = ball_model(gm, rotation, 4.0 * stand / speed, radius=radius)
        # The speed that goes with the same gm at a periapsis a little lower or higher.
        starts = [
            grazing(stand * share, speed / np.sqrt(share), eccentricity)
            for share in (1 - 1e-6, 1 + 1e-6)
        ]
        place = np.array([p for p, _ in starts])
        velocity = np.array([relative_velocity(rotation, p, v) for p, v in starts])
        result = engine.run_batch(model, motions.Release(place, velocity), device=device)
        assert result.bounces.tolist()[1] == 0
        assert result.bounces.tolist()[0] > 0


def test_a_thin_obstacle_is_never_jumped(device):
    """A ball of 5 mm in the way of landers that come from 50 m off at 0.01 to 10 m/s."""
    speeds = np.repeat(np.geomspace(0.01, 10.0, 10), 4)
    miss = np.tile([0.0, 0.05, 0.1049, 0.1051], 10)  # the ball lander has a radius of 0.1 m
    model = ball_model(1e-30, flight.UniformRotation(0.0), 2e4, radius=5e-3)
    place = np.column_stack([np.full(40, -50.0), miss, np.zeros(40)])
    velocity = np.column_stack([speeds, np.zeros(40), np.zeros(40)])
    result = engine.run_batch(model, motions.Release(place, velocity), device=device)
    hits = miss < 0.105
    assert (result.bounces == hits).all()
    way = 50.0 - np.sqrt(0.105**2 - miss[hits] ** 2)
    # Found to a contact step: a hit moves by 0.2 of the depth of 1 mm in one.
    late = result.final["first_time"][hits] - way / speeds[hits]
    assert np.abs(late * speeds[hits]).max() < 1e-3


def rough_ground():
    noise = surfaces.FractalNoise(0.4, 8.0, octaves=5, seed=3)
    return surfaces.Rough(surfaces.Plane(), noise)


@pytest.mark.validate
def test_first_touch_on_rough_ground_agrees_with_a_search_in_fine_steps(device):
    """Spinning cubes on parabolas over hills: all corners known in closed form at all times."""
    ground, g = rough_ground(), 1e-3
    rng = np.random.default_rng(5)
    n = 24
    speed = np.geomspace(0.01, 10.0, n)
    slope = np.where(np.arange(n) % 2, -0.05, 0.02)  # grazing, down and up
    place = np.column_stack([rng.uniform(-20, 20, (n, 2)), np.full(n, 2.5)])
    velocity = np.column_stack([speed, 0.2 * speed, slope * speed])
    attitude = frames.quat_normalize(rng.normal(size=(n, 4)))
    rate = rng.normal(size=(n, 3)) * np.minimum(0.5, speed)[:, None]
    model = motions.Model(
        gravity.Uniform((0.0, 0.0, -g)), ground, CUBE, CONTACT, stop=engine.Stop(max_time=400.0)
    )
    release = motions.Release(place, velocity, attitude, rate)
    result = engine.run_batch(model, release, device=device)

    def gap(i, t):
        """Least distance of a corner at times t."""
        t = np.atleast_1d(t)
        x = place[i] + t[:, None] * velocity[i] - [0.0, 0.0, 0.5 * g] * t[:, None] ** 2
        size = np.linalg.norm(rate[i])
        turn = frames.quat_from_axis_angle(np.tile(rate[i], (len(t), 1)), size * t)
        q = frames.quat_multiply(np.tile(attitude[i], (len(t), 1)), turn)
        corners = np.stack([frames.quat_rotate(q, c) for c in CUBE.points], axis=1)
        return ground.query(x[:, None] + corners)[0].min(axis=1)

    assert (result.bounces > 0).all()
    for i in range(n):
        found = result.final["first_time"][i]
        fast = np.linalg.norm(velocity[i]) + np.linalg.norm(rate[i]) * 0.18 + g * found
        step = 2e-3 / fast  # 2 mm of way
        times = np.arange(0.0, found, step)
        # Never below the ground before the touch (a dent of a tenth of a millimetre aside) ...
        assert gap(i, times[-100_000:]).min() > -1e-4
        # ... and at it then: within the way of a contact step, which is 0.2 of 1 mm, doubled.
        assert abs(gap(i, found)[0]) < 4e-4


def test_released_at_rest_just_above_the_ground():
    """The speed is zero, and the fall takes sqrt(2 h/g): distance over speed bounds nothing."""
    height, g = np.geomspace(1e-6, 10.0, 15), 1e-4
    model = motions.Model(
        gravity.Uniform((0.0, 0.0, -g)),
        surfaces.Plane(),
        BALL,
        CONTACT,
        stop=engine.Stop(max_time=500.0),
    )
    place = np.column_stack([np.zeros((15, 2)), 0.1 + height])
    result = engine.run_batch(model, motions.Release(place))
    fall = np.sqrt(2.0 * height / g)
    # The depth at the recorded start is below what a contact step adds: 0.2 of 1 mm, and less.
    late = result.final["first_time"] - fall
    assert np.abs(late * np.sqrt(2.0 * g * height)).max() < 2e-4
    assert (np.abs(late) < 0.02 * fall + 0.2).all()


def test_tossed_up_to_a_tiny_apex_and_down_again():
    """Up at 1e-5 to 1e-1 m/s from the ground: back after 2 v/g, never early and never missed."""
    speed, g = np.geomspace(1e-5, 1e-1, 9), 1e-4
    model = motions.Model(
        gravity.Uniform((0.0, 0.0, -g)),
        surfaces.Plane(),
        BALL,
        CONTACT,
        stop=engine.Stop(max_time=2100.0),
    )
    place = np.tile([0.0, 0.0, 0.1 + 1e-9], (9, 1))
    velocity = np.column_stack([np.zeros((9, 2)), speed])
    result = engine.run_batch(model, motions.Release(place, velocity))
    late = result.final["first_time"] - 2.0 * speed / g
    assert (np.abs(late) * speed < 2e-4).all()
