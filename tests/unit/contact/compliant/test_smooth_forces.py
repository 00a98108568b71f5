"""The smooth contact law alone: springs, effective point, friction, spin friction, rolling."""

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

from alight.contact import Compliant
from alight.contact.compliant.smooth_forces import ContactLoad, load
from alight.contact.state import CompliantData
from alight.core import devices
from alight.core.errors import InputError
from alight.core.types import scalar, vec3
from alight.surfaces import Plane, Sphere, Surface
from alight.surfaces.law import Bounds, SurfacePoint
from alight.vehicles import RigidLander

DEVICES = [device.name for device in devices.available()]
EPS = np.finfo(float).eps
UPRIGHT = (0.0, 0.0, 0.0, 1.0)
K, C = 4e4, 160.0
RADIUS = 5.0
CUBE = RigidLander.cube(0.2, 1.0)
BALL = RigidLander.sphere(0.2, 1.0)
#: No symmetry that could hide a wrong sign or a transposed matrix.
ODD = RigidLander.box((0.3, 0.2, 0.12), 2.0, center_of_mass=(0.02, -0.015, 0.01))

pytestmark = pytest.mark.parametrize("device", DEVICES)


def springs(**options):
    given = {"stiffness": K, "damping": C, "rolling_resistance": 0.0, "scheme": "smooth"}
    return Compliant(**{"friction": 0.0, **given, **options})


@wp.struct
class SteepData:
    slope: scalar


@wp.func
def steep_point(data: SteepData, x: vec3):
    found = SurfacePoint()
    found.distance = data.slope * x[2]
    found.normal = vec3(scalar(0.0), scalar(0.0), scalar(1.0))
    found.gradient = data.slope * found.normal
    return found


class Steep(Surface):
    """Ground whose distance is not one: phi = 3 z."""

    Data = SteepData
    point = steep_point

    def bounds_to(self, depth):
        return Bounds(3.0, 0.0)

    def data(self, device):
        data = SteepData()
        data.slope = 3.0
        return data


def random_states(rng, lander, n):
    """States in which ``lander`` is pressed into a sphere: any corner, or lying almost flat."""
    up = rng.normal(size=(n, 3))
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    axis = np.cross([0.0, 0.0, 1.0], up)
    angle = np.arctan2(np.linalg.norm(axis, axis=1), up[:, 2])
    axis *= (angle / np.linalg.norm(axis, axis=1))[:, None]
    tilt = np.where(np.arange(n) % 2, 0.003, 3.0)[:, None] * rng.normal(size=(n, 3))
    q = Rotation.from_rotvec(axis) * Rotation.from_rotvec(tilt)
    arms = np.einsum("nij,pj->npi", q.as_matrix(), lander.points)
    height = np.array([_height(a, u, RADIUS) for a, u in zip(arms, up, strict=True)])
    return up * (height - rng.uniform(1e-5, 3e-3, n))[:, None], q


def _height(arms, up, radius):
    """Distance of the centre from the middle of a sphere at which the first point touches."""
    along = arms @ up
    aside = (arms**2).sum(axis=1) - along**2
    return (np.sqrt(radius**2 - aside) - along).max()


# -- springs and dampers -------------------------------------------------------------------------


def test_the_spring_pushes_along_the_gradient_and_the_damper_along_the_normal(device):
    z, down = 0.1 - 1e-4, 0.05
    found = load(springs(), BALL, Steep(), [0, 0, z / 3], [0, 0, -down], UPRIGHT, [0, 0, 0],
                 device=device)  # fmt: skip
    # phi = 3 * z/3, so the depth in phi is 1e-4.
    assert found["force"][0] == pytest.approx([0.0, 0.0, 3.0 * K * 1e-4 + C * down], rel=1e-12)
    assert found["elastic"][0] == pytest.approx(0.5 * K * 1e-8, rel=1e-11)
    assert found["depth"][0] == pytest.approx(1e-4 / 3.0, rel=1e-11)
    assert found["active"][0] == 1


