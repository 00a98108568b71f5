"""Against Pinocchio: forward dynamics, loads, energy and momentum of random trees of all joints.

Pinocchio works in body axes with Featherstone's spatial accelerations, Alight in world axes with
those of particles, so the two share no formula. A free joint's velocity is in the child's axes
there and in the parent's here.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from alight.core import devices, frames
from alight.vehicles import Joint, Tree, TreeBody, read_urdf

pin = pytest.importorskip("pinocchio")

DEVICES = [device.name for device in devices.available()]
KINDS = ("revolute", "prismatic", "spherical", "free", "fixed")


def inertia(rng, mass, size):
    """Of a box with random sides and axes [kg m^2]."""
    x, y, z = (size * rng.uniform(0.2, 1.0, 3)) ** 2
    R = Rotation.random(random_state=rng).as_matrix()
    return R @ np.diag([y + z, x + z, x + y]) @ R.T * mass / 12.0


def random_tree(seed, count, root="free"):
    """Bodies of 0.1 to 10 kg, each on a random earlier one by a random joint."""
    rng = np.random.default_rng(seed)
    bodies, joints = [], []
    for i in range(count):
        mass = 10.0 ** rng.uniform(-1.0, 1.0)
        bodies.append(TreeBody(f"b{i}", mass, inertia(rng, mass, 0.5), rng.uniform(-0.2, 0.2, 3)))
        kind = root if i == 0 else KINDS[rng.choice(5, p=(0.3, 0.3, 0.2, 0.05, 0.15))]
        axis = rng.normal(size=3) if kind in ("revolute", "prismatic") else None
        joints.append(
            Joint(
                f"b{i}",
                kind,
                None if i == 0 else f"b{rng.integers(max(0, i - 4), i)}",
                place=rng.uniform(-0.5, 0.5, 3),
                turn=Rotation.random(random_state=rng).as_quat(),
                axis=axis,
            )
        )
    return Tree(f"random {seed}", bodies, joints)


def random_state(tree, rng, count):
    """Configurations, velocities, efforts, forces and moments."""
    q = rng.uniform(-1.0, 1.0, (count, tree.n_q))
    for joint in tree.joints:
        if joint.kind in ("spherical", "free"):
            end = tree.q_slices[joint.body].stop
            q[:, end - 4 : end] = frames.quat_normalize(q[:, end - 4 : end])
    v, tau = rng.uniform(-2.0, 2.0, (2, count, tree.n_v))
    forces, points, moments = rng.uniform(-3.0, 3.0, (3, count, tree.count, 3))
    return q, v, tau, forces, points, moments


class Peer:
    """The same tree in Pinocchio; bodies on fixed joints become joints' frames there."""

    def __init__(self, tree, gravity):
        self.tree, self.model = tree, pin.Model()
        self.model.gravity.linear = np.array(gravity)
        # Of each body: the joint it moves with, and its place there.
        self.ids, self.seats = [], []
        for body, joint, parent in zip(tree.bodies, tree.joints, tree.parents, strict=True):
            below = 0 if parent < 0 else self.ids[parent]
            seat = pin.SE3.Identity() if parent < 0 else self.seats[parent]
            place = seat * pin.SE3(frames.quat_to_matrix(joint.turn), np.array(joint.place))
            if joint.kind != "fixed":
                below = self.model.addJoint(below, self.joint(joint), place, joint.name)
                place = pin.SE3.Identity()
            self.ids.append(below)
            self.seats.append(place)
            own = pin.Inertia(body.mass, np.array(body.center), np.array(body.inertia))
            self.model.appendBodyToJoint(below, own, place)
        self.data = self.model.createData()

    @staticmethod
    def joint(joint):
        if joint.kind == "revolute":
            return pin.JointModelRevoluteUnaligned(np.array(joint.axis))
        if joint.kind == "prismatic":
            return pin.JointModelPrismaticUnaligned(np.array(joint.axis))
        return {"spherical": pin.JointModelSpherical, "free": pin.JointModelFreeFlyer}[joint.kind]()

    def free(self, q):
        """Slices of velocities of free joints, and their attitudes, child to joint axes."""
        for joint in self.tree.joints:
            if joint.kind == "free":
                b, a = self.tree.v_slices[joint.body], self.tree.q_slices[joint.body]
                yield slice(b.start, b.start + 3), slice(b.start + 3, b.stop), q[a][3:]

    def ours(self, q, v, values, accelerations=False):
        """Values of theirs in the axes of ours: velocities, or accelerations."""
        found = np.array(values)
        for linear, angular, turn in self.free(q):
            part = values[linear]
            if accelerations:
                part = part + np.cross(v[angular], frames.quat_rotate_inv(turn, v[linear]))
            found[linear] = frames.quat_rotate(turn, part)
        return found

    def theirs(self, q, values):
        """Velocities or efforts of ours in their axes."""
        found = np.array(values)
        for linear, _, turn in self.free(q):
            found[linear] = frames.quat_rotate_inv(turn, values[linear])
        return found

    def pushes(self, q, forces, points, moments):
        """Outer forces on each joint, in its own axes."""
        pin.forwardKinematics(self.model, self.data, q)
        found = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for k, (i, seat) in enumerate(zip(self.ids, self.seats, strict=True)):
            place = self.data.oMi[i]
            point = seat.act(points[k])
            f, n = (place.rotation.T @ x for x in (forces[k], moments[k]))
            found[i] += pin.Force(f, n + np.cross(point, f))
        return pin.StdVec_Force(found) if hasattr(pin, "StdVec_Force") else found


