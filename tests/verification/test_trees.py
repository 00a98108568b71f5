"""Articulated trees: what free flight keeps, loads by Newton and Euler, gimbal lock (B2-1).

- A free tree keeps energy, momentum and angular momentum; RK4 breaks them with its order, 4.
- Body by body, m a = sum of forces and d(R I w)/dt = sum of moments about the centre of mass.
- Paper 002 section 2.3: p = (cos a/2, 0, sin a/2, 0), a = 85 deg + 10 deg/s t, through a = 90 deg.
- A damped pendulum, two masses on a spring, and a tree seen from turning axes.
"""

import numpy as np
import pytest

from alight.core import devices, frames
from alight.vehicles import Joint, Tree, TreeBody
from alight.vehicles.euler import euler_angles, euler_rates, quat_from_euler

DEVICES = [device.name for device in devices.available()]
each_device = pytest.mark.parametrize("device", DEVICES)


def lander():
    """Like the lander of paper 002: a bus, three legs that slide, liquid on a ball joint, a dish.

    Springs and no dampers; one part is fixed.
    """
    leg = TreeBody("leg 1", 6.0, (0.5, 0.02, 0.5), (0.0, -0.4, 0.0))
    bodies = [
        TreeBody("bus", 330.0, [[640, 6, -15], [6, 690, 9], [-15, 9, 620]], (0.01, 0.02, -0.01)),
        leg,
        TreeBody("leg 2", leg.mass, leg.inertia, leg.center),
        TreeBody("leg 3", leg.mass, leg.inertia, leg.center),
        TreeBody("liquid", 10.0, (0.05, 0.04, 0.05), (0.0, -0.15, 0.0)),
        TreeBody("mast", 2.0, (0.3, 0.01, 0.3), (0.0, 0.5, 0.0)),
        TreeBody("dish", 3.0, (0.2, 0.1, 0.15), (0.1, 0.2, 0.0)),
    ]
    seats = ((0.8668, -1.0, 1.455), (0.8668, -1.0, -1.455), (-1.6532, -1.0, 0.0))
    angles = np.radians([[-7.4, 0.0, 4.0], [7.4, 0.0, 4.0], [0.0, 0.0, -9.0]])
    joints = [
        Joint("bus", "free"),
        *(
            Joint(
                f"leg {k + 1}",
                "prismatic",
                "bus",
                place=seats[k],
                turn=quat_from_euler(angles[k]),
                axis=(0.0, 1.0, 0.0),
                stiffness=400.0,
            )
            for k in range(3)
        ),
        Joint("liquid", "spherical", "bus", place=(0.0, 0.0268, 0.0), stiffness=10.0),
        Joint("mast", "fixed", "bus", place=(0.3, 1.0, 0.0), turn=quat_from_euler((0.1, 0.2, 0.3))),
        Joint("dish", "revolute", "mast", place=(0.0, 1.0, 0.0), axis=(1, 2, 0), stiffness=5.0),
    ]
    return Tree("lander", bodies, joints)


def state(tree, seed=0, fast=1.0):
    """Somewhere far from rest."""
    rng = np.random.default_rng(seed)
    q = tree.integrate(tree.neutral(), rng.uniform(-0.3, 0.3, tree.n_v), 1.0)
    return q, fast * rng.uniform(-1.0, 1.0, tree.n_v)


# -- what free flight keeps -----------------------------------------------------------------------


