"""Swing arms of rigid landers: masses that turn about axes fixed in the lander, as commanded.

- in flight momentum and angular momentum of lander and arms are constant, and energy changes by the
  work of the motors alone;
- about the centre of the lander without its arm, a mass m_a at r that turns by psi turns the lander
  (inertia I_s, mass M) by -J / (I_s + J) psi, with J = m_a M / (m_a + M) r^2;
- a lander that tumbles moves as lander and mass do by Newton's law, two bodies and their reaction;
- two arms that turn against each other lift a lander off the ground when the force on it is 0:
  c'' = -g, with c' as its speed;
- a ball on smooth ground leaves it as the equations of the plane say, its centre of mass moving in
  it: N = m (g + (R c)_z''), I th'' + h' + I' th' = N (R c)_x.

All tests share a kernel: two arms, a wheel and a thruster, of which some stay idle.
"""

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from alight import contact, engine, flight, gravity, motions, surfaces, vehicles
from alight.actuators import Arm, Schedule, Thruster, Wheel
from alight.core import frames

MASS, RADIUS = 10.0, 0.15
BOX = vehicles.RigidLander.box((0.28, 0.29, 0.2), MASS)
BALL = vehicles.RigidLander.sphere(2.0 * RADIUS, MASS)
X, Y, Z = np.eye(3)
NEVER = Schedule.never()
IDLE = {
    "one": Arm(0.3, Y, (0.0, 0.0, 0.05), 1.0, 1.0, schedule=NEVER, name="one"),
    "two": Arm(0.3, X, (0.0, 0.0, 0.05), 1.0, 1.0, schedule=NEVER, name="two"),
    "wheel": Wheel(Y, 1e-4, torque=1e-4, motor=NEVER),
    "jet": Thruster(1.0, X, schedule=NEVER, name="jet"),
}


def model(
    g=0.0, lander=BOX, rate=0.0, max_time=60.0, law=None, friction=0.0, tolerance=1e-9, **used
):
    """A lander over a plane, with what ``used`` names in place of what is idle."""
    law = law or contact.Impulse(restitution=0.3, friction=friction, rolling_resistance=0.0)
    return motions.Model(
        gravity.Uniform((0.0, 0.0, -g)),
        surfaces.Plane(),
        lander,
        law,
        rotation=flight.UniformRotation(rate),
        stop=engine.Stop(max_time=max_time),
        steps=motions.Steps(tolerance=tolerance),
        actuators=tuple((IDLE | used).values()),
    )


def level(arm, t, times, levels):
    """psi, psi' and psi'' of an arm that goes to its commanded rates, from its definition."""
    psi, rate, pace, at = 0.0, 0.0, 0.0, 0.0
    for start, end, wanted in zip(times, [*times[1:], np.inf], levels, strict=True):
        at, target = start, wanted * arm.rate
        ramp = abs(target - rate) / arm.acceleration
        for length, a in ((ramp, np.sign(target - rate) * arm.acceleration), (np.inf, 0.0)):
            stop = min(at + length, end)
            dt = min(t, stop) - at
            if dt < 0.0:
                return psi, rate, pace
            psi, rate, pace = psi + rate * dt + 0.5 * a * dt**2, rate + a * dt, a
            if t <= stop:
                return psi, rate, pace
            at = stop
    raise AssertionError


def shell(arm):
    """Mass, centre (from the body's origin) and inertia about it of the box without ``arm``."""
    left = MASS - arm.mass
    center = -arm.mass * arm.place / left

    def square(s):
        return (s @ s) * np.eye(3) - np.outer(s, s)

    inertia = BOX.inertia - arm.mass * square(arm.place) - left * square(center)
    return left, center, inertia


@pytest.mark.parametrize("turns", [0.3, 1.0])
def test_an_arm_turns_the_lander_the_other_way(turns):
    """About the centre of the rest J is constant, and the angle a share of the arm's."""
    m, r = 0.4, np.array([0.0, 0.0, 0.08])
    rate = 2.0
    arm = Arm(
        m, Y, r, rate, 3.0, pivot=-m / MASS * r,
        schedule=Schedule((1.0, 1.0 + turns * np.pi), (1.0, 0.0)), name="one",
    )  # fmt: skip
    run = engine.simulate(model(one=arm, max_time=20.0), motions.Release((0.0, 0.0, 50.0)))
    left, _, inertia = shell(arm)
    J = m * left / MASS * (r @ r)
    psi = rate * turns * np.pi
    angle = -J / (inertia[1, 1] + J) * psi
    q = run.attitude[-1]
    assert 2.0 * np.arctan2(q[1], q[3]) == pytest.approx(angle, rel=1e-9)
    assert np.abs(run.rate[-1]).max() < 1e-12
    assert run.arm_angle[-1, 0] == pytest.approx(0.0 if turns == 1.0 else psi, abs=1e-12)
    assert (run.driven[-1, 0] == 0.0) == (turns == 1.0), "back in its place, flight is free again"
    # The centre of mass stays; the body's origin goes back with the arm.
    assert np.abs(run.center_of_mass - [0.0, 0.0, 50.0]).max() < 1e-12
    assert np.abs(run.position[:, 2] - 50.0).max() > 5e-4
    assert run.actuator_work[-1] == pytest.approx(0.0, abs=1e-12), "brought to rest"


