"""Trees: layout, states in any shape, what joints do, and what cannot be a tree."""

import dataclasses
import math

import numpy as np
import pytest

from alight.core import devices, frames
from alight.core.errors import InputError
from alight.vehicles import Joint, Tree, TreeBody

DEVICES = [device.name for device in devices.available()]
each_device = pytest.mark.parametrize("device", DEVICES)

CUBE = (0.2, 0.2, 0.2)


def slider(mass=2.0, **options):
    """A mass that slides along x."""
    body = TreeBody("mass", mass, CUBE)
    return Tree("slider", [body], [Joint("mass", "prismatic", axis=(3, 0, 0), **options)])


def arm():
    """A free bus, given last, with a chain of two and a ball on it."""
    bodies = [
        TreeBody("hand", 1.0, CUBE, (0.1, 0, 0)),
        TreeBody("arm", 2.0, CUBE, (0.2, 0, 0)),
        TreeBody("ball", 3.0, CUBE, (0, 0, 0.1)),
        TreeBody("bus", 20.0, (2, 3, 4)),
    ]
    joints = [
        Joint("bus", "free"),
        Joint("arm", "revolute", "bus", (0.5, 0, 0), axis=(0, 0, 1)),
        Joint("hand", "prismatic", "arm", (0.4, 0, 0), axis=(1, 0, 0)),
        Joint("ball", "spherical", "bus", (-0.5, 0, 0)),
    ]
    return Tree("arm", bodies, joints)


def states(tree, count, seed=0):
    rng = np.random.default_rng(seed)
    start = np.tile(tree.neutral(), (count, 1))
    return tree.integrate(start, rng.normal(size=(count, tree.n_v)), 0.4), rng.normal(
        size=(count, tree.n_v)
    )


# -- layout ---------------------------------------------------------------------------------------


def test_parents_come_first_and_the_given_order_is_kept():
    tree = arm()
    assert [body.name for body in tree.bodies] == ["bus", "arm", "hand", "ball"]
    assert [joint.body for joint in tree.joints] == [body.name for body in tree.bodies]
    assert tree.parents[0] == -1
    assert all(parent < i for i, parent in enumerate(tree.parents))
    assert (tree.n_q, tree.n_v, tree.count, tree.mass) == (13, 11, 4, 26.0)
    assert tree.q_slices["bus"] == slice(0, 7)
    assert tree.v_slices["bus"] == slice(0, 6)
    assert tree.index("ball") == [body.name for body in tree.bodies].index("ball")
    assert "26 kg, 4 bodies, 11 freedoms" in str(tree)
    with pytest.raises(InputError, match='Did you mean "hand"'):
        tree.index("hant")


def test_nothing_can_be_changed():
    tree = arm()
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.bodies[0].mass = 1.0
    with pytest.raises(ValueError, match="read-only"):
        tree.bodies[0].inertia[0, 0] = 1.0
    with pytest.raises(AttributeError):
        tree.bodies = ()
    with pytest.raises(TypeError):
        tree.q_slices["bus"] = slice(0, 1)


def test_what_was_given_is_copied():
    inertia = np.diag([1.0, 1.0, 1.0])
    body = TreeBody("a", 1.0, inertia)
    inertia[0, 0] = 5.0
    assert body.inertia[0, 0] == 1.0


@each_device
def test_states_in_any_shape(device):
    tree = arm()
    q, v = states(tree, 6)
    flat = tree.accelerations(q, v, gravity=(0, 0, -1), device=device)
    shaped = tree.accelerations(
        q.reshape(2, 3, -1), v.reshape(2, 3, -1), gravity=(0, 0, -1), device=device
    )
    assert np.array_equal(shaped, flat.reshape(2, 3, -1))
    one = tree.accelerations(q[4], v[4], gravity=(0, 0, -1), device=device)
    assert np.array_equal(one, flat[4])
    same = tree.accelerations(q[4], v, device=device)
    assert same.shape == (6, tree.n_v)
    assert tree.accelerations(np.zeros((0, tree.n_q)), v[:0], device=device).shape == (0, tree.n_v)
    assert tree.kinematics(q, v, device=device).attitude.shape == (6, 4, 4)
    assert tree.loads(q[0], v[0], device=device).force.shape == (4, 3)
    assert tree.fly(q, v, 0.1, 5, every=2, device=device).q.shape == (4, 6, tree.n_q)


def test_threads_do_not_change_bits():
    tree = arm()
    q, v = states(tree, 2000)
    one, two = (tree.accelerations(q, v, device="cpu", threads=k) for k in (1, 2))
    assert np.array_equal(one, two)