@each_device
def test_free_flight_keeps_energy_and_momentum_with_order_4(device):
    tree = lander()
    q, v = state(tree)
    drift, ends = [], []
    for count in (40, 80, 160, 320):
        end = tree.fly(q, v, 2.0 / count, count, device=device)
        moved = tree.momentum(end.q, end.v, about=(0, 0, 0), device=device)
        energy = tree.energy(end.q, end.v, device=device).total
        kept = [energy[:, None], moved.linear, moved.angular]
        drift.append([np.abs(x[1] - x[0]).max() / np.abs(x[0]).max() for x in kept])
        ends.append(np.concatenate([end.q[-1], end.v[-1]]))
    steps = [np.abs(a - b).max() for a, b in zip(ends[1:], ends[:-1], strict=True)]
    order = np.log2(np.array(steps[:-1]) / steps[1:])
    assert order[-1] == pytest.approx(4.0, abs=0.2)
    # The drift falls at least as fast, down to 320 steps of the method's error.
    fall = np.log2(np.array(drift[:-1]) / drift[1:])
    assert fall.min() > 3.6
    assert np.max(drift[-1]) < 1e-8


@each_device
def test_the_mass_center_of_a_free_tree_falls_as_a_point(device):
    tree, g = lander(), np.array([0.1, -0.3, 0.2])
    q, v = state(tree, 1)
    end = tree.fly(q, v, 0.005, 200, gravity=g, device=device)
    start = tree.momentum(q, v, device=device)
    last = tree.momentum(end.q[-1], end.v[-1], device=device)
    fallen = start.center + start.linear / tree.mass + 0.5 * g
    # 200 steps of a fourth-order method at a swing of 6 rad/s: (6 h)^4 / 120 of half a metre.
    assert np.abs(last.center - fallen).max() < 1e-8
    assert np.abs(last.linear - start.linear - tree.mass * g).max() < 1e-8 * tree.mass


def test_a_tree_that_is_far_away_moves_alike():
    """2.5 km from the origin and at it: differences are those of rounding the place alone."""
    tree = lander()
    q, v = state(tree, 2)
    away = np.array(q)
    away[:3] += (2000.0, -1500.0, 500.0)
    here, there = (tree.accelerations(x, v) for x in (q, away))
    assert np.array_equal(here, there)


# -- loads ----------------------------------------------------------------------------------------


def derivative(values, h):
    """Of five states around the middle, exact to h^4."""
    return (values[0] - 8.0 * values[1] + 8.0 * values[3] - values[4]) / (12.0 * h)


@each_device
def test_loads_balance_every_body(device):
    tree, g, h = lander(), np.array([0.0, -0.5, 0.1]), 1e-3
    q, v = state(tree, 3)
    rng = np.random.default_rng(3)
    forces, moments = rng.uniform(-20.0, 20.0, (2, tree.count, 3))
    acting = {"forces": forces, "moments": moments, "gravity": g, "device": device}
    loads = tree.loads(q, v, **acting)
    back, on = (tree.fly(q, v, s * h, 2, every=1, **acting) for s in (-1.0, 1.0))
    qs = np.array([back.q[2], back.q[1], q, on.q[1], on.q[2]])
    vs = np.array([back.v[2], back.v[1], v, on.v[1], on.v[2]])
    where = tree.kinematics(qs, vs, device=device)
    inertia = np.array([body.inertia for body in tree.bodies])
    mass = np.array([body.mass for body in tree.bodies])
    spinning = frames.quat_rotate(where.attitude, np.einsum("bij,kbj->kbi", inertia, where.rate))
    force = forces + mass[:, None] * g + loads.force
    moment = moments + loads.moment
    arm = where.center[2] - where.position[2]
    moment -= np.cross(arm, loads.force)
    for i, parent in enumerate(tree.parents):
        if parent >= 0:
            force[parent] -= loads.force[i]
            lever = where.position[2, i] - where.center[2, parent]
            moment[parent] -= loads.moment[i] + np.cross(lever, loads.force[i])
    size = np.abs(loads.force).max() + np.abs(loads.moment).max()
    # Differences of h^4 and rounding over h: both some 1e-12 of velocities of a few m/s.
    assert np.abs(force - mass[:, None] * derivative(where.center_velocity, h)).max() < 1e-8 * size
    assert np.abs(moment - derivative(spinning, h)).max() < 1e-8 * size
    assert np.abs(loads.force[tree.index("mast")]).max() > 1.0  # a fixed joint has its loads too
    assert np.abs(loads.force[0]).max() < 1e-11 * size  # and nothing holds a free bus


