"""Paper 004's own contact scheme, integrated: m x'' = F(d, d'), I w' = L, friction blended.

References, with omega_0 = sqrt(k/m), zeta = c / (2 sqrt(k m)) and a damper that acts only in
compression:

    e = exp(-zeta phi),  phi = arccos(zeta) / sqrt(1 - zeta^2)   (arcosh, zeta^2 - 1 above 1)
    T = (phi + pi/2) / omega_0,   deepest point e v / omega_0

n points under the centre of mass have n k and n c, hence zeta sqrt(n). On a target that turns
evenly

    E_J = m v^2/2 + w.I w/2 - m |O x r|^2/2 - O_b.I O_b/2 - m U + sum k d^2/2

is kept by flight, by elastic and by sticking contact, and falls in compression and in slip. Blended
sticking can add mu_s F_N v* per unit of time at most, v* being ``slip_speed``, and blended spin
friction and rolling resistance their torques times ``slip_rate``. Sliding: a = g (sin - mu cos),
a stop after v^2 / (2 g (mu cos - sin)); a ball that slides rolls from 5/7 of its speed on.
"""

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

from alight.contact import Compliant, damping_ratio, restitution_of
from alight.contact.compliant.restitution import viscous_time
from alight.contact.compliant.smooth_forces import load
from alight.core import devices
from alight.core.outcomes import FIRST_FAILURE, Outcome
from alight.core.types import scalar, vec3
from alight.engine import Stop, run_batch, simulate
from alight.flight import UniformRotation
from alight.gravity import Uniform
from alight.motions import Model, Release, Steps
from alight.motions.rigid.energy import energies
from alight.motions.rigid.state import Row
from alight.surfaces import Plane, Surface
from alight.surfaces.law import Bounds, SurfacePoint
from alight.vehicles import RigidLander

DEVICES = [device.name for device in devices.available()]
CUBE = RigidLander.cube(0.2, 1.0)
BALL = RigidLander.sphere(0.2, 1.0)
PLANE = Plane()
UPRIGHT = (0.0, 0.0, 0.0, 1.0)
K = 4e4  # with 1 kg: omega_0 = 200 rad/s

pytestmark = pytest.mark.parametrize("device", DEVICES)


def smooth(**options):
    return Compliant(**{"friction": 0.0, "rolling_resistance": 0.0, "scheme": "smooth", **options})


def model(contact, gravity=(0.0, 0.0, 0.0), lander=CUBE, time=10.0, tolerance=1e-9, **options):
    stop = options.pop("stop", Stop(max_time=time))
    surface = options.pop("surface", PLANE)
    return Model(Uniform(gravity), surface, lander, contact, stop=stop,
                 steps=Steps(tolerance=tolerance), **options)  # fmt: skip


def total_energy(solution):
    """E_J at each line [J]; the release has no springs in its line, so from the second on."""
    rows = np.zeros(len(solution.rows) - 1, dtype=Row.numpy_dtype())
    for name in rows.dtype.names:
        rows[name] = solution.rows[name][1:]
    return energies(solution.model, rows, solution.device).total, rows


def loads(solution, rows):
    """The forces' record at stored states (without what sticking needs to know)."""
    m = solution.model
    state = (rows["x"], rows["v"], rows["q"], rows["w"])
    return load(m.contact, m.lander, m.surface, *state, device="cpu")


# -- a hit ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-11])
@pytest.mark.parametrize("e", [1.0, 0.9, 0.6, 0.367879, 0.3, 0.1])
def test_restitution_depth_and_duration(device, e, tolerance):
    """Some hundred steps with a tenth of the tolerance each; the deepest line is a step off."""
    v = 0.1
    contact = smooth(restitution=e, depth=1e-3, speed=v)
    run = simulate(
        model(contact, lander=BALL, tolerance=tolerance), Release([0, 0, 0.2], [0, 0, -v]),
        device=device,
    )  # fmt: skip
    (hit,) = run.events
    assert hit["normal_speed_out"] / v == pytest.approx(e, rel=10.0 * tolerance)
    assert hit["normal_impulse"] == pytest.approx((1.0 + e) * v, rel=10.0 * tolerance)
    assert hit["start"] == pytest.approx(1.0, rel=1e-9)
    steps = run.in_contact.sum()
    assert hit["end"] - hit["start"] == pytest.approx(
        viscous_time(e, e * v / 1e-3), rel=2e-3 / steps
    )
    assert 0.0 <= 1.0 - hit["depth"] / 1e-3 < 20.0 / steps**2
    assert hit["peak_force"] > 0.0
    assert hit["points"] == 1


