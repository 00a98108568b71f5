"""Actuators of rigid landers.

With I the inertia of the lander, wheels held, J that of a wheel about its axis a, Om its relative
speed and w the inertial rate:

- in flight H = R (I w + sum J Om a) is constant whatever motors and brakes do;
- from a stand a motor that gives the momentum p about a principal axis leaves w = -p / (I - J) and
  Om = p / J + p / (I - J); a brake that then holds the wheel brings w back to 0; in general
  w = I^-1 H from then on;
- a braked wheel throws a cube over its edge (l from edge to centre, alpha = 45 deg):
  w = J Om / (I + m l^2), v = w l at alpha - w t_b / 2 above the ground if friction holds, and else
  w = J Om / (I + m l^2 sin a (sin a + mu cos a)), v = w l sin a sqrt(1 + mu^2) at atan(1 / mu);
- a motor tips it from m g l sin(alpha) on;
- thrust F / m t, springs sqrt(2 E / m).

All tests but one share a kernel: two wheels, a thruster and a spring, of which some stay idle.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from alight import contact, engine, flight, gravity, motions, surfaces, vehicles
from alight.actuators import Schedule, Spring, Thruster, Wheel
from alight.core import frames
from alight.core.outcomes import Outcome

SIDE, MASS, J = 0.25, 5.0, 2.7e-3
CUBE = vehicles.RigidLander.cube(SIDE, MASS)
BOX = vehicles.RigidLander.box((0.2, 0.25, 0.35), MASS)
MOMENT = float(CUBE.inertia[0, 0])
LEVER = SIDE / np.sqrt(2.0)
X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
IDLE = {
    "y": Wheel(Y, J, name="y"),
    "x": Wheel(X, J, name="x"),
    "thruster": Thruster(1.0, X, schedule=Schedule.never()),
    "spring": Spring(1.0, X, schedule=Schedule.never()),
}


def model(g=0.0, mu=2.0, lander=CUBE, rate=0.0, max_time=1e5, longest=600.0, law=None, **used):
    """A lander over a plane, with what ``used`` names in place of what is idle."""
    law = law or contact.Impulse(restitution=0.3, friction=mu, rolling_resistance=0.0)
    return motions.Model(
        gravity.Uniform((0.0, 0.0, -g)),
        surfaces.Plane(),
        lander,
        law,
        rotation=flight.UniformRotation(rate),
        stop=engine.Stop(max_time=max_time),
        steps=motions.Steps(longest=longest),
        actuators=tuple((IDLE | used).values()),
    )


def momentum(solution):
    """(n, 3) H in inertial axes [N m s]."""
    law, lander = solution.model.rotation, solution.model.lander
    omega, _, q_NT = law.evaluate(solution.time, device="cpu")
    star = frames.inertial_rate(solution.attitude, solution.rate, omega)
    H = star @ lander.inertia
    for wheel, speed in zip(solution.model.drives.wheels, solution.wheel_speed.T, strict=True):
        H = H + wheel.inertia * speed[:, None] * wheel.axis
    return frames.quat_rotate(frames.quat_multiply(q_NT, solution.attitude), H)


def test_wheels_leave_the_angular_momentum_alone():
    """A box that tumbles while one wheel is driven and the other braked, on a turning target."""
    y = Wheel(
        Y, J, torque=2e-3, top_speed=300.0, speed=5.0, motor=Schedule.between(5.0, 60.0), name="y"
    )
    x = Wheel(X, 2.0 * J, brake=3e-3, speed=-40.0, braking=Schedule.between(10.0), name="x")
    solution = engine.simulate(
        model(lander=BOX, rate=2e-3, max_time=200.0, y=y, x=x),
        motions.Release((0.0, 0.0, 50.0), rate=(0.3, -0.2, 0.5)),
    )
    H = momentum(solution)
    assert np.abs(H - H[0]).max() < 1e-13 * solution.steps * np.linalg.norm(H[0])
    assert solution.wheel_speed[-1, 1] == 0.0, "held"
    assert solution.wheel_speed[-1, 0] > 20.0
    energy = solution.energy.total - solution.actuator_work
    # The rate of an error of 1e-9 in attitude a step, at the energy of the wheels.
    assert np.abs(energy - energy[0]).max() < 1e-9 * solution.steps * solution.energy.total.max()


def test_a_tumbling_box_with_a_driven_wheel_is_that_of_the_equations():
    """I w' + w x (I w + J Om a) = -J Om' a and J (Om' + a . w') = u, integrated elsewhere."""
    u, t1, w0 = 5e-3, 40.0, np.array([0.4, 0.1, -0.3])
    inertia, axis = BOX.inertia, np.array(Y)
    y = Wheel(Y, J, torque=u, speed=10.0, motor=Schedule(), name="y")
    held = 10.0  # speed at the release

    def slope(_, state):
        q, w, p = state[:4], state[4:7], state[7]
        left = inertia - J * np.outer(axis, axis)
        spun = left @ w + p * axis
        change = np.linalg.solve(left, -np.cross(w, spun) - u * axis)
        turn = 0.5 * frames.quat_multiply(q, np.append(w, 0.0))
        return np.concatenate([turn, change, [u]])

    start = np.concatenate([[0.0, 0.0, 0.0, 1.0], w0, [J * (held + w0 @ axis)]])
    other = solve_ivp(slope, (0.0, t1), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    run = engine.run_batch(
        model(lander=BOX, max_time=t1, y=y), motions.Release((0.0, 0.0, 50.0), rate=w0)
    )
    # Steps of an error of 1e-9 each, a few hundred of them.
    assert run.final["w"][0] == pytest.approx(other[4:7], abs=1e-6)
    off = frames.quat_multiply(frames.quat_conjugate(other[:4]), run.attitude[0])
    assert np.linalg.norm(off[:3]) < 1e-6
    speed = other[7] / J - other[4:7] @ axis
    assert run.wheel_speed[0, 0] == pytest.approx(speed, rel=1e-7)


@pytest.mark.parametrize("torque", [1e-4, 1e-2])
def test_spin_up_turns_the_lander_the_other_way(torque):
    y = Wheel(Y, J, torque=torque, motor=Schedule.between(10.0, 60.0), name="y")
    run = engine.run_batch(model(max_time=100.0, y=y), motions.Release((0.0, 0.0, 50.0)))
    p = torque * 50.0
    assert run.final["w"][0] == pytest.approx([0.0, -p / (MOMENT - J), 0.0], rel=1e-9)
    assert run.wheel_speed[0] == pytest.approx([p / J + p / (MOMENT - J), 0.0], rel=1e-9)


def test_a_motor_approaches_its_top_speed():
    """J_e Om' = torque (1 - Om / top), with 1 / J_e = 1 / J + 1 / (I - J)."""
    torque, top, t = 1e-3, 60.0, 100.0
    y = Wheel(Y, J, torque=torque, top_speed=top, motor=Schedule(), name="y")
    run = engine.run_batch(model(max_time=t, y=y), motions.Release((0.0, 0.0, 50.0)))
    reduced = 1.0 / (1.0 / J + 1.0 / (MOMENT - J))
    expected = top * (1.0 - np.exp(-torque * t / (reduced * top)))
    assert run.wheel_speed[0, 0] == pytest.approx(expected, rel=1e-9 * run.final["steps"][0])