ARM = Arm(
    0.5, (1.0, 2.0, -1.0), 0.07 * np.cross((1.0, 2.0, -1.0), Z) / np.sqrt(5.0), 4.0, 5.0,
    pivot=(0.02, -0.05, 0.03),
    schedule=Schedule((1.0, 4.0, 7.0), (1.0, -0.5, 0.0)), name="one",
)  # fmt: skip
OTHER = Arm(
    0.3, X, (0.0, 0.06, 0.02), 3.0, 2.0, inertia=2e-4, schedule=Schedule((2.0,), (1.0,)), name="two"
)


def momenta(run):
    """(n, 3) angular momentum of lander, arms and wheel about their centre, inertial axes."""
    drives, lander = run.model.drives, run.model.lander
    omega, _, q_NT = run.model.rotation.evaluate(run.time, device="cpu")
    star = frames.inertial_rate(run.attitude, run.rate, omega)
    H = np.zeros_like(star)
    for k in range(len(run.time)):
        total, center, moving = lander.inertia.copy(), np.zeros(3), np.zeros(3)
        spun = np.zeros(3)
        for i, arm in enumerate(drives.arms):
            turn = Rotation.from_rotvec(run.arm_angle[k, i] * arm.axis)
            s = arm.pivot + turn.apply(arm.reach)
            v = run.arm_rate[k, i] * np.cross(arm.axis, turn.apply(arm.reach))
            for p, sign in ((s, 1.0), (arm.place, -1.0)):
                total += sign * arm.mass * ((p @ p) * np.eye(3) - np.outer(p, p))
            spun += arm.mass * np.cross(s, v) + arm.inertia * run.arm_rate[k, i] * arm.axis
            center += arm.mass / lander.mass * (s - arm.place)
            moving += arm.mass / lander.mass * v
        total -= lander.mass * ((center @ center) * np.eye(3) - np.outer(center, center))
        spun -= lander.mass * np.cross(center, moving)
        for wheel, speed in zip(drives.wheels, run.wheel_speed[k], strict=True):
            spun += wheel.inertia * speed * wheel.axis
        H[k] = total @ star[k] + spun
    return frames.quat_rotate(frames.quat_multiply(q_NT, run.attitude), H)


def test_momentum_and_energy_of_a_tumbling_lander():
    """Two arms and a wheel at work, on a target that turns."""
    wheel = Wheel(Y, 1e-3, torque=2e-3, motor=Schedule.between(3.0, 9.0))
    run = engine.simulate(
        model(1e-3, rate=2e-3, max_time=12.0, tolerance=1e-11, one=ARM, two=OTHER, wheel=wheel),
        motions.Release((0.0, 0.0, 50.0), (0.01, 0.02, 0.0), rate=(0.3, -0.2, 0.5)),
    )
    H = momenta(run)
    assert np.abs(H - H[0]).max() < 1e-10 * np.linalg.norm(H, axis=1).max()
    balance = run.energy.total - run.actuator_work
    assert np.ptp(balance) < 1e-8 * np.ptp(run.actuator_work)
    assert run.result.work_each[0].sum() == pytest.approx(run.actuator_work[-1], rel=1e-12)
    assert run.result.work_each[0, 3] == 0.0