def test_speed_does_not_matter(device):
    """Linear springs: the same restitution from 1 mm/s to 1 m/s, also far from the origin."""
    speeds = np.geomspace(1e-3, 1.0, 7)
    height = np.array([0.0, 1e3])
    for z in height:
        heights = np.stack([0 * speeds, 0 * speeds, z + 0.1 + 0.1 * speeds], axis=-1)
        velocity = np.stack([0 * speeds, 0 * speeds, -speeds], axis=-1)
        contact = smooth(restitution=0.6)
        found = run_batch(
            model(contact, lander=BALL, time=2.0, surface=Plane([0, 0, z])),
            Release(heights, velocity), device=device,
        )  # fmt: skip
        ratio = found.touches["normal_speed_out"] / speeds
        # A place 1 km off is known to 1e-13 m: at 1 mm/s that is 1e-8 of the depth.
        assert ratio == pytest.approx(0.6, rel=1e-8 if z == 0.0 else 1e-6)


def test_points_share_the_work(device):
    """Four corners at once: zeta doubles."""
    zeta = damping_ratio(0.6)
    contact = smooth(stiffness=K, damping=2.0 * zeta * np.sqrt(K))
    run = simulate(model(contact), Release([0, 0, 0.2], [0, 0, -0.1]), device=device)
    (hit,) = run.events
    assert hit["points"] == 4
    assert hit["normal_speed_out"] / 0.1 == pytest.approx(restitution_of(2.0 * zeta), rel=1e-8)
    assert restitution_of(2.0 * zeta) < 0.5


# -- energy --------------------------------------------------------------------------------------


BRICK = RigidLander.box((0.3, 0.2, 0.12), 1.0)


@pytest.mark.parametrize("lander", [CUBE, BRICK], ids=["cube", "brick"])
def test_elastic_contact_keeps_energy_on_a_turning_target(device, lander):
    """Several frictionless hits where the frame turns at 0.6 rad/s.

    A cube has no gyroscopic torque; a brick has, and on soft springs its contacts last long
    enough for the frame's rate to tell.
    """
    omega = 0.6 * np.array([1.0, 2.0, 2.0]) / 3.0
    contact = smooth(stiffness=K if lander is CUBE else 0.01 * K, damping=0.0)
    run = simulate(
        model(contact, (0, 0, -0.1), lander, time=6.0, rotation=UniformRotation(omega=omega)),
        Release([0, 0, 0.3], [0.02, 0.01, -0.1], [0.1, 0.2, 0.3, 0.9], [0.5, -0.3, 0.4]),
        device=device,
    )
    assert len(run.events) >= 4
    E, rows = total_energy(run)
    kinetic = 0.5 * (rows["v"] ** 2).sum(axis=1)
    kinetic += 0.5 * np.einsum("ni,ij,nj->n", rows["w"], lander.inertia, rows["w"])
    kinetic += rows["elastic"]
    assert (np.abs(E - E[0]) < 1e-8 * kinetic).all()
    hits = run.events
    there = kinetic[np.searchsorted(rows["t"], hits["start"])]
    assert (np.abs(hits["energy_out"] - hits["energy_in"]) < 1e-9 * there).all()
    assert rows["elastic"].max() > 1e-3  # and the springs were at work


def corner_hit(slip_speed, device):
    """A corner that comes in with some slip, halts during compression and leaves sticking."""
    corner = Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0]
    q = Rotation.from_rotvec([0.15, 0.1, 0.0]) * corner
    zeta = damping_ratio(0.6)
    contact = smooth(
        stiffness=K, damping=2.0 * zeta * np.sqrt(K), friction=0.8, slip_speed=slip_speed
    )
    release = Release([0, 0, 0.2], [0.004, 0.0, -0.05], q.as_quat())
    return simulate(model(contact, (0, 0, -5.7e-3), time=1.0), release, device=device)


def test_energy_falls_only_in_compression_and_slip(device):
    """B4-2: flat within 1e-6 of the energy in restitution with stick."""
    run = corner_hit(1e-5, device)
    (hit,) = run.events
    assert hit["points"] == 1
    E, rows = total_energy(run)
    found = loads(run, rows)
    w = Rotation.from_quat(rows["q"]).apply(rows["w"])
    rising = (rows["v"] + np.cross(w, found["lever"]))[:, 2] > 0.0
    slip = np.linalg.norm(found["slip"], axis=1)
    on = found["active"] > 0
    change, kinetic = np.diff(E), 0.5 * 0.05**2
    inside = on[1:] & on[:-1]
    slipping = inside & (slip[:-1] > 1e-5)
    back = inside & rising[1:] & rising[:-1]
    assert slipping.sum() > 10
    assert back.sum() > 10
    assert not (slipping & back).any()
    assert change.max() < 1e-9 * kinetic
    assert np.abs(change[back]).sum() < 1e-6 * kinetic
    # What is lost is lost while it goes in: e^2 of the normal share comes back, slip takes its own.
    assert change[inside & ~back].sum() < -0.5 * kinetic