def test_the_damper_never_pulls(device):
    down, up = ([0, 0, -0.05], [0, 0, 0.05])
    state = ([0, 0, 0.1 - 1e-4], [down, up], UPRIGHT, [0, 0, 0])
    found = load(springs(), BALL, Plane(), *state, device=device)
    assert found["normal_force"] == pytest.approx([4.0 + C * 0.05, 4.0], rel=1e-11)


def test_nothing_happens_above_the_ground(device):
    found = load(springs(friction=0.5), CUBE, Plane(), [0, 0, 0.1 + 1e-9], [0.1, 0, -0.1], UPRIGHT,
                 [1, 2, 3], device=device)  # fmt: skip
    for name in ContactLoad.vars:
        if name != "soon":
            assert not np.any(found[name]), name


def test_what_comes_next_is_foreseen(device):
    falling = load(springs(), BALL, Plane(), [0, 0, 0.11], [0, 0, -0.02], UPRIGHT, [0, 0, 0],
                   device=device)  # fmt: skip
    assert falling["soon"][0] == pytest.approx(0.5, rel=1e-12)
    # A ball on its way out of a spring, with the phase 0.3 rad to go.
    omega, speed = 200.0, 0.1
    depth, rising = speed / omega * np.sin(0.3), speed * np.cos(0.3)
    leaving = load(springs(), BALL, Plane(), [0, 0, 0.1 - depth], [0, 0, rising], UPRIGHT,
                   [0, 0, 0], device=device)  # fmt: skip
    assert leaving["soon"][0] == pytest.approx(0.3 / omega, rel=1e-10)


def test_another_normal_law_takes_the_place_of_the_spring(device):
    @wp.func
    def hertz_push(contact: CompliantData, depth: scalar, closing: scalar):
        return contact.stiffness * depth * wp.sqrt(depth) + contact.damping * closing

    @wp.func
    def hertz_stored(contact: CompliantData, depth: scalar):
        return scalar(0.4) * contact.stiffness * depth * depth * wp.sqrt(depth)

    found = load(springs(), BALL, Plane(), [0, 0, 0.1 - 1e-4], [0, 0, -0.01], UPRIGHT, [0, 0, 0],
                 device=device, push=hertz_push, stored=hertz_stored)  # fmt: skip
    assert found["force"][0, 2] == pytest.approx(K * 1e-6 + C * 0.01, rel=1e-11)
    assert found["elastic"][0] == pytest.approx(0.4 * K * 1e-10, rel=1e-11)


# -- the effective point -----------------------------------------------------------------------


def test_the_effective_point_is_weighted_by_depth(device):
    angle = 2e-3  # about y: the edge at +x sinks
    q = Rotation.from_rotvec([0.0, angle, 0.0])
    x = np.array([0.0, 0.0, 0.0997])
    found = load(springs(), CUBE, Plane(), x, [0, 0, 0], q.as_quat(), [0, 0, 0], device=device)
    arms = q.apply(np.array(CUBE.points))
    depth = np.maximum(0.0, -(x + arms)[:, 2])
    assert (depth > 0.0).sum() == 4
    assert depth.max() > 2.0 * depth[depth > 0].min()
    lever = (depth[:, None] * arms).sum(axis=0) / depth.sum()
    assert found["lever"][0] == pytest.approx(lever, abs=1e-12)
    spread = (depth * (arms**2).sum(axis=1)).sum() / depth.sum() - lever @ lever
    assert found["spread"][0] == pytest.approx(np.sqrt(spread), rel=1e-10)
    force = np.zeros((8, 3))
    force[:, 2] = K * depth
    assert found["torque"][0] == pytest.approx(np.cross(arms, force).sum(axis=0), abs=1e-12)


# -- friction ----------------------------------------------------------------------------------


