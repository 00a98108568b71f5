"""Hops of a cube with a flywheel on rigid ground, against their closed forms.

With l from the leading edge to the centre of mass, alpha its angle from the normal (45 deg), I_p
the platform's inertia, J the wheel's, I_t = I_p + J + m l^2 and eta = J / I_t:

- H1, H2: braked in no time on an edge that holds, w = eta Om, v = w l at alpha above the ground;
- H3: range v^2 sin(2 theta) / g, time 2 v sin(theta) / g;
- H4: the share m l^2 J / I_t^2 of the wheel's energy goes into the hop, a quarter at most;
- H5: the edge holds from mu = cot(alpha) on; H6: else w = J Om / (I_p + J + m l^2 sin a (sin a +
  mu cos a)), v = w l sin a sqrt(1 + mu^2) at atan(1 / mu);
- H7: a motor tips the cube from m g l sin(alpha + beta) on, on a slope beta;
- H8: it tumbles over its edge from W = w^2 l / g = 2 K (1 - cos alpha), K = m l^2 / I_t; slides
  first above W = cos(alpha) for mu = 1, and flies at once above W = 1 / cos(alpha);
- H9, H10: under constant torque the edge sticks, slides and leaves as Coulomb's law says;
- H11: it tumbles at v / l, and a wheel can take all of that: J Om = (I_p + J) w;
- H12: bounces last (2 v_n / g) / (1 - e) and go (2 v_n v_t / g) / (1 - e e_t).
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from tests.verification.hopping import (
    ETA,
    LEVER,
    MASS,
    PLATFORM,
    SIDE,
    STANDING,
    WHOLE,
    J,
    braked,
    launch,
    model,
    rigid,
    slipping,
    thrown,
)

from alight import engine, motions, vehicles
from alight.actuators import Schedule
from alight.core import frames

RYUGU, PHOBOS = 1.4e-4, 5.7e-3
#: A brake of no time turns the cube by some 1e-6 rad, and gaps are known to rounding over that.
EXACT = 1e-6


@pytest.mark.parametrize(("g", "speed"), [(g, s) for g in (RYUGU, PHOBOS) for s in (100.0, 500.0)])
def test_an_edge_that_holds(g, speed):
    """H1, H2, H4 and H11, whatever the restitution of the ground."""
    solution = braked(g, rigid(2.0, restitution=0.6), speed)
    at, v, angle, w = launch(solution)
    assert w == pytest.approx(ETA * speed, rel=EXACT)
    assert v == pytest.approx(ETA * speed * LEVER, rel=EXACT)
    assert angle == pytest.approx(45.0, abs=np.degrees(EXACT))
    assert v / w == pytest.approx(LEVER, rel=EXACT)
    share = MASS * LEVER**2 * J / WHOLE**2
    assert 0.5 * MASS * v**2 / (0.5 * J * speed**2) == pytest.approx(share, rel=2.0 * EXACT)
    rest = solution.energy.total - solution.actuator_work
    assert rest[at] == pytest.approx(rest[at - 2], rel=EXACT), "an edge that holds does no work"


@pytest.mark.parametrize("mu", [0.3, 0.5, 0.6, 0.99])
def test_an_edge_that_slides(mu):
    """H6; 0.99 cot(alpha) is just below where it would hold."""
    _, v, angle, w = launch(braked(RYUGU, rigid(mu), 100.0))
    rate, speed, above = slipping(100.0, mu)
    assert w == pytest.approx(rate, rel=EXACT)
    assert v == pytest.approx(speed, rel=EXACT)
    assert angle == pytest.approx(above, abs=np.degrees(EXACT))


def test_where_the_edge_begins_to_hold():
    """H5: between 0.99 and 1.01 cot(alpha)."""
    below = launch(braked(RYUGU, rigid(0.99), 100.0))[2]
    above = launch(braked(RYUGU, rigid(1.01), 100.0))[2]
    assert below == pytest.approx(np.degrees(np.arctan(1.0 / 0.99)), abs=1e-4)
    assert above == pytest.approx(45.0, abs=1e-4)


@pytest.mark.parametrize("stance", [0.15, 0.35])
def test_a_wider_stance_throws_more_steeply(stance):
    """H2 for any alpha: tan(alpha) = half of the stance over the height of the centre of mass."""
    lander = vehicles.RigidLander.box((stance, 0.25, 0.25), MASS)
    inertia = lander.inertia[1, 1]
    lever, alpha = 0.5 * np.hypot(stance, 0.25), np.arctan2(stance, 0.25)
    _, v, angle, w = launch(braked(RYUGU, rigid(2.5), 100.0, lander=lander))
    eta = J / (inertia + MASS * lever**2)
    assert w == pytest.approx(eta * 100.0, rel=EXACT)
    assert v == pytest.approx(eta * 100.0 * lever, rel=EXACT)
    assert angle == pytest.approx(np.degrees(alpha), abs=np.degrees(EXACT))


@pytest.mark.parametrize("t_b", [0.005, 0.02])
def test_a_brake_that_takes_time_throws_lower(t_b):
    """H2: theta = alpha - p, p = w t_b / 2 (to the order of p^2), and v unchanged."""
    speed = 200.0
    brake = (1.0 - ETA) * J * speed / t_b
    _, v, angle, w = launch(braked(RYUGU, rigid(3.0), speed, brake=brake))
    p = 0.5 * ETA * speed * t_b
    assert w == pytest.approx(ETA * speed, rel=5e-4 + p**2)
    assert v == pytest.approx(ETA * speed * LEVER, rel=5e-4 + p**2)
    assert angle == pytest.approx(45.0 - np.degrees(p), abs=0.02 + np.degrees(p**2))


def test_range_and_time_of_a_hop():
    """H3: from two places on the way, as a corner touches before the centre of mass is as high as
    it was at take-off."""
    solution = braked(PHOBOS, rigid(2.0), 100.0)
    at, v, angle, _ = launch(solution)
    theta = np.radians(angle)
    whole = 2.0 * v * np.sin(theta) / PHOBOS
    start, first, second = solution.sample(solution.time[at] + whole * np.array([0.0, 0.5, 0.9]))[0]
    x, z = ((second - start)[i] for i in (0, 2))
    # z = x tan(theta) (1 - x / range) through two places: the top, and nine tenths of the way.
    top = (first - start)[2]
    assert top == pytest.approx(v**2 * np.sin(theta) ** 2 / (2.0 * PHOBOS), rel=1e-5)
    reach = x / (1.0 - z / (x * np.tan(theta)))
    assert reach == pytest.approx(v**2 * np.sin(2.0 * theta) / PHOBOS, rel=1e-5)
    touches = solution.events["start"]
    last = touches[touches > solution.time[at] + 1.0][0] - solution.time[at]
    assert 0.9 * whole < last < whole


@pytest.mark.parametrize("beta", [0.0, 0.2, -0.2])
@pytest.mark.parametrize("share", [0.97, 1.03])
def test_a_motor_tips_the_cube(beta, share):
    """H7 on a slope beta, uphill where it is above 0. The reaction of the motor turns the cube the
    other way than its wheel: towards x for a torque below 0."""
    g = 1e-3
    torque = share * MASS * g * LEVER * np.sin(np.pi / 4 + beta)
    motor = Schedule((5.0, 35.0), (-1.0, 0.0), "rest")
    made = model(g, rigid(1.5), tilt=beta, torque=torque, motor=motor)
    solution = engine.simulate(made, motions.Release(STANDING))
    moved = np.abs(solution.position[:, 0] - solution.position[0, 0]).max()
    assert (moved > 1e-3) == (share > 1.0)


def _pivoted(W, g=1e-3):
    """A cube that turns about its edge, which holds at first, from W = w^2 l / g on."""
    w = np.sqrt(W * g / LEVER)
    solution = braked(g, rigid(1.0, restitution=0.0, stride=5e-4), w / ETA)
    begins = np.flatnonzero(solution.wheel_speed[:, 0] == 0.0)[0]
    up = frames.quat_rotate(solution.attitude, np.array([0.0, 0.0, 1.0]))
    turned = np.degrees(np.arctan2(up[:, 0], up[:, 2]))
    over = np.flatnonzero((turned > 89.0) | (turned < 0.1) & (solution.rate[:, 1] < 0.0))
    ends = over[over > begins + 1][0]
    edge = frames.quat_rotate(solution.attitude, np.array([0.5 * SIDE, 0.0, -0.5 * SIDE]))
    tip = (solution.position + edge)[begins:ends]
    return turned[-1], np.abs(tip[:, 0] - tip[0, 0]).max(), tip[:, 2], turned[begins:ends]


@pytest.mark.parametrize(
    ("W", "tumbles", "slides", "flies"),
    [
        (0.42, False, False, False),
        (0.50, True, False, False),
        (0.65, True, False, False),
        (1.05, True, True, False),
        (1.25, True, True, True),
        (1.6, True, True, True),
    ],
)
def test_tumbling_over_the_edge(W, tumbles, slides, flies):
    """H8 for mu = 1: steps of 5e-4 radii let an edge that holds creep by microns."""
    end, way, height, turned = _pivoted(W)
    assert (end > 45.0) == tumbles
    if slides:
        assert way > 1e-3
    elif tumbles:
        assert way < 1e-5
    # In contact the tip is no higher than the smallest hop that is followed.
    assert (height.max() > 1e-3) == flies
    if flies:
        left = turned[np.flatnonzero(height > 1e-4)[0]]
        assert (left < 16.0) == (np.sqrt(2.0) < W), "at once, or later in the turn"


def test_the_least_rate_that_tumbles():
    """H8: W = 2 K (1 - cos alpha), 0.434 with this wheel; 1 % to either side of it."""
    least = 2.0 * MASS * LEVER**2 / WHOLE * (1.0 - np.cos(np.pi / 4))
    assert least == pytest.approx(0.434, abs=5e-4)
    assert _pivoted(0.99 * least)[0] < 1.0
    assert _pivoted(1.01 * least)[0] > 45.0


def coulomb_launch(g, torque, mu):
    """H9, H10: time [s], speed [m/s] and angle [deg] at which the edge leaves, by their equations.

    The edge sticks until F_x = mu N, slides until N = 0. psi = alpha - phi; x is along the ground.
    """
    about, a, r = PLATFORM + MASS * LEVER**2, np.pi / 4, LEVER

    def stick(_, y):
        return [y[1], (torque - MASS * g * r * np.sin(a - y[0])) / about]

    def cone(t, y):
        psi, pace = a - y[0], stick(t, y)[1]
        push = g + r * np.sin(psi) * pace - r * np.cos(psi) * y[1] ** 2
        return mu * push - r * np.cos(psi) * pace - r * np.sin(psi) * y[1] ** 2

    def push_of(y):
        psi = a - y[0]
        turning = r * (np.sin(psi) + mu * np.cos(psi))
        free = g + r * np.sin(psi) * torque / PLATFORM - r * np.cos(psi) * y[1] ** 2
        return MASS * free / (1.0 + MASS * r * np.sin(psi) * turning / PLATFORM), turning

    def slide(_, y):
        N, turning = push_of(y)
        return [y[1], (torque - N * turning) / PLATFORM, mu * N / MASS]

    cone.terminal = True
    tight = {"rtol": 1e-10, "atol": 1e-13}
    y, t = np.zeros(2), 0.0
    if cone(0.0, y) > 0.0:
        held = solve_ivp(stick, (0.0, 1e3), y, events=cone, **tight)
        y, t = held.y[:, -1], held.t[-1]

    def leaves(_, y):
        return push_of(y)[0]

    leaves.terminal = True
    vx = r * np.cos(a - y[0]) * y[1]
    free = solve_ivp(slide, (t, t + 1e3), [*y, vx], events=leaves, **tight)
    phi, w, vx = free.y[:, -1]
    vz = r * np.sin(a - phi) * w
    return free.t[-1], np.hypot(vx, vz), np.degrees(np.arctan2(vz, vx))


#: mu, torque [N m], gravity [m/s^2]: angle [deg] and speed [cm/s] as published for this cube.
TABLE = [
    (1.0, 0.1, 1e-9, 45.00, 8.22),
    (2.0, 0.1, 1e-9, 33.92, 9.44),
    (3.0, 0.1, 1e-9, 30.53, 9.88),
    (10.0, 0.1, 1e-9, 25.99, 10.55),
    (1.0, 0.1, RYUGU, 44.92, 8.23),
    (5.0, 0.1, RYUGU, 27.86, 10.26),
    (0.3, 1e-3, RYUGU, 69.55, 0.661),
    (0.6, 1e-3, RYUGU, 52.27, 0.728),
    (1.0, 1e-3, RYUGU, 38.21, 0.854),
    (2.0, 1e-3, RYUGU, 28.79, 0.973),
    (5.0, 1e-3, RYUGU, 23.43, 1.055),
]


@pytest.mark.parametrize(("mu", "torque", "g", "angle", "speed"), TABLE)
def test_constant_torque_on_an_edge_of_coulomb_friction(mu, torque, g, angle, speed):
    """H9, H10. Where it leaves the push goes to 0 little by little: states are compared at the time
    at which the equations have it leave."""
    t, v, above = coulomb_launch(g, torque, mu)
    assert above == pytest.approx(angle, abs=6e-3)
    assert 100.0 * v == pytest.approx(speed, rel=1e-3)
    motor = Schedule((1.0,), (-1.0,))
    made = model(g, rigid(mu, stride=2e-3), max_time=1.0 + 1.05 * t, torque=torque, motor=motor)
    solution = engine.simulate(made, motions.Release(STANDING))
    at = np.searchsorted(solution.time, 1.0 + t)
    found, theta, _ = thrown(solution, at)
    assert theta == pytest.approx(above, abs=0.2)
    assert found == pytest.approx(v, rel=1e-2)
    assert np.degrees(2.0 * np.arcsin(abs(solution.attitude[-1, 1]))) > 5.0, "it has turned"


def test_a_wheel_takes_up_the_tumble():
    """H11: what the hop leaves of turning is in a wheel that has J Om = (I_p + J) w."""
    w = ETA * 100.0
    top = (PLATFORM + J) * w / J
    torque = 0.02
    # u (1 / J + 1 / I_p) = the pace of the wheel against the platform.
    stop = w * PLATFORM / torque
    motor = Schedule((1.0, 1.0 + stop), (1.0, 0.0))
    made = model(0.0, rigid(1.0), max_time=60.0, torque=torque, motor=motor)
    run = engine.run_batch(made, motions.Release((0.0, 0.0, 9.0), rate=(0.0, w, 0.0)))
    assert run.final["w"][0, 1] == pytest.approx(0.0, abs=1e-9 * w)
    assert run.wheel_speed[0, 0] == pytest.approx(top, rel=1e-9)


@pytest.mark.parametrize("e", [0.3, 0.7])
def test_the_first_bounces_of_a_flat_cube(e):
    """H12 without friction, so that e_t = 1: the first ten bounces to 1e-6, and their sums."""
    g, v_t, v_n = 1e-3, 0.02, 0.05
    made = model(g, rigid(0.0, restitution=e), max_time=2.0 * v_n / g / (1.0 - e) + 10.0)
    solution = engine.simulate(made, motions.Release(STANDING, velocity=(v_t, 0.0, v_n)))
    n = np.arange(20)
    flights = 2.0 * v_n / g * e**n
    # Those that rise by more than the smallest hop that is followed.
    seen = ((v_n * e**n) ** 2 / (2.0 * g) > 2e-4) & (n < 10)
    starts = solution.events["start"][: seen.sum()]
    assert len(starts) >= 3
    assert starts == pytest.approx(np.cumsum(flights)[seen], rel=1e-6)
    x = np.interp(starts, solution.time, solution.position[:, 0])
    assert x == pytest.approx(v_t * starts, rel=1e-6)
    total = 2.0 * v_n / g / (1.0 - e)
    assert starts[-1] + flights[seen.sum()] / (1.0 - e) == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("share", [0.2, 0.9, 1.0])
def test_a_motor_starts_where_the_lander_comes_to_rest(share):
    """It comes to rest in the step that ends where its motor starts, which is yet to begin then."""
    never = model(1e-3, rigid(1.0), torque=1e-6, motor=Schedule((1e7,), (1.0,)))
    before, rests = engine.simulate(never, motions.Release(STANDING)).time[-2:]
    start = before + share * (rests - before)
    made = model(1e-3, rigid(1.0), torque=1e-6, motor=Schedule((start, start + 5.0), (1.0, 0.0)))
    solution = engine.simulate(made, motions.Release(STANDING))
    assert np.abs(solution.wheel_speed).max() == pytest.approx(5e-6 / J, rel=1e-9)


def test_momentum_and_energy_in_flight_with_wheels():
    """H = R (I w + sum J Om a) to 1e-10, and E less the work of the net wheel torque,
    sum (tau - tau_friction) Om, to 1e-8, through motor, torque-speed line, friction and brake."""
    lander = vehicles.RigidLander.box((0.2, 0.25, 0.35), MASS)
    made = model(
        0.0, rigid(1.0), max_time=100.0, lander=lander, tolerance=1e-11, speed=30.0, torque=2e-3,
        top_speed=300.0, friction=1e-4, brake=0.2, motor=Schedule.between(5.0, 60.0),
        braking=Schedule.between(80.0),
    )  # fmt: skip
    release = motions.Release((0.0, 0.0, 50.0), rate=(0.3, -0.2, 0.5))
    solution = engine.simulate(made, release)
    spun = solution.rate @ lander.inertia
    for wheel, speed in zip(made.drives.wheels, solution.wheel_speed.T, strict=True):
        spun = spun + wheel.inertia * speed[:, None] * wheel.axis
    H = frames.quat_rotate(solution.attitude, spun)
    assert np.abs(H - H[0]).max() < 1e-10 * np.linalg.norm(H[0])
    assert solution.wheel_speed[-1, 0] == 0.0
    energy = solution.energy.total - solution.actuator_work
    assert np.abs(energy - energy[0]).max() < 1e-8 * energy[0]