@each_device
def test_gravity_forces_and_moments_by_body_or_for_all(device):
    tree = arm()
    q, v = states(tree, 3)
    g = np.array([0.1, 0.2, -0.3])
    mass = np.array([body.mass for body in tree.bodies])[:, None]
    uniform = tree.accelerations(q, v, gravity=g, device=device)
    each = tree.accelerations(q, v, gravity=np.tile(g, (3, 4, 1)), device=device)
    pushed = tree.accelerations(q, v, forces=mass * g, device=device)
    assert np.array_equal(uniform, each)
    assert np.abs(uniform - pushed).max() < 1e-13 * np.abs(uniform).max()
    # A force off the centre of mass is one at it, and a moment.
    force = np.zeros((4, 3))
    force[2] = (1.0, 2.0, 3.0)
    point = np.array([body.center for body in tree.bodies])
    point[2] += (0.3, -0.2, 0.5)
    turned = tree.kinematics(q, v, device=device).attitude[:, 2]
    moment = np.zeros((3, 4, 3))
    moment[:, 2] = np.cross(frames.quat_rotate(turned, (0.3, -0.2, 0.5)), force[2])
    off = tree.accelerations(q, v, forces=force, points=point, device=device)
    both = tree.accelerations(q, v, forces=force, moments=moment, device=device)
    assert np.abs(off - both).max() < 1e-13 * np.abs(off).max()


@each_device
def test_momentum_about_a_point(device):
    tree = arm()
    q, v = states(tree, 2)
    where = tree.kinematics(q, v, device=device)
    mass = np.array([body.mass for body in tree.bodies])[:, None]
    point = np.array([1.0, -2.0, 0.5])
    inertia = np.array([body.inertia for body in tree.bodies])
    spin = frames.quat_rotate(where.attitude, np.einsum("bij,kbj->kbi", inertia, where.rate))
    swing = np.cross(where.center - point, mass * where.center_velocity)
    found = tree.momentum(q, v, about=point, device=device)
    assert found.angular == pytest.approx((spin + swing).sum(axis=1), rel=1e-12)
    assert found.linear == pytest.approx((mass * where.center_velocity).sum(axis=1), rel=1e-12)


# -- what joints do -------------------------------------------------------------------------------


@each_device
def test_spring_damper_motor_and_effort(device):
    tree = slider(stiffness=6.0, rest=0.5, damping=0.4, motor=1.0)
    found = tree.accelerations([0.2], [3.0], tau=[2.0], device=device)
    assert found[0] == pytest.approx((6.0 * 0.3 - 0.4 * 3.0 + 1.0 + 2.0) / 2.0, rel=1e-14)
    assert tree.energy([0.2], [3.0], device=device).stored == pytest.approx(
        0.5 * 6.0 * 0.09 - 0.2, rel=1e-14
    )


@each_device
def test_friction_is_coulombs_at_speed_and_a_damper_below(device):
    tree = slider(friction=5.0, friction_speed=1e-3)
    v = np.array([[2.0], [-2.0], [1e-3], [1e-6], [0.0]])
    found = 2.0 * tree.accelerations([0.0], v, device=device)[:, 0]
    exact = -5.0 * v[:, 0] / np.hypot(v[:, 0], 1e-3)
    assert found == pytest.approx(exact, rel=1e-14)
    assert found[0] == pytest.approx(-5.0, rel=1e-6)


@each_device
def test_stops_push_and_never_pull(device):
    tree = slider(lower=-0.1, upper=0.2, stop_stiffness=100.0, stop_damping=10.0)
    q = np.array([[0.1], [0.25], [0.25], [-0.15], [-0.15], [0.25]])
    v = np.array([[1.0], [1.0], [-9.0], [-1.0], [9.0], [-0.1]])
    found = 2.0 * tree.accelerations(q, v, device=device)[:, 0]
    assert found == pytest.approx([0.0, -15.0, 0.0, 15.0, 0.0, -4.0], rel=1e-13)
    stored = tree.energy(q, v, device=device).stored
    assert stored == pytest.approx([0.0, 0.125, 0.125, 0.125, 0.125, 0.125], rel=1e-12)


@each_device
def test_one_sided_stop(device):
    tree = slider(upper=0.2, stop_stiffness=100.0)
    assert tree.accelerations([-50.0], [0.0], device=device)[0] == 0.0
    assert tree.energy([-50.0], [0.0], device=device).stored == 0.0


@each_device
def test_ball_joint_spring_pulls_along_the_rotation(device):
    options = {"stiffness": 4.0, "damping": 0.5, "friction": 0.3, "friction_speed": 1e-4}
    tree = Tree("b", [TreeBody("b", 1.0, (2, 2, 2))], [Joint("b", "spherical", **options)])
    axis = np.array([0.6, 0.0, 0.8])
    q = frames.quat_from_axis_angle(axis, 1.2)
    for same in (q, -q):
        found = tree.accelerations(same, (0, 0, 0), device=device)
        assert 2.0 * found == pytest.approx(-4.0 * 1.2 * axis, abs=1e-14)
        assert tree.energy(same, (0, 0, 0), device=device).stored == pytest.approx(2.0 * 1.44)
    assert tree.accelerations(tree.neutral(), (0, 0, 0), device=device) == pytest.approx([0, 0, 0])
    w = np.array([0.0, 2.0, 0.0])
    found = 2.0 * tree.accelerations(tree.neutral(), w, device=device)
    assert found == pytest.approx(-0.5 * w - 0.3 * w / math.hypot(2.0, 1e-4), rel=1e-14)


