"""Articulated landers in the engine: frames, gravity, pushes from outside, balances.

- Seen from turning axes, motion is what it is seen from axes at rest.
- Accelerations are those of ``Tree`` under gravity at each body, and a push from outside moves all
  bodies alike.
- Momentum balances all forces, and energy is kept where nothing takes it.
"""

import numpy as np
import pytest

from alight.contact.hertz import Hertz
from alight.core import devices, frames
from alight.core.outcomes import Outcome, outcome_of
from alight.engine import run_batch, simulate
from alight.flight import Fixed, SolarPressure, SteadyPush, Tumbling, UniformRotation
from alight.gravity import PointMass, Uniform
from alight.motions import TreeModel, TreeRelease, TreeSteps, TreeStop
from alight.surfaces import Plane, Sphere
from alight.vehicles import (
    Branch,
    Joint,
    Pad,
    TreeBody,
    assemble,
    crushable_leg,
    slosh_pendulum,
)

DEVICES = [device.name for device in devices.available()]
each_device = pytest.mark.parametrize("device", DEVICES)


def dumbbell():
    """A bus with a swinging mass and a sliding one, undamped."""
    bus = TreeBody("bus", 20.0, (3, 4, 5), (0.1, 0.0, 0.2))
    parts = [
        Branch([bus], [Joint("bus", "free")], [Pad("bus", (0.3, 0.2, -0.5), 0.1)]),
        slosh_pendulum("liquid", "bus", (0, 0, 0.5), mass=5.0, arm=(0, 0, -0.4), stiffness=2.0),
        Branch(
            [TreeBody("slide", 3.0, (0.1, 0.1, 0.1))],
            [Joint("slide", "prismatic", "bus", (1, 0, 0), axis=(1, 1, 0), stiffness=4.0)],
        ),
    ]
    return assemble("dumbbell", parts)


def moving(tree, place, seed=4):
    """Somewhere, everything moving."""
    rng = np.random.default_rng(seed)
    start = tree.neutral()
    start[:3] = place
    v = rng.uniform(-0.3, 0.3, tree.n_v)
    return tree.integrate(start, np.append(np.zeros(3), v[3:]), 1.0), v


def seen_from_rest(tree, q, v, omega, q_NT):
    """Place, velocity, attitude and rate of the first body in inertial axes, and the joints."""
    place, turn = q[..., :3], q[..., 3:7]
    velocity = v[..., :3] + np.cross(omega, place)
    rate = v[..., 3:6] + frames.quat_rotate_inv(turn, omega)
    found = [frames.quat_rotate(q_NT, place), frames.quat_rotate(q_NT, velocity)]
    return [*found, frames.quat_multiply(q_NT, turn), rate, q[..., 7:], v[..., 6:]]


@pytest.mark.parametrize("uneven", [False, pytest.param(True, marks=pytest.mark.validate)])
def test_motion_is_the_same_seen_from_turning_axes(uneven):
    """Point gravity at the origin looks alike from all axes; the target turns once in 70 s."""
    made = dumbbell()
    q, v = moving(made.tree, (300.0, 40.0, -20.0))
    spin = (0.03, -0.02, 0.09)
    rotation = Tumbling((1.0, 1.5, 2.2), spin) if uneven else UniformRotation(omega=spin)
    ends = []
    for turns in (UniformRotation(0.0), rotation):
        omega, _, q_NT = turns.evaluate([0.0, 100.0], device="cpu")
        model = TreeModel(
            *(made.tree, made.devices, PointMass(500.0), Sphere(radius=100.0), Hertz(1e5)),
            rotation=turns,
            stop=TreeStop(max_time=100.0, tip_angle=np.pi),
            steps=TreeSteps(tolerance=1e-10),
        )
        relative = np.array(v)
        relative[:3] -= np.cross(omega[0], q[:3])
        relative[3:6] -= frames.quat_rotate_inv(q[3:7], omega[0])
        found = run_batch(model, TreeRelease(made.tree, q, relative), device="cpu")
        assert outcome_of(found.outcome[0]) is Outcome.TIMED_OUT
        ends.append(seen_from_rest(made.tree, found.q[0], found.v[0], omega[1], q_NT[1]))
    ends[1][2] *= np.sign(ends[1][2] @ ends[0][2])
    for rest, turning in zip(*ends, strict=True):
        # Gravity is extrapolated from other places in the two: 3e-8 of 5e-3 m/s^2 for 100 s.
        np.testing.assert_allclose(turning, rest, rtol=0.0, atol=2e-6)


@each_device
def test_accelerations_are_those_of_the_tree_under_gravity_at_each_body(device):
    made = dumbbell()
    q, v = moving(made.tree, (30.0, 4.0, -2.0))
    law, spin = PointMass(500.0), (0.0, 0.002, 0.01)
    model = TreeModel(
        *(made.tree, made.devices, law, Sphere(radius=10.0), Hertz(1e5)),
        rotation=UniformRotation(omega=spin),
        stop=TreeStop(max_time=1e-3),
    )
    found = simulate(model, TreeRelease(made.tree, q, v), device=device)
    poses = made.tree.kinematics(q, v, device="cpu")
    _, g, _ = law.evaluate(poses.center, device="cpu")
    a = made.tree.accelerations(q, v, gravity=g, spin=spin, device="cpu")
    loads = made.tree.loads(q, v, axes="body", gravity=g, spin=spin, device="cpu")
    measured = (found.v[-1] - found.v[0]) / found.time[-1]
    # Extrapolated over 1 m of 30 m: 3 (1/30)^2 of the field's 0.55 m/s^2 at most.
    np.testing.assert_allclose(measured, a, atol=2e-3)
    np.testing.assert_allclose(found.joint_force[0, 1:], loads.force[1:], atol=2e-2)