def aba(peer, state):
    q, v, tau, forces, points, moments = state
    outer = peer.pushes(q, forces, points, moments)
    inner = peer.theirs(q, v), peer.theirs(q, tau)
    found = pin.aba(peer.model, peer.data, q, *inner, outer)
    return peer.ours(q, v, np.array(found), accelerations=True), np.array(found), outer


GRAVITY = (0.3, -0.2, -1.6)
CASES = [
    *((seed, count, "free") for seed, count in enumerate((1, 2, 3, 6, 9, 13, 17, 20, 20, 20))),
    *((seed, count, "fixed") for seed, count in ((20, 2), (21, 8), (22, 20))),
    *((seed, count, "revolute") for seed, count in ((30, 6), (31, 20))),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("seed", "count", "root"), CASES)
def test_forward_dynamics_and_loads(seed, count, root, device):
    tree = random_tree(seed, count, root)
    if tree.n_v == 0:
        pytest.skip("nothing moves")
    peer, n = Peer(tree, GRAVITY), 6
    states = random_state(tree, np.random.default_rng(100 + seed), n)
    q, v, tau, forces, points, moments = states
    acting = {
        "tau": tau,
        "forces": forces,
        "points": points,
        "moments": moments,
        "gravity": GRAVITY,
    }
    ours = tree.accelerations(q, v, device=device, **acting)
    loads = tree.loads(q, v, axes="body", device=device, **acting)
    for k in range(n):
        theirs, inner, outer = aba(peer, [x[k] for x in states])
        assert np.abs(ours[k] - theirs).max() < 1e-10 * np.abs(theirs).max()
        # Their inverse dynamics of their accelerations leaves the loads of joints in ``data.f``.
        pin.rnea(peer.model, peer.data, q[k], peer.theirs(q[k], v[k]), inner, outer)
        f = np.array([peer.data.f[i].linear for i in peer.ids])
        m = np.array([peer.data.f[i].angular for i in peer.ids])
        moving = [i for i, joint in enumerate(tree.joints) if joint.kind != "fixed"]
        size = np.abs(f).max() + np.abs(m).max()
        assert np.abs(loads.force[k] - f)[moving].max() < 1e-10 * size
        assert np.abs(loads.moment[k] - m)[moving].max() < 1e-10 * size


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(3))
def test_poses_energy_and_momentum(seed, device):
    tree = random_tree(40 + seed, 15)
    peer = Peer(tree, GRAVITY)
    q, v, *_ = random_state(tree, np.random.default_rng(seed), 4)
    where = tree.kinematics(q, v, device=device)
    energy = tree.energy(q, v, GRAVITY, device=device)
    momentum = tree.momentum(q, v, device=device)
    for k in range(4):
        speed = peer.theirs(q[k], v[k])
        kinetic = pin.computeKineticEnergy(peer.model, peer.data, q[k], speed)
        assert energy.kinetic[k] == pytest.approx(kinetic, rel=1e-12)
        weight = pin.computePotentialEnergy(peer.model, peer.data, q[k])
        assert energy.weight[k] == pytest.approx(weight, abs=1e-12 * tree.mass * 2.0)
        h = pin.computeCentroidalMomentum(peer.model, peer.data, q[k], speed)
        assert np.abs(momentum.linear[k] - h.linear).max() < 1e-12 * np.abs(h.linear).max()
        assert np.abs(momentum.angular[k] - h.angular).max() < 1e-12 * np.abs(h.angular).max()
        assert np.abs(momentum.center[k] - peer.data.com[0]).max() < 1e-13
        for i, (joint, seat) in enumerate(zip(peer.ids, peer.seats, strict=True)):
            place = peer.data.oMi[joint] * seat
            motion = seat.actInv(peer.data.v[joint])
            assert np.abs(where.position[k, i] - place.translation).max() < 1e-13
            turn = frames.quat_to_matrix(where.attitude[k, i])
            assert np.abs(turn - place.rotation).max() < 1e-13
            assert np.abs(where.rate[k, i] - motion.angular).max() < 1e-12
            assert np.abs(turn.T @ where.velocity[k, i] - motion.linear).max() < 1e-12