def test_a_tumbling_lander_moves_as_two_bodies_do():
    """M r_s'' = f, m r_p'' = -f; the rest turns under what this and the motor give."""
    times, levels = ARM.schedule.times, ARM.schedule.levels
    _, center, inertia = shell(ARM)
    w0, end = np.array([0.4, 0.1, -0.3]), 9.0

    def slope(t, y):
        q, w, v = y[:4], y[4:7], y[10:13]
        psi, rate, pace = level(ARM, t, times, levels) if t > times[0] else (0.0, 0.0, 0.0)
        R = Rotation.from_quat(q).as_matrix()
        around = Rotation.from_rotvec(psi * ARM.axis).apply(ARM.reach)
        d = ARM.pivot + around - center  # of the mass from the centre of the rest, body axes
        u = rate * np.cross(ARM.axis, around)
        a = pace * np.cross(ARM.axis, around) - rate**2 * around
        # r_p'' = A + w' x d + bias; A the acceleration of the rest, from M A + m r_p'' = 0.
        bias = np.cross(w, np.cross(w, d)) + 2.0 * np.cross(w, u) + a
        share = ARM.mass / MASS
        D = frames.skew(d)
        # About the centre of the rest: I w' + w x I w = -m d x r_p''.
        matrix = inertia - (1.0 - share) * ARM.mass * D @ D
        right = -np.cross(w, inertia @ w) - (1.0 - share) * ARM.mass * np.cross(d, bias)
        change = np.linalg.solve(matrix, right)
        A = -share * (np.cross(change, d) + bias)
        turn = 0.5 * frames.quat_multiply(q, np.append(w, 0.0))
        return np.concatenate([turn, change, v, R @ A])

    start = np.concatenate([[0, 0, 0, 1.0], w0, center, np.cross(w0, center)])
    y, switches = start, [0.0, *times]
    ramps = [1.0 + 4.0 / 5.0, 4.0 + 6.0 / 5.0, 7.0 + 2.0 / 5.0]
    edges = sorted([*switches, *ramps, end])
    for a, b in itertools.pairwise(edges):
        inside = 1e-13 * (b - a)
        y = solve_ivp(slope, (a + inside, b), y, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    run = engine.run_batch(model(max_time=end, one=ARM), motions.Release((0.0, 0.0, 50.0), rate=w0))
    assert run.final["w"][0] == pytest.approx(y[4:7], abs=1e-7)
    off = frames.quat_multiply(frames.quat_conjugate(y[:4]), run.attitude[0])
    assert np.linalg.norm(off[:3]) < 1e-7
    origin = y[7:10] - frames.quat_rotate(y[:4], center)
    assert run.position[0] - [0.0, 0.0, 50.0] == pytest.approx(origin, abs=1e-7)


@pytest.mark.validate
@pytest.mark.parametrize("rate", [2.0, 6.0])
def test_two_arms_lift_a_lander_off_the_ground(rate):
    """From below they swing up on both sides: past the horizontal they pull more than it weighs."""
    lifted(rate, 1e-3)


@pytest.mark.validate
@pytest.mark.parametrize("scheme", ["clipped", "smooth"])
def test_springs_of_the_ground_that_are_stiff_let_it_go_as_rigid_ground(scheme):
    """T_c = pi sqrt(m / k) = 10 ms against a swing of 0.5 s: what is in the springs comes back."""
    law = contact.Compliant(
        stiffness=1e6, damping=4400.0, friction=0.5, rolling_resistance=0.0, scheme=scheme
    )
    lifted(6.0, 1e-2, law)


def lifted(rate, share, law=None):
    """Two arms at a ``rate`` [rad/s] lift the box as the closed form says, to a ``share``."""
    m, r, g, pace = 0.25, 0.07, 1e-3, 40.0
    away = np.array([0.0, 0.0, -r])
    go = Schedule((20.0, 20.0 + np.pi / rate), (1.0, 0.0))
    arms = {
        name: Arm(m, way * Y, away, rate, pace, schedule=go, name=name)
        for name, way in (("one", 1.0), ("two", -1.0))
    }
    A = 2.0 * m * r / MASS
    # At the full rate: A rate^2 cos(psi) = -g, where psi is past the horizontal.
    psi = np.arccos(-g / (A * rate**2))
    ramp = rate / pace
    t = 20.0 + ramp + (psi - 0.5 * rate * ramp) / rate
    v = A * rate * np.sin(psi)
    run = engine.simulate(
        model(g, friction=0.5, max_time=t + 0.8 * v / g, law=law, **arms),
        motions.Release((0.0, 0.0, 0.1 + 1e-9)),
    )
    high = run.center_of_mass[:, 2]
    start = 0.1 + A * (1.0 - np.cos(psi))
    # Arms that have come to a stand: then velocities are those of the centre of mass.
    flying = run.time > 20.0 + np.pi / rate + 2.0 * ramp
    assert flying[-1]
    top = high[flying] + 0.5 * run.velocity[flying, 2] ** 2 / g
    assert top - start == pytest.approx(0.5 * v**2 / g, rel=share)
    later = run.time[flying] - t
    assert high[flying] - start == pytest.approx(
        v * later - 0.5 * g * later**2, rel=share, abs=1e-2 * share
    )
    # Springs this stiff are not at rest within 20 s.
    assert run.result.hops[0] == (law is None)
    assert np.abs(run.rate[flying]).max() < 1e-3 * share * v / r
    balance = run.energy.total - run.actuator_work
    assert np.maximum.accumulate(balance - balance[0]).max() < share * 0.5 * MASS * v**2


@pytest.mark.validate
def test_a_ball_leaves_smooth_ground_as_its_equations_say():
    """In the plane: the arm swings up and over, the ball turns the other way, and the ground pushes
    beside its centre of mass all the while."""
    m, r, g, pace, rate = 0.8, 0.09, 1e-2, 4.0, 3.0
    reach, pivot = np.array([-r, 0.0, 0.0]), np.array([0.01, 0.0, 0.02])
    go = Schedule((10.0,), (1.0,))
    arm = Arm(m, Y, reach, rate, pace, pivot=pivot, schedule=go, name="one")
    inertia = BALL.inertia[1, 1]

    def swing(psi, rate, pace):
        """c, c', c'' (x, z), I, I', h' about y: a turn by psi about y takes x to -z."""
        e = np.array([np.cos(psi), -np.sin(psi)])
        f = np.array([-np.sin(psi), -np.cos(psi)])
        s = np.array([0.01, 0.02]) - r * e
        u, a = -rate * r * f, -r * (pace * f - rate**2 * e)
        s0 = np.array([0.01 - r, 0.02])
        c, cu, ca = m / MASS * (s - s0), m / MASS * u, m / MASS * a

        def cross(p, k):  # y of p x k for vectors in the plane of x and z
            return p[1] * k[0] - p[0] * k[1]

        total = inertia + m * (s @ s - s0 @ s0) - MASS * (c @ c)
        change = 2.0 * m * s @ u - 2.0 * MASS * c @ cu
        return c, cu, ca, total, change, m * cross(s, a) - MASS * cross(c, ca)

    def parts(t, y):
        th, w = y
        ramp = rate / pace
        psi = 0.5 * pace * t**2 if t < ramp else 0.5 * rate * ramp + rate * (t - ramp)
        c, cu, ca, total, change, h = swing(psi, min(rate, pace * t), pace if t < ramp else 0.0)
        # R c and its second derivative in z: R turns x to -z by th.
        co, si = np.cos(th), np.sin(th)
        R = np.array([[co, si], [-si, co]])
        S = np.array([[-si, co], [-co, -si]])  # dR/dth
        arm = R @ c
        # z'' = (S c)_z th'' + known; N = m (g + z''); torque about y of N z at -R c: N (R c)_x
        known = (R @ ca + 2.0 * w * S @ cu - w**2 * R @ c)[1]
        per = (S @ c)[1]
        # I th'' = -I' th' - h' + N arm_x
        change_w = (-change * w - h + MASS * (g + known) * arm[0]) / (total - MASS * per * arm[0])
        push = MASS * (g + known + per * change_w)
        return change_w, push, (R @ cu + w * S @ c)[1], arm[1]

    def slope(t, y):
        return [y[1], parts(t, y)[0]]

    def lifts(t, y):
        return parts(t, y)[1]

    lifts.terminal, lifts.direction = True, -1.0
    found = solve_ivp(
        slope, (0.0, 2.0), [0.0, 0.0], method="DOP853", rtol=1e-11, atol=1e-12, events=lifts,
        max_step=0.01,
    )  # fmt: skip
    assert found.status == 1
    assert lifts(0.0, [0.0, 0.0]) > 0.0
    t, y = found.t[-1], found.y[:, -1]
    _, _, v, z = parts(t, y)
    run = engine.simulate(
        model(g, BALL, max_time=10.0 + t + 0.5, one=arm), motions.Release((0.0, 0.0, RADIUS + 1e-9))
    )
    flying = run.time > 10.0 + t + 0.05
    later = run.time[flying] - 10.0 - t
    high = run.center_of_mass[flying, 2] - RADIUS - z
    assert np.count_nonzero(flying) > 1
    assert high == pytest.approx(v * later - 0.5 * g * later**2, rel=2e-3)
    q = run.attitude
    th = 2.0 * np.arctan2(q[:, 1], q[:, 3])
    assert np.interp(10.0 + t, run.time, th) == pytest.approx(y[0], rel=2e-3)
    assert np.abs(run.center_of_mass[:, 0]).max() < 1e-6, "nothing pushes it along"