def test_loads_of_a_hanging_chain():
    """At rest each joint carries the weight below it."""
    bodies = [TreeBody(f"b{k}", k + 1.0, (0.1, 0.1, 0.1), (0, 0, -0.5)) for k in range(4)]
    kinds = ("fixed", "revolute", "spherical", "revolute")
    joints = [
        Joint(
            f"b{k}",
            kind,
            f"b{k - 1}" if k else None,
            place=(0, 0, -1.0 if k else 0.0),
            axis=(1, 0, 0) if kind == "revolute" else None,
        )
        for k, kind in enumerate(kinds)
    ]
    tree = Tree("chain", bodies, joints)
    loads = tree.loads(tree.neutral(), np.zeros(tree.n_v), gravity=(0, 0, -2.0))
    assert loads.force[:, 2] == pytest.approx([20.0, 18.0, 14.0, 8.0], rel=1e-14)
    assert np.abs(loads.moment).max() < 1e-13


# -- gimbal lock ----------------------------------------------------------------------------------

START, RATE = np.radians(85.0), np.radians(10.0)


def ball(inertia=(2.0, 2.0, 2.0)):
    return Tree("ball", [TreeBody("body", 3.0, inertia)], [Joint("body", "spherical")])


@each_device
def test_b2_1_quaternions_pass_the_gimbal(device):
    tree = ball((2.0, 3.0, 4.0))
    q = quat_from_euler((0.0, START, 0.0))
    flight = tree.fly(q, (0.0, RATE, 0.0), 1e-3, 1000, every=100, device=device)
    angle = START + RATE * flight.time
    exact = np.stack([0 * angle, np.sin(angle / 2), 0 * angle, np.cos(angle / 2)], -1)
    assert np.abs(flight.q - exact).max() < 1e-9
    a = euler_angles(flight.q)
    before = flight.time < 0.5 - 1e-9
    after = flight.time > 0.5 + 1e-9
    assert np.abs(a[before, 1] - angle[before]).max() < 1e-9
    # Past the lock the second angle comes back, and the others are half a turn.
    assert np.abs(a[after, 1] - (np.pi - angle[after])).max() < 1e-9
    assert np.abs(np.abs(a[after][:, [0, 2]]) - np.pi).max() < 1e-9
    assert np.abs(
        frames.quat_to_matrix(quat_from_euler(a)) - frames.quat_to_matrix(exact)
    ).max() < (1e-9)


def euler_flight(rate, step, count):
    """RK4 on the angles themselves, as paper 002 warns of, at a constant body rate."""
    a = np.array([0.0, START, 0.0])
    for _ in range(count):
        k1 = euler_rates(a, rate)
        k2 = euler_rates(a + 0.5 * step * k1, rate)
        k3 = euler_rates(a + 0.5 * step * k2, rate)
        k4 = euler_rates(a + step * k3, rate)
        a = a + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return a


@each_device
def test_b2_1_euler_rates_fail_where_quaternions_do_not_notice(device):
    w = np.array([1e-6, RATE, 0.0])
    start = quat_from_euler((0.0, START, 0.0))
    exact = frames.quat_multiply(
        start, frames.quat_from_axis_angle(w, np.linalg.norm(w))
    )  # 1 s at a constant rate
    flown = ball().fly(start, w, 1e-3, 1000, device=device).q[-1]
    assert np.abs(flown - exact).max() < 1e-9
    angles = euler_flight(w, 1e-3, 1000)
    off = 2.0 * np.arccos(min(1.0, abs(quat_from_euler(angles) @ exact)))
    # One step across the lock throws the angles by hundreds of turns; what is left of the attitude
    # after they cancel is wrong by 1e-4 rad.
    assert np.degrees(np.abs(angles[[0, 2]])).min() > 1e4
    assert off > 1e-5