def test_smaller_slip_speeds_track_sticking_more_closely(device):
    """B4-3: a wheel of 64 corners rolls; the effective point moves from corner to corner.

    Sticking is computed for a point of the body, so each change leaves some slip: the share of
    slip_speed at which friction makes up for it, sqrt(residual / 3 mu F_N) for small shares. The
    pull is strong so that friction acts well within the passing of a corner.
    """
    wheel = RigidLander.cylinder(0.2, 0.1, 1.0, sides=64)
    q = Rotation.from_rotvec([0.5 * np.pi, 0.0, 0.0]).as_quat()
    limits = np.array([1e-2, 1e-3, 1e-4, 1e-5])
    plateau = []
    for limit in limits:
        contact = smooth(
            stiffness=K, damping=20.0, friction=0.6, slip_speed=limit, slip_rate=10 * limit,
            depth=0.01,
        )  # fmt: skip
        rolling = Release([0, 0, 0.1 - 3e-4], [1.0, 0, 0], q, [0, 0, -10.0])
        run = simulate(
            model(contact, (0, 0, -100.0), wheel, time=0.2, tolerance=1e-7), rolling, device=device
        )
        rows = total_energy(run)[1]
        rows = rows[rows["t"] > 0.1]
        slip = np.linalg.norm(loads(run, rows)["slip"], axis=1)
        plateau.append(np.sqrt(np.trapezoid(slip**2, rows["t"]) / np.ptp(rows["t"])))
    slopes = np.diff(np.log(plateau)) / np.diff(np.log(limits))
    assert (np.abs(slopes - 1.0) < 0.2).all()
    assert (np.array(plateau) < 0.1 * limits).all()


def gain_bound(contact, lander):
    """Energy per normal impulse [m/s] that blending may add, as the module's text says."""
    reach = lander.bounding_radius
    arm = contact.rolling_resistance + contact.friction * (reach + contact.patch_radius)
    soft = np.linalg.eigvalsh(lander.inverse_inertia)[-1]
    carried = lander.mass * soft * contact.rolling_resistance * reach
    return (contact.static_friction + carried) * contact.slip_speed + arm * contact.slip_rate


def test_energy_never_rises(device):
    """Random hits, with friction, spin friction and rolling resistance, to rest."""
    rng = np.random.default_rng(3)
    n = 64
    contact = smooth(
        restitution=0.7, friction=0.6, static_friction=0.7, rolling_resistance=0.003,
        patch_radius=0.005,
    )  # fmt: skip
    lander = RigidLander.cylinder(0.18, 0.07, 1.1)
    velocity = rng.normal(size=(n, 3)) * [0.05, 0.05, 0.02] - [0, 0, 0.08]
    attitude = Rotation.random(n, random_state=rng).as_quat()
    release = Release(
        np.tile([0, 0, 0.15], (n, 1)), velocity, attitude, rng.normal(size=(n, 3)) * 0.3
    )
    stop = Stop(max_time=400.0, settle_time=2.0)
    found = run_batch(
        model(contact, (0, 0, -5e-3), lander, stop=stop, tolerance=1e-7), release, device=device
    )
    hits, kinetic = found.touches, 0.5 * 1.1 * 0.1**2
    assert not (found.outcome >= FIRST_FAILURE).any()
    assert (found.outcome == Outcome.SETTLED).mean() > 0.9
    assert len(hits) > 10 * n
    gain = hits["energy_out"] - hits["energy_in"]
    assert (gain <= gain_bound(contact, lander) * hits["normal_impulse"] + 1e-9 * kinetic).all()
    # That bound is never near: what is seen is the tolerance of the steps.
    assert gain.max() < 1e-7 * kinetic


# -- sliding and rolling -----------------------------------------------------------------------


SLED = RigidLander.box((0.4, 0.4, 0.05), 1.0)
PULL = 0.01  # [m/s^2]


def on_slope(angle):
    return PULL * np.array([np.sin(angle), 0.0, -np.cos(angle)])


def slide(contact, angle, speed, time, device, lander=SLED, height=0.025):
    # Let go where the springs just carry it.
    sunk = PULL * np.cos(angle) / (4.0 * K) if lander is SLED else PULL * np.cos(angle) / K
    release = Release([0, 0, height - sunk], [speed, 0, 0])
    stop = Stop(max_time=time, settle_time=1e9)
    return simulate(
        model(contact, on_slope(angle), lander, stop=stop, tolerance=1e-7), release, device=device
    )


