"""Devices of trees and ready-made branches: what is checked, and what they make."""

import math

import numpy as np
import pytest

from alight.actuators import Controller
from alight.core import frames
from alight.core.errors import InputError
from alight.vehicles import (
    Brake,
    Branch,
    Crushable,
    Joint,
    Motor,
    Pad,
    Schedule,
    Slosh,
    Thruster,
    Tree,
    TreeBody,
    assemble,
    crushable_leg,
    dcap,
    dcap_lander,
    flywheel,
    slosh_pendulum,
    slosh_spring,
    telescopic_leg,
)
from alight.vehicles.fittings import fitted

BUS = Branch([TreeBody("bus", 100.0, (50, 60, 50))], [Joint("bus", "free")])


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Crushable("leg", 400.0, -0.2), "stroke limit"),
        (lambda: Crushable("leg", -400.0, 0.2), "force"),
        (lambda: Crushable("leg", 400.0, 0.2, crushed=-0.1), "crushed stroke"),
        (lambda: Crushable("leg", 400.0, 0.2, crushed=0.3), "more than its limit"),
        (lambda: Crushable("leg", 400.0, 0.2, stiffness=0.0), "stiffness"),
        (lambda: Crushable("leg", 400.0, 0.2, damping=0.0), "damping"),
        (lambda: Pad("leg", radius=-0.1), "radius"),
        (lambda: Pad("leg", (0.0, np.nan, 0.0)), "place"),
        (lambda: Thruster(5.0, (0, 0, 0), body="bus"), "direction"),
        (lambda: Thruster(-5.0, (0, 0, 1), body="bus"), "force"),
        (lambda: Thruster(5.0, (0, 0, 1), schedule="soon", body="bus"), "Schedule"),
        (lambda: Thruster("bus", (0, 0, 0), (0, 0, 1), 5.0), 'body="bus"'),
        (lambda: Thruster(5.0, (0, 0, 1), body=" "), "must be text"),
        (lambda: Motor("wheel", 1.0, top_speed=0.0), "top speed"),
        (lambda: Motor("wheel", math.inf), "torque"),
        (lambda: Brake("wheel", -1.0), "torque"),
        (lambda: Brake("wheel", 1.0, Schedule((0.0,), (-1.0,))), "does not drive"),
        (lambda: Slosh("liquid", (0, 0, 0), "bus"), "direction"),
        (lambda: Schedule((0.0, 1.0), (1.0,)), "2 times and 1 levels"),
        (lambda: Schedule((1.0, 1.0), (1.0, 0.0)), "must rise"),
        (lambda: Schedule((-1.0,), (1.0,)), "must rise"),
        (lambda: Schedule(after="impact"), "trigger"),
        (lambda: Schedule.after_touch(-1.0), "delay"),
        (lambda: Schedule.after_touch(0.0, 0.0), "duration"),
        (lambda: Schedule.between(2.0, 1.0), "duration"),
    ],
)
def test_bad_devices_are_refused(make, said):
    with pytest.raises(InputError, match=said):
        make()


@pytest.mark.parametrize(
    ("device", "said"),
    [
        (Pad("foot"), "foot"),
        (Crushable("bus", 400.0, 0.2), "prismatic joint"),
        (Motor("bus", 1.0), "revolute and prismatic"),
        (Thruster(1.0, (0, 0, 1)), "has no body"),
        (Thruster(1.0, (0, 0, 1), schedule=Controller(1.0), body="bus"), "have a Schedule"),
        (Slosh("bus", (0, 0, 1), "tank"), "tank"),
        ("a pad", "must be a Pad"),
    ],
)
def test_devices_that_do_not_fit_the_tree_are_refused(device, said):
    with pytest.raises(InputError, match=said):
        fitted(Tree("t", BUS.bodies, BUS.joints), [device])


def test_two_of_a_kind_need_two_names():
    tree = Tree("t", BUS.bodies, BUS.joints)
    with pytest.raises(InputError, match="rename one"):
        fitted(tree, [Pad("bus", (1, 0, 0)), Pad("bus", (0, 1, 0))])
    fitted(tree, [Pad("bus", (1, 0, 0), name="a"), Pad("bus", (0, 1, 0), name="b")])