def test_forces_balance_the_momentum_of_a_landing():
    """m dv = weight dt + impulse of the ground, over a whole landing with legs that crush."""
    legs = [
        crushable_leg(
            *(f"leg {k}", "bus", (np.cos(a), -0.3, np.sin(a))),
            mass=2.0,
            length=0.4,
            force=60.0,
            limit=0.2,
        )
        for k, a in enumerate(np.radians([0, 120, 240]))
    ]
    bus = Branch([TreeBody("bus", 50.0, (20, 25, 20))], [Joint("bus", "free")])
    made = assemble("lander", [bus, *legs])
    model = TreeModel(
        *(made.tree, made.devices, Uniform((0, -0.01, 0)), Plane(normal=(0, 1, 0))),
        Hertz(1e5, 100.0, 0.3),
        stop=TreeStop(max_time=6.0),
        up=(0, 1, 0),
    )
    release = TreeRelease.of(made.tree, (0, 0.8, 0), (0.2, -0.5, 0.1), (0.05, 0, 0, 0.99875))
    found = simulate(model, release)
    total = found.pad_force.sum(axis=1)
    impulse = np.trapezoid(total, found.time, axis=0)
    gained = made.tree.mass * (found.velocity[-1] - found.velocity[0])
    gained -= made.tree.mass * np.array([0, -0.01, 0]) * found.time[-1]
    np.testing.assert_allclose(impulse, gained, atol=2e-3 * np.linalg.norm(gained))
    recorded = sum(touch["impulse"] for touch in found.events)
    np.testing.assert_allclose(recorded, impulse, atol=1e-3 * np.linalg.norm(gained))
    # Along its axis a leg carries its crushable's force.
    along = np.stack([found.joint_force[:, made.tree.index(f"leg {k}"), 1] for k in range(3)], 1)
    np.testing.assert_allclose(along, -found.crush_force, atol=1e-6)
    peaks = found.peaks
    largest = np.linalg.norm(found.joint_force, axis=2).max(axis=0)
    np.testing.assert_allclose(peaks.joint_force[0], largest, rtol=1e-12)
    assert peaks.pad_force[0].tolist() == found.pad_normal_force.max(axis=0).tolist()
    assert peaks.stroke[0].tolist() == found.crushed[-1].tolist()


SPIN = UniformRotation(omega=(0.001, 0.0, 0.002))
DRIVEN = {
    "turning evenly": (SPIN, ()),
    "tumbling": (Tumbling((1.0, 1.5, 2.2), (0.002, 0.003, 0.002)), ()),
    "pushed": (SPIN, (SteadyPush((5e-4, 0.0, -1e-3)),)),
}
LATER = [pytest.param(name, marks=pytest.mark.validate) for name in list(DRIVEN)[1:]]


@pytest.mark.parametrize("how", ["turning evenly", *LATER])
def test_energy_of_an_undamped_lander_does_not_change_as_it_bounces(how):
    """E_J less the work of what pushes from outside, and of a target that tumbles, -Omega' . H."""
    made = dumbbell()
    rotation, externals = DRIVEN[how]
    model = TreeModel(
        *(made.tree, made.devices, PointMass(5e-3 * 1e4), Sphere(radius=100.0), Hertz(1e5)),
        rotation=rotation,
        externals=externals,
        stop=TreeStop(max_time=60.0, tip_angle=np.pi),
        steps=TreeSteps(tolerance=1e-9),
    )
    q, v = moving(made.tree, (0, 0, 101.5))
    v[2] = -0.3
    found = run_batch(model, TreeRelease(made.tree, q, v), device="cpu")
    touches = found.touches
    assert len(touches) > 2
    scale = 0.5 * made.tree.mass * 0.3**2
    np.testing.assert_allclose(touches["energy_out"], touches["energy_in"], atol=1e-5 * scale)
    assert abs(found.final["drift"][0]) < 1e-5 * scale


@pytest.mark.validate
def test_a_push_from_outside_moves_all_bodies_alike():
    """Sunlight on a tree far from all else: its centre of mass goes as v = a t, seen from rest."""
    made = dumbbell()
    sunlight = SolarPressure(50.0, Fixed((1.5e11, 0.5e11, -0.3e11)))
    rotation = UniformRotation(omega=(0.0, 0.01, 0.02))
    model = TreeModel(
        *(made.tree, made.devices, Uniform((0, 0, 0)), Plane((0, 0, -1e4)), Hertz(1e5)),
        rotation=rotation,
        externals=(sunlight,),
        stop=TreeStop(max_time=60.0, tip_angle=np.pi),
    )
    found = run_batch(model, TreeRelease.of(made.tree, (0, 0, 0)), device="cpu")
    a, _ = sunlight.evaluate(0.0, [0.0, 0.0, 0.0], rotation=rotation, device="cpu")
    # Released at rest in turning axes: at first every body moves with them.
    omega, _, q_NT = rotation.evaluate([0.0, 60.0], device="cpu")
    start = made.tree.kinematics(made.tree.neutral(), np.zeros(made.tree.n_v), device="cpu")
    masses = np.array([body.mass for body in made.tree.bodies]) / made.tree.mass
    middle = masses @ start.center
    expected = np.cross(omega[0], middle) + 60.0 * a
    seen = found.final["v"][0] + np.cross(omega[1], found.position[0])
    np.testing.assert_allclose(
        frames.quat_rotate(q_NT[1], seen), frames.quat_rotate(q_NT[0], expected), atol=1e-6
    )
    assert 60.0 * np.linalg.norm(a) > 1e-2