def test_sliding_down_a_slope(device):
    """a = g (sin - mu cos): slip is far above slip_speed, so blending has no part in it."""
    angle, mu, time = np.radians(20.0), 0.2, 5.0
    contact = smooth(stiffness=K, damping=160.0, friction=mu)
    run = slide(contact, angle, 0.05, time, device)
    gained = run.velocity[-1, 0] - 0.05
    expected = PULL * (np.sin(angle) - mu * np.cos(angle)) * time
    assert gained == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("slip_speed", [1e-3, 1e-4])
def test_stopping_on_a_slope(device, slip_speed):
    """v^2 / (2 g (mu cos - sin)), and (v*/v)^2 times a logarithm for the blended end.

    Below v* the deceleration is eta A with A that of sliding, which leaves a drift of
    (v*^2 / 3A) ln(3 A t / v*) after the time t, instead of v*^2 / 2A.
    """
    angle, mu, speed, time = np.radians(10.0), 0.5, 0.03, 20.0
    contact = smooth(stiffness=K, damping=160.0, friction=mu, slip_speed=slip_speed)
    run = slide(contact, angle, speed, time, device)
    A = PULL * (mu * np.cos(angle) - np.sin(angle))
    expected = speed**2 / (2.0 * A)
    left = time - speed / A
    drift = slip_speed**2 / (3.0 * A) * np.log(3.0 * A * left / slip_speed)
    assert 0.0 < run.position[-1, 0] - expected < 2.0 * drift + 1e-6 * expected
    assert abs(run.velocity[-1, 0]) < slip_speed**2 / (A * left)


def test_a_sliding_ball_comes_to_roll(device):
    """From 2 v / (7 mu g) on at 5 v / 7: the momentum about the contact is kept, and slip dies."""
    mu, speed = 0.3, 0.01
    contact = smooth(stiffness=K, damping=160.0, friction=mu, slip_speed=1e-5)
    done = 2.0 * speed / (7.0 * mu * PULL)
    run = slide(contact, 0.0, speed, 2.0 * done, device, BALL, 0.1)
    v, w = run.velocity[-1], Rotation.from_quat(run.attitude[-1]).apply(run.rate[-1])
    assert v[0] == pytest.approx(5.0 * speed / 7.0, rel=1e-5)
    assert abs(v[0] - 0.1 * w[1]) < 0.01 * 1e-5
    before = run.velocity[np.searchsorted(run.time, 0.5 * done), 0]
    at = run.time[np.searchsorted(run.time, 0.5 * done)]
    assert before == pytest.approx(speed - mu * PULL * at, rel=1e-6)


@pytest.mark.parametrize("law", ["torque", "compensated"])
def test_spin_friction_blends_as_friction_does(device, law):
    """Nothing else turns a ball about the normal: 2/3 mu p F_N times s^2 (3 - 2 s) is left."""
    s = np.array([1e-2, 0.1, 0.5, 1.0, 3.0])
    patch, mu, limit = 5e-3, 0.5, 1e-3
    contact = smooth(
        stiffness=K, damping=0.0, friction=mu, patch_radius=patch, slip_rate=limit, rolling_law=law
    )
    rate = np.outer(s * limit, [0.0, 0.0, 1.0])
    found = load(contact, BALL, PLANE, [0, 0, 0.1 - 1e-3], [0, 0, 0], UPRIGHT, rate, device=device)
    blended = np.minimum(s, 1.0) ** 2 * (3.0 - 2.0 * np.minimum(s, 1.0))
    most = 2.0 / 3.0 * mu * patch * found["normal_force"]
    assert found["spin"] == pytest.approx(-most * blended, rel=1e-12)


# -- to rest ---------------------------------------------------------------------------------------