def test_a_massless_body_may_carry_others():
    """Two crossed hinges with nothing between them: a universal joint."""
    tree = Tree(
        "cross",
        [TreeBody("cross"), TreeBody("load", 2.0, CUBE, (0, 0, -1))],
        [
            Joint("cross", "revolute", axis=(1, 0, 0)),
            Joint("load", "revolute", "cross", axis=(0, 1, 0)),
        ],
    )
    found = tree.accelerations([0.0, 0.0], [0.0, 0.0], forces=[[0, 0, 0], [1.0, 2.0, 0]])
    assert found == pytest.approx([2.0 / 2.2, -1.0 / 2.2], rel=1e-14)


@each_device
def test_a_tree_without_freedoms_has_loads(device):
    """A bracket on the world that carries a box: weight and its moment."""
    tree = Tree(
        "bracket",
        [TreeBody("arm", 1.0, CUBE, (0.5, 0, 0)), TreeBody("box", 2.0, CUBE)],
        [Joint("arm", "fixed"), Joint("box", "fixed", "arm", (1.0, 0, 0))],
    )
    assert tree.accelerations([], [], device=device).shape == (0,)
    loads = tree.loads([], [], gravity=(0, 0, -3.0), device=device)
    assert loads.force == pytest.approx(np.array([[0, 0, 9.0], [0, 0, 6.0]]), rel=1e-14)
    assert loads.moment[0] == pytest.approx([0, -7.5, 0], rel=1e-14)
    assert tree.fly([], [], 0.1, 3, device=device).v.shape == (2, 0)


# -- what cannot be a tree ------------------------------------------------------------------------

A, B, C = (TreeBody(name, 1.0, CUBE) for name in "abc")


def refused(match, bodies, joints):
    with pytest.raises(InputError, match=match):
        Tree("t", bodies, joints)


def test_structures_that_are_no_trees():
    free = Joint("a", "free")
    refused("no bodies", [], [])
    refused("must be a TreeBody", ["a"], [free])
    refused("must be a Joint", [A], ["free"])
    refused('two bodies named "a".*Rename', [A, A], [free])
    refused(
        'is "c", which is no body of the tree.*Bodies: a, b',
        [A, B],
        [free, Joint("b", "fixed", "c")],
    )
    refused('body of joint "c" of tree "t" is "c"', [A], [free, Joint("c", "free")])
    refused('no joint of tree "t" carries body "b".*joint of kind "free"', [A, B], [free])
    refused("carried by two joints", [A], [free, Joint("a", "fixed", name="weld")])
    twice = [Joint("a", "free", name="x"), Joint("b", "fixed", "a", name="x")]
    refused('two joints named "x"', [A, B], twice)
    loop = [Joint("a", "free"), Joint("b", "fixed", "c"), Joint("c", "fixed", "b")]
    refused("loop.*b -> c -> b", [A, B, C], loop)
    refused("loop.*a -> a", [A], [Joint("a", "fixed", "a")])
    with pytest.raises(InputError, match="a tree is named ''"):
        Tree("", [A], [free])


@pytest.mark.parametrize(
    ("leaf", "joint"),
    [
        (TreeBody("b"), Joint("b", "revolute", "a", axis=(0, 0, 1))),
        (TreeBody("b"), Joint("b", "prismatic", "a", axis=(0, 0, 1))),
        (TreeBody("b", 1.0), Joint("b", "revolute", "a", axis=(0, 0, 1))),
        (TreeBody("b", 1.0, center=(0, 0, 2)), Joint("b", "revolute", "a", axis=(0, 0, 1))),
        (TreeBody("b", 1.0, center=(0, 0, 2)), Joint("b", "spherical", "a")),
        (TreeBody("b", 1.0, (0, 1, 1)), Joint("b", "free")),
    ],
)
def test_a_joint_that_moves_no_inertia(leaf, joint):
    refused(
        'nothing resists joint "b".*(mass and inertia|fixed)',
        [A, leaf],
        [Joint("a", "free"), joint],
    )


def test_two_hinges_on_one_line_without_mass_between():
    bodies = [A, TreeBody("b"), C]
    joints = [
        Joint("a", "free"),
        Joint("b", "revolute", "a", axis=(0, 0, 1)),
        Joint("c", "revolute", "b", axis=(0, 0, 2)),
    ]
    refused('nothing resists joint "b"', bodies, joints)