def test_sliding_friction_opposes_the_slip(device):
    contact = springs(friction=0.4, static_friction=0.7)
    v, w = np.array([0.03, 0.04, -0.02]), np.array([0.0, 0.5, 0.0])
    found = load(contact, BALL, Plane(), [0, 0, 0.0999], v, UPRIGHT, w, device=device)[0]
    slip = (v + np.cross(w, found["lever"])) * [1, 1, 0]
    assert found["slip"] == pytest.approx(slip, abs=1e-15)
    expected = -0.4 * found["normal_force"] * slip / np.linalg.norm(slip)
    assert found["friction"] == pytest.approx(expected, rel=1e-12)
    torque = np.cross(found["lever"], expected)
    assert found["torque"] == pytest.approx(torque, rel=1e-12, abs=1e-15)


def contact_acceleration(found, lander, x, q, w_B, pull, turn):
    """How the effective point is accelerated across the normal, in NumPy (erratum 004-6)."""
    R = q.as_matrix()
    a = pull + found["force"] / lander.mass
    alpha = turn + np.einsum("nij,jk,nlk,nl->ni", R, lander.inverse_inertia, R, found["torque"])
    w = q.apply(w_B)
    c = found["lever"]
    swing = np.cross(w, np.cross(w, c))
    total = a + np.cross(alpha, c) + swing
    n = found["normal"]
    return total - (total * n).sum(axis=1, keepdims=True) * n, alpha, n


def sticking_states(rng, lander, n, surface, contact, device, rate=0.5, spin=True):
    """Random states whose effective point has no slip, and what else pulls."""
    x, q = random_states(rng, lander, n)
    w_B = rng.normal(size=(n, 3)) * rate
    first = load(contact, lander, surface, x, np.zeros((n, 3)), q.as_quat(), w_B, device=device)
    normal = first["normal"]
    if not spin:  # none about the normal
        w = q.apply(w_B)
        w_B = q.inv().apply(w - (w * normal).sum(axis=1, keepdims=True) * normal)
    v = -np.cross(q.apply(w_B), first["lever"]) - 0.02 * normal
    pull, turn = rng.normal(size=(2, n, 3)) * [[[0.3]], [[2.0]]]
    return x, v, q, w_B, pull, turn


def test_sticking_keeps_the_slip(device):
    """v_t' = 0 (004-6), with one point that touches and with several, spinning or not."""
    rng, surface = np.random.default_rng(4), Sphere(radius=RADIUS)
    # A cone so wide that nothing slides.
    contact = springs(friction=50.0, patch_radius=0.01, slip_rate=1e-3)
    for spin in (True, False):
        x, v, q, w, pull, turn = sticking_states(rng, ODD, 300, surface, contact, device, spin=spin)
        found = load(contact, ODD, surface, x, v, q.as_quat(), w, pull, turn, device=device)
        assert (found["active"] > 1).sum() > 100
        left, alpha, n = contact_acceleration(found, ODD, x, q, w, pull, turn)
        size = np.linalg.norm(found["force"], axis=1) / ODD.mass * 20.0
        assert (np.linalg.norm(left, axis=1) / size).max() < 1e-13
        if not spin:
            turned = np.abs((alpha * n).sum(axis=1))
            assert (turned / np.linalg.norm(turn, axis=1)).max() < 1e-10


def test_sticking_is_capped(device):
    contact = springs(friction=0.3, static_friction=0.5)
    level = [0, 0, 0.0999], [0, 0, 0], UPRIGHT, [0, 0, 0]
    weak, strong = [1.0, 0.0, 0.0], [100.0, 0.0, 0.0]
    found = load(contact, CUBE, Plane(), *level, [weak, strong], device=device)
    assert found["friction"][0, 0] == pytest.approx(-_held(CUBE, 1.0), rel=1e-12)
    assert found["friction"][1] == pytest.approx([-0.5 * found["normal_force"][1], 0, 0], abs=1e-12)


def _held(lander, acceleration, height=0.1):
    """Force at the bottom that keeps it from sliding: the body may turn."""
    return acceleration / (1.0 / lander.mass + height**2 * lander.inverse_inertia[1, 1])