def test_integrate():
    tree = random_tree(50, 12)
    peer = Peer(tree, GRAVITY)
    q, v, *_ = random_state(tree, np.random.default_rng(5), 3)
    ours = tree.integrate(q, v, 0.2)
    for k in range(3):
        other = pin.integrate(peer.model, q[k], 0.2 * peer.theirs(q[k], v[k]))
        for joint in tree.joints:
            a, x = tree.q_slices[joint.body], ours[k]
            if joint.kind == "free":
                # Theirs moves along a screw; the turn is the same.
                a = slice(a.start + 3, a.stop)
            if joint.kind in ("free", "spherical"):
                assert abs(abs(x[a] @ other[a]) - 1.0) < 1e-14
            else:
                assert np.abs(x[a] - other[a]).max(initial=0.0) < 1e-14


URDF = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base">
    <inertial>
      <origin xyz="0.1 -0.05 0.2" rpy="0.3 -0.4 0.5"/>
      <mass value="4.0"/>
      <inertia ixx="0.3" ixy="0.02" ixz="-0.01" iyy="0.25" iyz="0.03" izz="0.2"/>
    </inertial>
    <visual><geometry><box size="1 1 1"/></geometry></visual>
  </link>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.25"/>
      <mass value="1.5"/>
      <inertia ixx="0.04" iyy="0.04" izz="0.01" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <link name="flange"/>
  <link name="rod">
    <inertial>
      <mass value="0.7"/>
      <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="shoulder" type="continuous">
    <origin xyz="0.1 0.2 0.3" rpy="0.5 0.6 -0.7"/>
    <parent link="base"/> <child link="upper"/>
    <axis xyz="0 0.6 0.8"/>
  </joint>
  <joint name="plate" type="fixed">
    <origin xyz="0 0 0.5" rpy="0 1.2 0"/>
    <parent link="upper"/> <child link="flange"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="flange"/> <child link="rod"/>
    <axis xyz="0 0 1"/>
    <limit lower="-0.2" upper="0.4" effort="10" velocity="1"/>
  </joint>
</robot>
"""


@pytest.mark.parametrize("base", ["free", "fixed"])
def test_a_file_read_by_both(tmp_path, base):
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    tree = read_urdf(path, base=base, ignore_limits=True)
    root = [pin.JointModelFreeFlyer()] if base == "free" else []
    model = pin.buildModelFromUrdf(str(path), *root)
    data = model.createData()
    rng = np.random.default_rng(7)
    q, v, tau, *_ = (x[0] for x in random_state(tree, rng, 1))
    assert model.nv == tree.n_v
    peer = Peer(tree, GRAVITY)
    model.gravity.linear = np.array(GRAVITY)
    # To them the angle of a continuous joint is its cosine and sine.
    k = tree.q_slices["upper"].start
    angles = np.concatenate([q[:k], [np.cos(q[k]), np.sin(q[k])], q[k + 1 :]])
    theirs = np.array(pin.aba(model, data, angles, peer.theirs(q, v), peer.theirs(q, tau)))
    ours = tree.accelerations(q, v, tau=tau, gravity=GRAVITY)
    theirs = peer.ours(q, v, theirs, accelerations=True)
    assert np.abs(ours - theirs).max() < 1e-10 * np.abs(theirs).max()