def test_a_massless_leaf_that_is_fixed_is_a_place():
    tree = Tree(
        "t", [A, TreeBody("tip")], [Joint("a", "free"), Joint("tip", "fixed", "a", (1, 0, 0))]
    )
    assert tree.kinematics(tree.neutral(), np.zeros(6)).position[1] == pytest.approx([1, 0, 0])


def test_a_configuration_without_inertia_is_told():
    """A point of mass on a hinge, moved onto the hinge's line."""
    tree = Tree(
        "t",
        [TreeBody("b"), TreeBody("c", 1.0)],
        [
            Joint("b", "revolute", axis=(0, 0, 1)),
            Joint("c", "prismatic", "b", axis=(1, 0, 0)),
        ],
    )
    assert np.isfinite(tree.accelerations([0.0, 0.5], [0.0, 1.0])).all()
    with pytest.raises(InputError, match=r"no finite accelerations in 1 of 1 states.*inertia"):
        tree.accelerations([0.0, 0.0], [0.0, 1.0])
    with pytest.raises(InputError, match="no finite accelerations"):
        tree.loads([0.0, 0.0], [0.0, 1.0])


def test_states_that_cannot_be_used():
    tree = arm()
    q, v = tree.neutral(), np.zeros(tree.n_v)
    cases = [
        ({"q": q[:-1]}, r"q has shape \(12,\); it must be \(..., 13\)"),
        ({"v": v[:-1]}, r"v has shape \(10,\)"),
        ({"q": "north"}, "q must be numbers"),
        ({"v": v + np.nan}, "v has numbers that are not finite"),
        ({"q": 0.0 * q}, 'quaternion of joint "bus" has length 0 in 1 of 1'),
        ({"q": np.tile(q, (3, 1)), "v": np.tile(v, (2, 1))}, "must match, or broadcast"),
        ({"tau": np.zeros(3)}, r"tau has shape \(3,\)"),
        ({"gravity": (1, 2)}, r"gravity has shape \(2,\)"),
        ({"forces": np.zeros((7, 4, 3))}, "does not broadcast"),
        ({"points": np.zeros((4, 3))}, "no forces"),
        ({"spin": (1, 2)}, "spin"),
        ({"torque": v}, 'unknown argument "torque"'),
    ]
    for change, match in cases:
        with pytest.raises(InputError, match=match):
            tree.accelerations(**{"q": q, "v": v, **change})
    with pytest.raises(InputError, match=r'unknown axes "wrld". Did you mean "world"'):
        tree.loads(q, v, axes="wrld")
    with pytest.raises(InputError, match="count is 0"):
        tree.fly(q, v, 0.1, 0)
    with pytest.raises(InputError, match="step"):
        tree.fly(q, v, math.nan, 1)


def test_parents_come_first_and_else_the_order_given():
    """Against the rule as it reads: the first body given whose parent is there is next."""
    rng = np.random.default_rng(4)
    for count in (1, 2, 9, 40):
        parent = {
            f"b{i}": f"b{rng.integers(i)}" if i and rng.random() < 0.9 else None
            for i in range(count)
        }
        names = [str(name) for name in rng.permutation(list(parent))]
        bodies = [TreeBody(name, 1.0, (1.0, 1.0, 1.0)) for name in names]
        joints = [Joint(name, "free", parent[name]) for name in rng.permutation(names)]
        found: list[str] = []
        while len(found) < count:
            left = (name for name in names if name not in found)
            found.append(next(name for name in left if parent[name] in (None, *found)))
        assert [body.name for body in Tree("tree", bodies, joints).bodies] == found


def test_a_tree_has_a_thousand_bodies_at_most():
    bodies = [TreeBody(f"b{i}", 1.0, (1.0, 1.0, 1.0)) for i in range(1001)]
    with pytest.raises(InputError, match="has 1001 bodies; a tree has at most 1000"):
        Tree("swarm", bodies, [Joint(body.name, "free") for body in bodies])


@pytest.mark.parametrize(
    "make",
    [
        lambda: TreeBody("bus", 1e31, (1.0, 1.0, 1.0)),
        lambda: TreeBody("bus", 1.0, (1e308, 1e308, 1e308)),
        lambda: TreeBody("bus", 1.0, (1.0, 1.0, 1.0), (0.0, -1e160, 0.0)),
        lambda: Joint("bus", "free", place=(1e160, 0.0, 0.0)),
        lambda: Joint("bus", "revolute", axis=(0, 0, 1), stiffness=1e200),
    ],
)
def test_numbers_beyond_reckoning(make):
    with pytest.raises(InputError, match=r"has a number of .*at most 1e\+30 is allowed"):
        make()