@pytest.mark.parametrize("brake", [1e-3, 0.5])
def test_a_brake_holds_the_wheel_when_it_stands(brake):
    """Lock-up is at Om / (brake / J_e) after the brake is put on, and w = I^-1 H from then on."""
    speed, rate = 80.0, 0.2
    y = Wheel(Y, J, brake=brake, speed=speed, braking=Schedule.between(10.0), name="y")
    solution = engine.simulate(
        model(max_time=900.0, y=y), motions.Release((0.0, 0.0, 500.0), rate=(0.0, rate, 0.0))
    )
    when = 10.0 + speed / (brake * (1.0 / J + 1.0 / (MOMENT - J)))
    stands = np.flatnonzero(solution.wheel_speed[:, 0] == 0.0)[0]
    assert solution.time[stands] - 10.0 == pytest.approx(when - 10.0, rel=2e-6)
    after = rate + J * speed / MOMENT
    assert solution.rate[stands:, 1] == pytest.approx(after, rel=1e-15 * solution.steps)
    H = momentum(solution)
    assert np.abs(H - H[0]).max() < 1e-14 * solution.steps * np.linalg.norm(H[0])
    assert solution.driven[-1, 0] == 0.0, "with the wheel held, flight is free again"
    lost = 0.5 * MOMENT * (after**2 - rate**2) - J * speed * (rate + 0.5 * speed)
    assert solution.actuator_work[-1] == pytest.approx(lost, rel=1e-8)


def thrown(g, speed, mu, brake):
    """State at lock-up of a wheel that is braked in a cube at rest."""
    y = Wheel(Y, J, brake=brake, speed=speed, braking=Schedule.after_rest(10.0), name="y")
    return _hopped(engine.simulate(model(g, mu, y=y), motions.Release((0, 0, 0.5 * SIDE + 1e-10))))


def _hopped(solution):
    assert solution.outcome is Outcome.SETTLED
    # The step after lock-up: the ground has taken what the last of it left.
    at = np.flatnonzero(solution.wheel_speed[:, 0] == 0.0)[0] + 1
    v = solution.velocity[at]
    angle = np.degrees(np.arctan2(v[2], abs(v[0])))
    rise = solution.energy.total - solution.actuator_work
    return solution, np.linalg.norm(v), angle, solution.rate[at, 1], rise