# -- closed forms ---------------------------------------------------------------------------------


@each_device
def test_slosh_pendulum_decays_as_a_damped_oscillator(device):
    """Erratum 002-11: 10 kg on 0.15 m, 10 N m/rad, 1 N m s/rad: 0.94 s and damping 0.333."""
    inertia = 10.0 * 0.15**2
    tree = Tree(
        "slosh",
        [TreeBody("bob", 10.0, center=(0.0, -0.15, 0.0))],
        [Joint("bob", "revolute", axis=(0, 0, 1), stiffness=10.0, damping=1.0)],
    )
    start = 0.4
    flight = tree.fly([start], [0.0], 1e-3, 2000, every=50, device=device)
    decay, t = 0.5 / inertia, flight.time
    w = np.sqrt(10.0 / inertia - decay**2)
    exact = start * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))
    assert 2.0 * np.pi / np.sqrt(10.0 / inertia) == pytest.approx(0.94, abs=0.01)
    assert np.abs(flight.q[:, 0] - exact).max() < 1e-9


@each_device
def test_two_masses_on_a_spring(device):
    m1, m2, k = 3.0, 2.0, 50.0
    tree = Tree(
        "two",
        [TreeBody("a", m1, (1, 1, 1)), TreeBody("b", m2, (1, 1, 1))],
        [
            Joint("a", "free"),
            Joint("b", "prismatic", "a", axis=(0, 0, 1), stiffness=k, rest=0.3),
        ],
    )
    q, v = tree.neutral(), np.zeros(tree.n_v)
    q[tree.q_slices["b"]] = 0.5
    flight = tree.fly(q, v, 1e-3, 1000, every=100, device=device)
    w = np.sqrt(k * (m1 + m2) / (m1 * m2))
    exact = 0.3 + 0.2 * np.cos(w * flight.time)
    assert np.abs(flight.q[:, tree.q_slices["b"]][:, 0] - exact).max() < 1e-9


@each_device
def test_turning_axes_give_the_same_motion(device):
    """The same tree in axes that turn with a target: joints and loads are what they are."""
    tree, g = lander(), np.array([0.2, -0.4, 0.1])
    q, v = state(tree, 5)
    spin = np.array([0.02, -0.05, 0.4])
    x, u, turn = q[:3], v[:3], q[3:7]
    seen = np.array(v)
    seen[:3] = u - np.cross(spin, x)
    seen[3:6] = v[3:6] - frames.quat_rotate_inv(turn, spin)
    still = tree.accelerations(q, v, gravity=g, device=device)
    turning = tree.accelerations(q, seen, gravity=g, spin=spin, device=device)
    pseudo = 2.0 * np.cross(spin, seen[:3]) + np.cross(spin, np.cross(spin, x))
    assert np.abs(turning[:3] + pseudo - still[:3]).max() < 1e-13 * np.abs(still).max()
    assert np.abs(turning[6:] - still[6:]).max() < 1e-12 * np.abs(still).max()
    # d(w - R^T s)/dt = w' + w x R^T s in body axes, with s constant in the turning axes.
    held = np.cross(v[3:6], frames.quat_rotate_inv(turn, spin))
    assert np.abs(turning[3:6] - (still[3:6] + held)).max() < 1e-12 * np.abs(still).max()
    one = tree.loads(q, v, gravity=g, device=device)
    two = tree.loads(q, seen, gravity=g, spin=spin, device=device)
    assert np.abs(one.force - two.force).max() < 1e-12 * np.abs(one.force).max()
    # Poses and velocities are relative to the axes that are used, whether or not they turn.
    for a, b in zip(
        tree.batch(q, seen, spin=spin, device=device).place(np.zeros(3))[:4],
        tree.batch(q, seen, device=device).place(np.zeros(3))[:4],
        strict=True,
    ):
        assert np.abs(a - b).max() < 1e-14 * np.abs(b).max()