def test_slip_and_stick_blend(device):
    """eta = s^2 (3 - 2 s): all stick at rest, half and half at half the speed, all slip beyond."""
    contact = springs(friction=0.4, slip_speed=1e-3)
    v = np.array([0.0, 0.25e-3, 0.5e-3, 1e-3, 2e-3])
    speeds = np.stack([v, 0 * v, 0 * v], axis=-1)
    pull = [0.1, 0.0, 0.0]
    found = load(contact, CUBE, Plane(), [0, 0, 0.0999], speeds, UPRIGHT, [0, 0, 0], pull,
                 device=device)  # fmt: skip
    stick, slide = -_held(CUBE, 0.1), -0.4 * found["normal_force"][0]
    s = np.minimum(1.0, v / 1e-3)
    eta = s * s * (3.0 - 2.0 * s)
    assert found["friction"][:, 0] == pytest.approx(eta * slide + (1 - eta) * stick, rel=1e-12)


def test_spin_friction(device):
    """mu F_N (spread + 2/3 patch) against the spin; what holds it at rest is no more than that."""
    contact = springs(friction=0.4, patch_radius=0.03, slip_rate=1e-3)
    rates = np.array([[0, 0, 0.5], [0, 0, -0.5], [0, 0, 0.0]])
    turn = [[0, 0, 0], [0, 0, 0], [0, 0, 1.0]]
    found = load(contact, CUBE, Plane(), [0, 0, 0.0999], [0, 0, 0], UPRIGHT, rates, turn=turn,
                 device=device)  # fmt: skip
    most = 0.4 * found["normal_force"][0] * (np.sqrt(2.0) * 0.1 + 0.02)
    held = CUBE.inertia[2, 2] * 1.0
    assert held < most
    assert found["spin"] == pytest.approx([-most, most, -held], rel=1e-10)


# -- rolling resistance --------------------------------------------------------------------------


def test_rolling_resistance_is_a_torque_across_the_normal(device):
    """C_RR F_N against the rate across the normal, and no force; what sticks goes on sticking."""
    rng, surface = np.random.default_rng(5), Sphere(radius=RADIUS)
    plain = springs(friction=50.0, patch_radius=0.0)
    rolling = springs(friction=50.0, patch_radius=0.0, rolling_resistance=0.004)
    x, v, q, w, pull, turn = sticking_states(rng, ODD, 400, surface, plain, device)
    args = (ODD, surface, x, v, q.as_quat(), w, pull, turn)
    found = load(rolling, *args, device=device)
    n, rate = found["normal"], q.apply(w)
    rate -= (rate * n).sum(axis=1, keepdims=True) * n
    torque = -0.004 * found["normal_force"][:, None] * rate
    torque /= np.linalg.norm(rate, axis=1, keepdims=True)
    assert found["rolling"] == pytest.approx(torque, rel=1e-9, abs=1e-14)
    assert not found["rolling_force"].any()
    slips, size = contact_acceleration(found, ODD, x, q, w, pull, turn)[0], 20.0 / ODD.mass
    size *= np.linalg.norm(found["force"], axis=1)
    assert (np.linalg.norm(slips, axis=1) / size).max() < 1e-13


def test_compensated_rolling_resistance_leaves_the_slip_alone(device):
    """Its torque is C_RR F_N against the rate, its force undoes it at the contact (004-7)."""
    rng, surface = np.random.default_rng(5), Sphere(radius=RADIUS)
    plain = springs(friction=50.0)
    rolling = springs(friction=50.0, rolling_resistance=0.004, rolling_law="compensated")
    x, v, q, w, pull, turn = sticking_states(rng, ODD, 400, surface, plain, device)
    args = (ODD, surface, x, v, q.as_quat(), w, pull, turn)
    without, found = (load(c, *args, device=device) for c in (plain, rolling))
    torque = -0.004 * found["normal_force"][:, None] * q.apply(w)
    torque /= np.linalg.norm(w, axis=1, keepdims=True)
    assert found["rolling"] == pytest.approx(torque, rel=1e-12, abs=1e-15)
    before = contact_acceleration(without, ODD, x, q, w, pull, turn)[0]
    after = contact_acceleration(found, ODD, x, q, w, pull, turn)[0]
    power = (found["rolling"] * q.apply(w)).sum(axis=1)
    power += (found["rolling_force"] * v).sum(axis=1)
    assert (power < 0.0).all()  # none is scaled down
    effect = np.linalg.norm(after - before, axis=1)
    size = np.linalg.norm(found["force"], axis=1) / ODD.mass * 20.0
    assert (effect / size).max() < 1e-14