AT = ("part", "bus", (0, 0, 0))
LEG = {"mass": 1.0, "length": 1.0}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: telescopic_leg(*AT, **LEG, damping=1.0, stroke=-0.1), "stroke"),
        (lambda: telescopic_leg(*AT, **LEG, damping=1.0, stroke=0.1, preload=-1.0), "preload"),
        (lambda: crushable_leg(*AT, mass=0.0, length=1.0, force=1.0, limit=1.0), "mass"),
        (lambda: crushable_leg(*AT, **LEG, force=1.0, limit=0.0), "limit"),
        (lambda: slosh_pendulum(*AT, mass=1.0, arm=(0, 0, 0)), "arm"),
        (lambda: slosh_pendulum(*AT, mass=1.0, arm=(0, 0, 1), hanging="rope"), "hanging"),
        (lambda: slosh_spring(*AT, mass=1.0, stiffness=1.0, axes=np.zeros((4, 3))), "one to three"),
        (lambda: flywheel(*AT, (0, 0, 1), mass=1.0, inertia=-1.0), "inertia"),
        (lambda: assemble("x", [BUS, "leg"]), "must be a Branch"),
    ],
)
def test_bad_branches_are_refused(make, said):
    with pytest.raises(InputError, match=said):
        make()


# -- what they make --------------------------------------------------------------------------------


def test_a_schedule_is_on_between_its_times():
    pulse = Schedule.after_touch(0.5, 2.0)
    assert (pulse.times, pulse.levels, pulse.after) == ((0.5, 2.5), (1.0, 0.0), "touch")
    assert Schedule.between(1.0).times == (1.0,)


def test_a_pendulum_of_slosh_swings_with_its_length():
    """w^2 = (k + m g l) / (m l^2), of each of the two hinges and of the single one."""
    for hanging, axis in (("universal", None), ("revolute", (0, 0, 1))):
        branch = slosh_pendulum(
            *("liquid", "bus", (0, 0.1, 0)),
            mass=10.0,
            arm=(0, -0.15, 0),
            stiffness=10.0,
            hanging=hanging,
            axis=axis,
        )
        heavy = Branch([TreeBody("bus", 1e9, (1e9, 1e9, 1e9))], [Joint("bus", "free")])
        tree = assemble("t", [heavy, branch]).tree
        for body in [b.name for b in branch.bodies]:
            q = tree.neutral()
            q[tree.q_slices[body]] = 1e-6
            a = tree.accelerations(q, np.zeros(tree.n_v))[tree.v_slices[body]]
            assert a[0] == pytest.approx(-1e-6 * 10.0 / (10.0 * 0.15**2), rel=1e-6)


def test_a_mass_on_springs_moves_along_its_axes():
    branch = slosh_spring("s", "bus", (0, 0, 0), mass=4.0, stiffness=100.0, axes=np.eye(3))
    tree = assemble("t", [BUS, branch]).tree
    assert [joint.kind for joint in tree.joints] == ["free", *["prismatic"] * 3]
    assert tree.mass == 104.0


def test_a_flywheel_has_the_inertia_given():
    made = assemble(
        "t",
        [BUS, flywheel("w", "bus", (0, 0, 0.2), (0, 1, 0), mass=3.0, inertia=0.02, torque=0.1)],
    )
    assert made.tree.bodies[1].inertia[1, 1] == pytest.approx(0.02)
    assert made.tree.bodies[1].inertia[0, 0] == pytest.approx(0.01)
    assert [type(d) for d in made.devices] == [Motor]


def test_the_lander_of_paper_002_has_its_mass_inertia_and_pads():
    made = dcap_lander(leg_mass=7.0)
    tree = made.tree
    poses = tree.kinematics(tree.neutral(), np.zeros(tree.n_v), device="cpu")
    masses = np.array([body.mass for body in tree.bodies])
    assert masses.sum() == pytest.approx(362.0, rel=1e-14)
    np.testing.assert_allclose(masses @ poses.center, 0.0, atol=1e-10)
    total = np.zeros((3, 3))
    for body, c, q in zip(tree.bodies, poses.center, poses.attitude, strict=True):
        R = frames.quat_to_matrix(q)
        total += R @ body.inertia @ R.T + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
    np.testing.assert_allclose(total, dcap.INERTIA, atol=1e-9)
    for i, pad in enumerate(d for d in made.devices if isinstance(d, Pad)):
        k = tree.index(pad.body)
        R = frames.quat_to_matrix(poses.attitude[k])
        # The paper rounds its angles to 0.1 deg, which is half a millimetre on 0.3 m.
        np.testing.assert_allclose(poses.position[k] + R @ pad.place, dcap.PADS[i], atol=6e-4)