def test_a_cube_in_three_gravities(device):
    """B4-1: times go as v/g and distances as v^2/g. B4-4: ever weaker hits, then one that stays.

    Single runs are chaotic, so medians are compared. With C_RR = 2 mm the ground does not hold a
    cube on its corner (with 1 cm it holds one in six).
    """
    n = 6
    q = Rotation.random(n, random_state=2).as_quat()
    contact = smooth(
        stiffness=K, damping=162.0, friction=0.6, rolling_resistance=0.002, patch_radius=0.002
    )
    times, distances = [], []
    for g in (5.7e-3, 2.0e-4, 8.6e-5):
        stop = Stop(max_time=1e5, settle_speed=1e-6, settle_rate=1e-5, settle_time=0.02 / g)
        start = [0.0, 0.0, 0.18 + 0.05**2 / (2.0 * g)]
        release = Release(np.tile(start, (n, 1)), [0.1, 0.03, -0.05], q, [0.3, 0.15, -0.09])
        made = model(contact, (0, 0, -g), stop=stop, tolerance=1e-6)
        found = run_batch(made, release, device=device)
        assert (found.outcome == Outcome.SETTLED).all()
        assert not found.final["v"].any()
        assert not found.final["w"].any()
        # All sit on a face, where their weight presses them in.
        assert 0.1 - found.position[:, 2] == pytest.approx(g / (4.0 * K), rel=0.01)
        each = [found.touches[found.touches["run"] == i] for i in range(n)]
        last = np.array([hits[-1] for hits in each])
        assert (last["points"] == 4).all()
        assert (last["end"] - last["start"] > 0.02 / g).all()
        assert all(-hits["normal_speed_in"][:3].min() > 0.02 for hits in each)
        assert all(-hits["normal_speed_in"][-3:].min() < 2e-3 for hits in each)
        times.append(np.median(last["start"]) * g)
        distances.append(np.median(np.hypot(*found.position[:, :2].T)) * g)
    assert max(times) < 1.5 * min(times)
    assert max(distances) < 2.0 * min(distances)


@pytest.mark.parametrize("g", [1e-2, 1e-4, pytest.param(1e-5, marks=pytest.mark.validate)])
@pytest.mark.parametrize("name", ["cube", "brick", "ball"])
def test_rest_costs_the_same_under_both_rolling_laws(device, name, g):
    """Speeds go as sqrt(g). A ball rolls 3.5 times as far under the torque alone: per second then.

    What sticking adds is below slip_speed and slip_rate, which at 1e-5 m/s^2 are no small speeds.
    """
    lander = {"cube": CUBE, "brick": BRICK, "ball": BALL}[name]
    n, pace = 6, np.sqrt(g / 1e-2)
    q = Rotation.random(n, random_state=2).as_quat()
    velocity, rate = pace * np.array([0.1, 0.03, -0.05]), pace * np.array([0.3, 0.15, -0.09])
    release = Release(np.tile([0, 0, 0.3], (n, 1)), velocity, q, rate)
    steps, times = {}, {}
    for law in ("torque", "compensated"):
        contact = Compliant(0.5, 0.6, scheme="smooth", rolling_law=law)
        stop = Stop(max_time=1e6, settle_speed=1e-5, settle_rate=1e-5, max_steps=10**6)
        made = model(contact, (0, 0, -g), lander, stop=stop, tolerance=1e-6)
        found = run_batch(made, release, device=device)
        assert (found.outcome == Outcome.SETTLED).all()
        hits = found.touches
        assert (hits["energy_out"] <= hits["energy_in"]).all()
        assert found.final["gain"].max() < 1e-4 * lander.mass * g * 0.3
        steps[law], times[law] = np.median(found.final["steps"]), np.median(found.time)
    longer = max(1.0, times["torque"] / times["compensated"])
    assert steps["torque"] < 2.0 * longer * steps["compensated"]


# -- what cannot be done ---------------------------------------------------------------------------


@wp.struct
class BrokenData:
    edge: scalar


@wp.func
def broken_point(data: BrokenData, x: vec3):
    found = SurfacePoint()
    found.distance = x[2]
    found.normal = vec3(scalar(0.0), scalar(0.0), scalar(1.0))
    found.gradient = found.normal
    if x[0] > data.edge:
        found.gradient = wp.vec3d(wp.nan, wp.nan, wp.nan)
    return found


class Broken(Surface):
    """A plane whose gradient is not a number beyond x = 0.5 m."""

    Data = BrokenData
    point = broken_point

    def bounds_to(self, depth):
        return Bounds(1.0, 0.0)

    def data(self, device):
        data = BrokenData()
        data.edge = 0.5
        return data


@pytest.mark.validate
def test_ground_that_is_not_a_number_fails_the_run(device):
    """Steps into it are rejected until they reach the floor; the run ends where it was sound."""
    contact = smooth(stiffness=K, damping=160.0, friction=0.1)
    made = model(contact, on_slope(0.0), SLED, time=60.0, surface=Broken())
    run = simulate(made, Release([0, 0, 0.025], [0.1, 0, 0]), device=device)
    assert run.outcome is Outcome.STEP_FLOOR
    assert np.isfinite(run.position).all()
    assert run.position[-1, 0] + 0.2 == pytest.approx(0.5, abs=1e-6)