@pytest.mark.parametrize("g", [1.4e-4, 5.7e-3])
@pytest.mark.parametrize("speed", [30.0, 100.0, 500.0])
def test_a_braked_wheel_throws_a_cube_over_its_edge(g, speed):
    """H1 and H2: brakes of 7 ms and less turn the cube by p = w t_b / 2 < 0.03 rad meanwhile; what
    they leave out is of the order p^2, and gravity of the time g t_b / v."""
    brake = 40.0 * max(1.0, speed / 100.0)
    solution, v, angle, w, level = thrown(g, speed, 2.0, brake)
    eta = J / (MOMENT + MASS * LEVER**2)
    t_b = (1.0 - eta) * speed * J / brake
    p = 0.5 * eta * speed * t_b
    little = 5e-4 + 2.0 * p**2 + g * t_b / (eta * speed * LEVER)
    assert w == pytest.approx(eta * speed, rel=little)
    assert v == pytest.approx(eta * speed * LEVER, rel=little)
    assert angle == pytest.approx(45.0 - np.degrees(p), abs=np.degrees(2.0 * little))
    # Steps of contact turn it by 1e-4 rad from a stand: energy to that share, at most.
    assert np.maximum.accumulate(level - level[0]).max() < 1e-4 * 0.5 * MASS * v**2
    # The place where it comes to rest again is far: it hopped.
    assert np.linalg.norm(solution.position[-1, :2]) > 0.2 * v**2 / g


@pytest.mark.parametrize("mu", [0.3, 0.6])
def test_on_smoother_ground_the_edge_slides(mu):
    """H6: thrown at atan(1 / mu), whatever the brake does; its rate to the order of p."""
    speed, brake = 100.0, 40.0
    _, v, angle, w, _ = thrown(1.4e-4, speed, mu, brake)
    s = np.sqrt(0.5)
    expected = J * speed / (MOMENT + MASS * LEVER**2 * s * (s + mu * s))
    p = 0.5 * expected * speed * J / brake
    assert angle == pytest.approx(np.degrees(np.arctan(1.0 / mu)), abs=0.1)
    assert w == pytest.approx(expected, rel=3.0 * p)
    assert v == pytest.approx(expected * LEVER * s * np.sqrt(1.0 + mu**2), rel=3.0 * p)


@pytest.mark.parametrize("share", [0.95, 1.05])
def test_a_motor_tips_the_cube_from_m_g_l_sin_alpha_on(share):
    """H7. Below it the cube stands, and the wheel has all of the momentum: u t."""
    g = 1e-3
    torque = share * MASS * g * 0.5 * SIDE
    y = Wheel(Y, J, torque=torque, motor=Schedule.after_rest(5.0, 60.0), name="y")
    solution = engine.simulate(model(g, y=y), motions.Release((0, 0, 0.5 * SIDE + 1e-10)))
    assert solution.outcome is Outcome.SETTLED
    if share < 1.0:
        assert solution.position[:, 0] == pytest.approx(0.0, abs=1e-9)
        assert solution.wheel_speed[-1, 0] == pytest.approx(torque * 60.0 / J, rel=1e-9)
    else:
        assert np.abs(solution.position[:, 0]).max() > 0.1 * SIDE


def test_a_cube_hops_after_each_rest():
    """Spun up while it stands, braked, and once more: two programmes of two minutes."""
    g, torque = 5.7e-3, 3e-3
    y = Wheel(
        Y,
        J,
        torque=torque,
        brake=2.7,
        motor=Schedule((10.0, 60.0), (1.0, 0.0), "rest", repeats=2),
        braking=Schedule((70.0, 90.0), (1.0, 0.0), "rest", repeats=2),
        name="y",
    )
    solution = engine.simulate(model(g, y=y), motions.Release((0.0, 0.0, 0.14)))
    assert solution.outcome is Outcome.SETTLED
    t, speed = solution.time, solution.wheel_speed[:, 0]
    assert speed.max() == pytest.approx(torque * 50.0 / J, rel=1e-9)
    v = J * speed.max() / (MOMENT + MASS * LEVER**2) * LEVER
    fast = np.linalg.norm(solution.velocity, axis=1) > 0.8 * v
    begins = t[1:][fast[1:] & ~fast[:-1]]
    hops = begins[np.append(True, np.diff(begins) > 70.0)]
    assert len(hops) == 2
    assert t[-1] > hops[1] > hops[0] + 70.0