@pytest.mark.parametrize("form", ["torque", "compensated"])
def test_friction_spin_and_rolling_only_take_energy(form, device):
    """Above the blending speeds no state gains: F.v + L.w <= 0 of each."""
    rng, surface = np.random.default_rng(6), Sphere(radius=RADIUS)
    contact = springs(friction=0.7, rolling_resistance=0.02, patch_radius=0.02, rolling_law=form)
    n = 2000
    x, q = random_states(rng, ODD, n)
    v, w_B = rng.normal(size=(n, 3)) * 0.1, rng.normal(size=(n, 3))
    found = load(contact, ODD, surface, x, v, q.as_quat(), w_B, device=device)
    w = q.apply(w_B)
    rolling = (found["rolling"] * w).sum(axis=1) + (found["rolling_force"] * v).sum(axis=1)
    scale = np.linalg.norm(found["rolling"], axis=1) * np.linalg.norm(w, axis=1)
    scale += np.linalg.norm(found["rolling_force"], axis=1) * np.linalg.norm(v, axis=1)
    assert (rolling <= 4 * EPS * scale).all()
    scaled = (np.abs(rolling) <= 4 * EPS * scale).any()
    assert scaled == (form == "compensated")  # where its push would add energy
    assert ((found["friction"] * found["slip"]).sum(axis=1) <= 0.0).all()
    spinning = (w * found["normal"]).sum(axis=1)
    assert (found["spin"] * spinning <= 0.0)[np.abs(spinning) > 1e-3].all()


@pytest.mark.parametrize("form", ["torque", "compensated"])
def test_rolling_stick_keeps_the_rate(form, device):
    """At rest everything is held at once: no acceleration across the normal, no turning."""
    contact = springs(friction=5.0, rolling_resistance=0.5, patch_radius=0.5, rolling_law=form)
    rng = np.random.default_rng(7)
    pull = np.array([0.3, -0.2, 0.1])
    turn = rng.normal(size=3)
    x, q = random_states(rng, ODD, 50)
    surface = Sphere(radius=RADIUS)
    found = load(contact, ODD, surface, x, [0, 0, 0], q.as_quat(), [0, 0, 0], pull, turn,
                 device=device)  # fmt: skip
    R = q.as_matrix()
    alpha = turn + np.einsum("nij,jk,nlk,nl->ni", R, ODD.inverse_inertia, R, found["torque"])
    inside = np.linalg.norm(found["rolling"], axis=1) < 0.499 * found["normal_force"]
    assert inside.sum() > 20
    a = pull + found["force"] / ODD.mass
    n = found["normal"]
    a -= (a * n).sum(axis=1, keepdims=True) * n
    scale = np.linalg.norm(found["force"], axis=1)[inside]
    assert (np.linalg.norm(alpha[inside], axis=1) / scale).max() < 1e-10
    assert (np.linalg.norm(a[inside], axis=1) / scale).max() < 1e-12


# -- wrong questions -------------------------------------------------------------------------------


def test_wrong_questions(device):
    state = ([0, 0, 0], [0, 0, 0], UPRIGHT, [0, 0, 0])
    with pytest.raises(InputError, match="scheme"):
        load(Compliant(0.5), CUBE, Plane(), *state, device=device)
    many = Compliant(stiffness=[1.0, 2.0, 3.0], scheme="smooth")
    with pytest.raises(InputError, match="3 runs, states for 1"):
        load(many, CUBE, Plane(), *state, device=device)