@pytest.mark.parametrize("start", [0.0, 100.0, 2500.0])
@pytest.mark.parametrize("length", [1.0, 1e-3])
def test_a_pulse_in_flight_is_all_there(start, length):
    """Thrust F for a time T in steps of up to 600 s: v = F T / m, x = v (t - start - T / 2)."""
    force = 0.2 / length
    thruster = Thruster(force, X, schedule=Schedule.between(start, start + length))
    run = engine.run_batch(
        model(max_time=4000.0, thruster=thruster), motions.Release((0.0, 0.0, 50.0))
    )
    v = force * length / MASS
    assert run.outcome[0] == Outcome.TIMED_OUT
    assert run.final["v"][0] == pytest.approx([v, 0.0, 0.0], rel=1e-9, abs=1e-15)
    moved = v * (4000.0 - start - 0.5 * length)
    assert run.position[0, 0] == pytest.approx(moved, rel=1e-9)
    assert run.actuator_work[0] == pytest.approx(0.5 * MASS * v**2, rel=1e-9)


def test_thrust_beside_the_centre_turns_the_lander():
    """A brief push: w = I^-1 (r x F) T."""
    place, force, T = (0.0, 0.0, 0.1), 100.0, 1e-4
    thruster = Thruster(force, X, place, schedule=Schedule.between(50.0, 50.0 + T))
    run = engine.run_batch(
        model(max_time=100.0, thruster=thruster), motions.Release((0.0, 0.0, 50.0))
    )
    assert run.final["w"][0] == pytest.approx([0.0, force * 0.1 * T / MOMENT, 0.0], rel=1e-7)


@pytest.mark.parametrize("spin", [0.0, 50.0])
@pytest.mark.parametrize("aside", [0.0, 0.1])
def test_a_spring_gives_its_energy(aside, spin):
    """All of E: beside the centre 1/m* = 1/m + b^2 / I, with I - J for I where a wheel is free."""
    g, E = 1e-3, 0.02
    spring = Spring(E, (0.0, 0.0, 1.0), (aside, 0.0, 0.0), Schedule.after_rest(5.0))
    y = Wheel(Y, J, speed=spin, name="y")
    solution = engine.simulate(model(g, spring=spring, y=y), motions.Release((0, 0, 0.1250001)))
    at = np.flatnonzero(np.diff(solution.actuator_work) > 0.0)[0] + 1
    assert solution.actuator_work[at] == pytest.approx(E, rel=1e-9)
    if aside == 0.0:
        times = np.linspace(
            solution.time[at], solution.time[at] + 2.0 * np.sqrt(2.0 * 4.0 / g), 999
        )
        top = solution.sample(times)[0][:, 2].max() - 0.5 * SIDE
        assert top == pytest.approx(E / (MASS * g), rel=1e-3)
    else:
        # Turning about y by -b P / I, into the ground ahead: only the first step is free of it.
        assert solution.energy.total[at] - solution.energy.total[at - 1] < E * (1.0 + 1e-6)


def test_alone_and_in_a_batch():
    """The same bits, whatever else runs."""
    y = Wheel(Y, J, brake=20.0, speed=100.0, braking=Schedule.after_rest(10.0), name="y")
    hop = model(1e-3, 0.6, y=y)
    release = motions.Release([(0.0, 0.0, z) for z in (0.1250001, 0.2, 0.13)])
    batch = engine.run_batch(hop, release)
    for i in range(3):
        alone = engine.run_batch(hop, release[i])
        for name in ("t", "x", "v", "q", "w", "steps"):
            assert (alone.final[name][0] == batch.final[name][i]).all()
        assert alone.actuator_work[0] == batch.actuator_work[i]


@pytest.mark.validate
@pytest.mark.parametrize("scheme", ["clipped", "smooth"])
@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_springs_of_the_ground_that_are_stiff_throw_it_as_rigid_ground(scheme, mu):
    """T_c = pi sqrt(m / k) = 7 ms in a brake of 0.13 s: v to 1 %, the angle to 0.3 deg, p^2 beside.

    Where the edge slides the angle is that of H6 to 0.05 deg.
    """
    law = contact.Compliant(
        stiffness=1e6, damping=3130.0, friction=mu, rolling_resistance=0.0, scheme=scheme
    )
    y = Wheel(Y, J, brake=2.0, speed=100.0, braking=Schedule.after_rest(10.0), name="y")
    g = 5.7e-3
    _, v, angle, w, _ = _hopped(
        engine.simulate(model(g, law=law, y=y), motions.Release((0, 0, 0.5 * SIDE + 1e-10)))
    )
    eta = J / (MOMENT + MASS * LEVER**2)
    if mu >= 1.0:
        p = 0.5 * eta * 100.0 * (1.0 - eta) * 100.0 * J / 2.0
        assert v == pytest.approx(eta * 100.0 * LEVER, rel=1e-2)
        assert w == pytest.approx(eta * 100.0, rel=2.5e-2)
        assert angle == pytest.approx(45.0 - np.degrees(p), abs=0.3 + np.degrees(p**2))
    else:
        assert angle == pytest.approx(np.degrees(np.arctan(1.0 / mu)), abs=0.3)
