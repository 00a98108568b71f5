"""Rigid contact in the engine, against closed forms.

    first touch    t = (sqrt(v^2 + 2 g h) - v)/g, found to 1e-10 of the arc
    bouncing       restitution as asked; touches at t1 (1 + 2 e + 2 e^2 + ...), rest after
                   sqrt(2 h/g) (1 + e)/(1 - e), on a path of h (1 + e^2)/(1 - e^2)
    one hit        the cube of ``contact.impact``'s golden case, thrown
    sliding        a = g (sin theta - mu cos theta), a stop after v^2/(2 mu g), stick up to mu
    a ball         slides until t = 2 v/(7 mu g), then rolls at 5/7 v
    rocking        the share (k^2 + R^2 cos 2a)^2/(k^2 + R^2)^2 of the energy is left by a swing
    tipping        a cube tips over its edge where tan theta > 1

Contact points on a plane and a hull on facets give the same. A lander never passes through facets,
however fast, thin or quick to turn.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import ks_2samp

from alight import contact, engine, gravity, motions, surfaces, vehicles
from alight.core import devices, frames
from alight.core.outcomes import Outcome
from alight.shapes import Mesh
from alight.vehicles.rigid import hull_meshes
from alight.vehicles.rigid.free_rotation import turn

DEVICES = [device.name for device in devices.available()]
G = 5e-3
BALL = vehicles.RigidLander.sphere(0.2, 1.0)
CUBE = vehicles.RigidLander.cube(0.2, 1.0)
NEEDLE = vehicles.RigidLander.box((0.01, 0.01, 1.0), 1.0, name="needle")
PLANE = surfaces.Plane()
_BOX = hull_meshes.box((60.0, 60.0, 60.0))
SLAB = surfaces.Facets(Mesh(_BOX.vertices - [0.0, 0.0, 30.0], _BOX.faces))
GROUNDS = pytest.mark.parametrize(
    "ground",
    [pytest.param(PLANE, id="plane", marks=pytest.mark.validate), pytest.param(SLAB, id="slab")],
)

X, Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
FLAT = np.array([0.0, 0.0, 0.0, 1.0])
EDGE = frames.quat_from_axis_angle(X, np.pi / 4)
CORNER = frames.quat_multiply(
    frames.quat_from_axis_angle(X, np.arctan(np.sqrt(2.0))),
    frames.quat_from_axis_angle(Z, np.pi / 4),
)
STANCES = np.array([FLAT, EDGE, CORNER])
#: Contact that resists neither rolling nor spin.
FREE = {"rolling_resistance": 0.0, "patch_radius": 0.0}
LOW = -frames.quat_rotate(STANCES[:, None], CUBE.points[None])[..., 2].min(axis=1)


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def model_of(ground, lander, law, g=G, theta=0.0, **stop):
    """Gravity on a slope that falls towards +x, seen from axes along the slope."""
    pull = gravity.Uniform((g * np.sin(theta), 0.0, -g * np.cos(theta)))
    stop.setdefault("max_steps", 50_000)
    return motions.Model(pull, ground, lander, law, stop=engine.Stop(**stop))


def above(height, low=LOW):
    """Places over the ground, off its corners and edges."""
    return np.column_stack([np.full(len(low), 0.13), np.full(len(low), 0.21), low + height])


def random_release(count, seed, height=0.5, speed=0.02, rate=0.2):
    rng = np.random.default_rng(seed)
    return motions.Release(
        np.column_stack([rng.uniform(-0.5, 0.5, (count, 2)), np.full(count, height)]),
        rng.normal(size=(count, 3)) * speed,
        rng.normal(size=(count, 4)),
        rng.normal(size=(count, 3)) * rate,
    )


# -- bouncing -------------------------------------------------------------------------------------


@GROUNDS
@pytest.mark.parametrize("speed", [1e-4, 1e-3, 1e-2, 0.1, 1.0])
def test_first_touch_and_restitution(ground, speed, device):
    """Face, edge and corner under the centre; an arc of 1 mm."""
    height, e = 1e-3, 0.7
    first = 2.0 * height / (speed + np.sqrt(speed**2 + 2.0 * 1e-5 * height))
    law = contact.Impulse(e, 0.6, hop=1e-7)
    model = model_of(ground, CUBE, law, g=1e-5, max_time=1.0001 * first)
    release = motions.Release(above(height), (0.0, 0.0, -speed), STANCES)
    hits = engine.run_batch(model, release, device=device).touches
    assert hits["run"].tolist() == [0, 1, 2]
    assert hits["points"].tolist() == [4, 2, 1]
    assert hits["start"] == pytest.approx(np.full(3, first), rel=1e-10)
    assert -hits["normal_speed_out"] / hits["normal_speed_in"] == pytest.approx(e, rel=1e-9)
    assert np.abs(hits["tangential_speed_out"]).max() < 1e-9 * speed


@pytest.mark.parametrize("speed", [1e-4, 1.0])
def test_a_ball_bounces_as_asked(speed):
    e = np.array([0.0, 0.3, 1.0])
    law = contact.Impulse(e, 0.6, hop=1e-9)
    first = 2e-3 / (speed + np.sqrt(speed**2 + 2.0 * 1e-5 * 1e-3))
    model = model_of(PLANE, BALL, law, g=1e-5, max_time=1.0001 * first)
    hits = engine.run_batch(model, motions.Release([[0, 0, 0.101]] * 3, (0, 0, -speed))).touches
    assert hits["start"] == pytest.approx(np.full(3, first), rel=1e-10)
    bounced = hits["normal_speed_out"][1:] / -hits["normal_speed_in"][1:]
    assert bounced == pytest.approx(e[1:], rel=1e-9)


@GROUNDS
@pytest.mark.parametrize("e", [0.3, 0.5, 0.8])
def test_bouncing_to_rest(ground, e):
    """All touches when they should be, and the end after them, at once."""
    height, hop = 0.3, 1e-8
    model = model_of(ground, CUBE, contact.Impulse(e, 0.6, hop=hop))
    result = engine.run_batch(model, motions.Release(above(height), attitude=STANCES))
    assert (result.outcome == Outcome.SETTLED).all()
    fall, wait = np.sqrt(2.0 * height / G), np.sqrt(2.0 * hop / G)
    total, path = fall * (1.0 + e) / (1.0 - e), height * (1.0 + e**2) / (1.0 - e**2)
    for run in range(3):
        hits = result.touches[result.touches["run"] == run]
        n = np.arange(len(hits))
        assert hits["start"] == pytest.approx(fall * (1 + 2 * e * (1 - e**n) / (1 - e)), rel=1e-8)
        assert e ** (len(hits) - 1) > np.sqrt(hop / height) > e ** (len(hits) + 1)
    # Five steps of the time to fall from ``hop`` tell that it is at rest.
    assert (np.abs(result.time - total) < 30.0 * wait).all()
    assert result.final["path"] == pytest.approx(np.full(3, path), rel=3e-3)
    assert result.position[:, 2] == pytest.approx(LOW, abs=1e-9)
    assert not result.final["v"].any()
    assert not result.final["w"].any()


def test_elastic_bounces_go_on_for_ever():
    """A ball keeps its speed; a cube on a corner is thrown about, but loses nothing."""
    for lander, low, q in ((BALL, 0.1, FLAT), (CUBE, LOW[2], CORNER)):
        model = model_of(PLANE, lander, contact.Impulse(1.0, 0.0, **FREE), max_time=3e3)
        release = motions.Release([0.0, 0.0, low + 0.3], attitude=q, rate=(0.0, 0.0, 1e-3))
        result = engine.run_batch(model, release)
        assert result.outcome[0] == Outcome.TIMED_OUT
        touches = result.touches
        assert len(touches) > 30
        assert touches["energy_out"] == pytest.approx(touches["energy_in"], rel=1e-9)
        assert touches["energy_out"] == pytest.approx(touches["energy_in"][0], rel=1e-6)


# -- one hit --------------------------------------------------------------------------------------

GOLDEN = {  # friction: impulse, velocity of the contact point after
    0.3: (
        (-0.052195387504, 0.048405385361, 0.259239434035),
        (0.038013867072, -0.063714721750, 0.112591461147),
    ),
    0.6: ((-0.064459069128, 0.069024053486, 0.287165865225), (0.0, 0.0, 0.120602633701)),
}


@GROUNDS
@pytest.mark.parametrize("mu", GOLDEN)
def test_a_thrown_cube_hits_as_in_the_golden_case(ground, mu, device):
    """Euler angles (20, 30, 10) degrees, contact point at (0.1, 0.05, -0.2) m/s, e = 0.6."""
    q = Rotation.from_euler("xyz", [20.0, 30.0, 10.0], degrees=True).as_quat()
    lever = np.array([0.032553293489, -0.054949229927, -0.160999581408])
    v = np.array([0.1, 0.05, -0.2])
    model = model_of(ground, CUBE, contact.Impulse(0.6, mu, **FREE), g=1e-9, max_time=1e-4)
    start = np.array([0.13, 0.21, 0.0]) - lever + [0.0, 0.0, 1e-5]
    result = engine.run_batch(model, motions.Release(start, v, q), device=device)
    hit = result.touches[0]
    impulse, after = GOLDEN[mu]
    assert len(result.touches) == 1
    assert hit["impulse"] == pytest.approx(impulse, abs=1e-6)
    w = frames.quat_rotate(result.attitude[0], result.final["w"][0])
    assert result.final["v"][0] + np.cross(w, lever) == pytest.approx(after, abs=2e-5)
    assert hit["normal_speed_out"] == pytest.approx(after[2], abs=1e-6)
    assert hit["tangential_speed_out"] == pytest.approx(np.hypot(*after[:2]), abs=1e-6)
    assert np.hypot(*hit["impulse"][:2]) <= mu * hit["impulse"][2] * (1.0 + 1e-9)


@pytest.mark.parametrize("resisted", [False, True])
def test_single_hits_are_the_limit_of_springs(resisted):
    """Compliant, with depth going to 0: impulses of tilted cubes meet those of rigid contact.

    Rolling resistance and spin friction of a hit assume an even course of it: with them impulses
    are met to less than half of what resistance changes in them.
    """
    more = {"rolling_resistance": 3e-3, "patch_radius": 3e-3} if resisted else FREE
    rng = np.random.default_rng(4)
    q = frames.quat_normalize(rng.normal(size=(40, 4)))
    low = -frames.quat_rotate(q[:, None], CUBE.points[None])[..., 2].min(axis=1)
    release = motions.Release(above(1e-3, low), (0.05, 0.02, -0.1), q)

    def impulse(law):
        model = model_of(PLANE, CUBE, law, g=1e-6, max_time=0.05)
        touches = engine.run_batch(model, release).touches
        return touches["impulse"][np.unique(touches["run"], return_index=True)[1]]

    rigid = impulse(contact.Impulse(0.6, 0.4, **more))
    off = {}
    for depth in (1e-4, 1e-5):
        law = contact.Compliant(0.6, 0.4, depth=depth, resolution=0.05, **more)
        gap = np.linalg.norm(impulse(law) - rigid, axis=1) / np.linalg.norm(rigid, axis=1)
        off[depth] = np.median(gap)
    if resisted:
        change = impulse(contact.Impulse(0.6, 0.4, **FREE)) - rigid
        effect = np.median(np.linalg.norm(change, axis=1) / np.linalg.norm(rigid, axis=1))
        assert 0.01 < effect < 0.02
        assert max(off.values()) < 0.5 * effect
    else:
        assert off[1e-4] < 5e-3
        assert off[1e-5] < 5e-4


# -- sliding, sticking, rolling, tipping ----------------------------------------------------------


@GROUNDS
def test_it_slides_to_a_stop(ground):
    """v^2/(2 mu g)."""
    v, mu = 0.05, np.array([0.3, 0.6])
    model = model_of(ground, CUBE, contact.Impulse(0.5, mu, rolling_resistance=0.0))
    result = engine.run_batch(model, motions.Release([[0, 0, 0.1]] * 2, (v, 0, 0)))
    assert (result.outcome == Outcome.SETTLED).all()
    assert result.position[:, 0] == pytest.approx(v**2 / (2 * mu * G), rel=1e-2)
    assert np.abs(result.position[:, 1]).max() < 1e-6
    assert result.attitude == pytest.approx(np.tile(FLAT, (2, 1)), abs=1e-6)


@GROUNDS
def test_it_slides_down_a_slope(ground):
    """g (sin - mu cos) t^2/2."""
    theta, mu, t = np.radians(25.0), np.array([0.0, 0.2, 0.4]), 50.0
    law = contact.Impulse(0.5, mu, rolling_resistance=0.0)
    model = model_of(ground, CUBE, law, theta=theta, max_time=t)
    result = engine.run_batch(model, motions.Release([[0, 0, 0.1]] * 3))
    way = 0.5 * G * (np.sin(theta) - mu * np.cos(theta)) * t**2
    assert result.position[:, 0] == pytest.approx(way, rel=5e-3)
    assert (result.outcome == Outcome.TIMED_OUT).all()


@GROUNDS
def test_it_sticks_below_the_friction_angle(ground):
    """25 degrees, friction 0.6: not a micrometre, and not a nanometre when let go again."""
    law = contact.Impulse(0.5, 0.6, rolling_resistance=0.0)
    model = model_of(ground, CUBE, law, theta=np.radians(25.0), settle_time=1e6, max_time=1e5)
    result = engine.run_batch(model, motions.Release([[0.0, 0.0, 0.1]]))
    assert result.outcome[0] == Outcome.SETTLED
    assert np.abs(result.position[0] - [0.0, 0.0, 0.1]).max() < 1e-6
    for _ in range(3):
        before = result.final
        result = engine.run_batch(model, motions.Release(before["x"], attitude=before["q"]))
        assert result.outcome[0] == Outcome.SETTLED
        assert np.abs(result.position - before["x"]).max() < 1e-9


@pytest.mark.parametrize(("theta", "tips"), [(40.0, False), (44.0, False), (46.0, True)])
def test_a_cube_tips_where_the_slope_is_steeper_than_one(theta, tips):
    law = contact.Impulse(0.0, 2.0, rolling_resistance=0.0)
    model = model_of(PLANE, CUBE, law, theta=np.radians(theta), max_time=60.0)
    result = engine.run_batch(model, motions.Release([[0.0, 0.0, 0.1]]))
    turned = 2.0 * np.arccos(min(1.0, abs(result.attitude[0, 3])))
    assert (turned > 0.3) == tips


def test_a_ball_slides_and_then_rolls():
    """5/7 of its speed from 2 v/(7 mu g) on, and without rolling resistance for ever."""
    v, mu = 0.05, 0.3
    slides = 2 * v / (7 * mu * G)
    law = contact.Impulse(0.5, mu, rolling_resistance=0.0)
    model = model_of(PLANE, BALL, law, max_time=4.0 * slides)
    solution = engine.simulate(model, motions.Release([0.0, 0.0, 0.1], (v, 0.0, 0.0)))
    late = solution.time > 1.1 * slides
    assert solution.velocity[late, 0] == pytest.approx(5 / 7 * v, rel=1e-3)
    assert solution.rate[late, 1] == pytest.approx(5 / 7 * v / 0.1, rel=1e-3)
    half = np.argmin(np.abs(solution.time - 0.5 * slides))
    expected = v - mu * G * solution.time[half]
    assert solution.velocity[half, 0] == pytest.approx(expected, rel=5e-3)


def rocking(sides, radius, tilt, e, mu, g):
    """A prism let go on one edge: the rises of its centre in each swing, and how they compare.

    Its wheel's ``k2`` [m^2] is the square of the radius of gyration, ``half`` a side's angle.
    """
    wheel = vehicles.RigidLander.cylinder(2 * radius, 0.8 * radius, 1.1, sides=sides)
    k2, half = wheel.inertia[2, 2] / wheel.mass, np.pi / sides
    upright = frames.quat_from_axis_angle(X, np.pi / 2)
    turned = frames.quat_multiply(upright, frames.quat_from_axis_angle(Z, half + tilt))
    height = radius * np.cos(half - tilt) + 1e-9
    law = contact.Impulse(e, mu, **FREE)
    model = model_of(PLANE, wheel, law, g=g, max_time=50.0 * np.sqrt(radius / g))
    run = engine.simulate(model, motions.Release([0.0, 0.0, height], attitude=turned))
    away = frames.quat_multiply(frames.quat_conjugate(upright), run.attitude)
    angle = 2.0 * np.arctan2(away[:, 2], away[:, 3]) - half
    crossed = np.flatnonzero(angle[1:] * angle[:-1] < 0.0)
    swings = np.split(np.abs(angle), crossed + 1)[:-1]
    rise = [radius * (np.cos(half - swing.max()) - np.cos(half)) for swing in swings]
    return np.array(rise), k2, half


@pytest.mark.parametrize("g", [1e-5, 1e-3, 1.0])
@pytest.mark.parametrize(
    ("sides", "radius", "tilt", "e", "mu"),
    [
        (4, 0.15, 0.5, 0.0, 2.0),
        (8, 0.3, 0.2, 0.0, 1.0),
        (8, 0.3, 0.2, 0.5, 1.0),
        (12, 0.3, 0.15, 0.6, 0.6),
        (16, 0.09, 0.1, 0.0, 0.6),
        (16, 0.09, 0.1, 0.5, 0.6),
    ],
)
def test_a_wheel_rocks_on_its_facets(sides, radius, tilt, e, mu, g):
    """Housner's rocking, without resistance, at the default hop of 0.1 mm.

    A prism of the radius R and n sides rocks from one edge to the next, a = pi/n to either side:
    the momentum about the new edge is kept, so that the share (k^2 + R^2 cos 2a)^2/(k^2 + R^2)^2 of
    the energy is left. Tilted by t its centre is R (cos(a - t) - cos a) higher than at rest.
    Restitution changes nothing, as long as the bounces of the new edge, 2 e/(1 - e) u/g in all,
    end before the old one is down again: all their impulses go through the new edge.

    Steps of dt = sqrt(2 hop/g) see the top of a swing to (dt/T)^2, T = w/w' being the time from
    there to the hit; and levers of what holds, in the middle of a step, are w dt/2 off at its end,
    which the hit sees. The tolerance is both, twice each for the energy.
    """
    rise, k2, half = rocking(sides, radius, tilt, e, mu, g)
    inertia = k2 + radius**2
    kept = ((k2 + radius**2 * np.cos(2 * half)) / inertia) ** 2
    hop = contact.Impulse(e).hop
    turned = 2.0 * np.sqrt(rise[:-1] * hop / inertia)  # w dt
    coarse = hop / rise[1:] * (radius * np.sin(half)) ** 2 / inertia  # (dt/T)^2
    # Swings of some steps, whose edge comes down faster than a hop.
    told = (coarse < 0.02) & (rise[:-1] / inertia * (2 * radius * np.sin(half)) ** 2 > hop)
    assert told.any()
    off = rise[1:] / rise[:-1] / kept - 1.0
    assert (np.abs(off) < turned + 2.0 * coarse)[told].all()


@GROUNDS
def test_a_cube_that_topples_ends_on_a_face(ground):
    """Balanced on an edge or a corner but for a hundredth of a degree."""
    lean = frames.quat_from_axis_angle(np.array([0.6, 0.8, 0.0]), np.radians(0.01))
    attitude = np.array([frames.quat_multiply(lean, q) for q in (EDGE, CORNER)])
    low = -frames.quat_rotate(attitude[:, None], CUBE.points[None])[..., 2].min(axis=1)
    law = contact.Impulse(0.4, 0.6, rolling_resistance=0.0)
    model = model_of(ground, CUBE, law, max_time=1e4)
    result = engine.run_batch(model, motions.Release(above(0.0, low), attitude=attitude))
    assert (result.outcome == Outcome.SETTLED).all()
    assert result.position[:, 2] == pytest.approx([0.1, 0.1], abs=1e-6)


# -- landings -------------------------------------------------------------------------------------


@GROUNDS
def test_landings_end_at_rest_on_a_face_and_lose_energy(ground, device):
    law = contact.Impulse(0.5, 0.6, rolling_resistance=0.0)
    model = model_of(ground, CUBE, law)
    result = engine.run_batch(model, random_release(60, 3), device=device)
    assert (result.outcome == Outcome.SETTLED).all()
    assert not result.final["v"].any()
    assert not result.final["w"].any()
    assert result.position[:, 2] == pytest.approx(np.full(60, 0.1), abs=1e-6)
    touches = result.touches
    scale = 0.5 * G
    assert (touches["energy_out"] - touches["energy_in"]).max() < 1e-9 * scale
    assert result.final["gain"].max() < 1e-9 * scale
    assert result.final["steps"].max() < 3000
    hits = touches[touches["points"] == 1]
    flat = hits["impulse"] - hits["normal_impulse"][:, None] * hits["normal"]
    single = hits["end"] == hits["start"]
    assert single.sum() > 100
    sideways = np.linalg.norm(flat[single], axis=1)
    assert (sideways <= 0.6 * hits["normal_impulse"][single] * (1 + 1e-9)).all()


def test_points_and_hull_agree():
    """The same contacts in the same order: the same course, until rounding has grown."""
    law = contact.Impulse(0.5, 0.6)
    found = [
        engine.run_batch(model_of(ground, CUBE, law, max_time=30.0), random_release(20, 7)).final
        for ground in (PLANE, SLAB)
    ]
    off = np.linalg.norm(found[0]["x"] - found[1]["x"], axis=1)
    assert np.median(off) < 1e-6


def flights(solution):
    """Poses between the lines of a flight, 40 each, from the line that ends it backwards.

    A hit is no line of its own, so the line before an arc may have the motion before the hit.
    """
    end = np.flatnonzero(~solution.in_contact[1:] & ~solution.in_contact[:-1]) + 1
    step = solution.time[end] - solution.time[end - 1]
    back = -np.outer(step, np.linspace(0.001, 0.999, 40))[..., None]
    v, g = solution.velocity[end][:, None], np.array([0.0, 0.0, -G])
    x = solution.position[end][:, None] + v * back + 0.5 * g * back**2
    shape = (len(end), 40)
    q = np.broadcast_to(solution.attitude[end][:, None], (*shape, 4)).reshape(-1, 4)
    w = np.broadcast_to(solution.rate[end][:, None], (*shape, 3)).reshape(-1, 3)
    turned, _ = turn(solution.model.lander.inertia, q, w, back.ravel(), device="cpu")
    return x.reshape(-1, 3), turned


@pytest.mark.parametrize(
    ("lander", "speed", "rate"),
    [(CUBE, 1.0, 1.0), (CUBE, 10.0, 0.0), (CUBE, 0.02, 20.0), (NEEDLE, 1.0, 3.0)],
    ids=["thrown", "fast", "spinning", "needle"],
)
def test_nothing_is_missed(lander, speed, rate):
    """Down at any angle, and grazing: in flight the lander is never in the ground."""
    rng = np.random.default_rng(6)
    law = contact.Impulse(0.5, 0.6)
    size = lander.bounding_radius
    for grazing in (False, False, False, True):
        aim = np.array([*rng.normal(size=2), -1.0])
        if grazing:
            aim[2] = -0.03
        start = np.array([0.0, 0.0, 1.0 + size])
        start[:2] = -0.25 * aim[:2] / np.linalg.norm(aim[:2])
        if grazing:
            start[2] = size + 1e-3
        release = motions.Release(
            start, speed * aim / np.linalg.norm(aim), rng.normal(size=4), rate * rng.normal(size=3)
        )
        model = model_of(SLAB, lander, law, max_time=5.0 + 2.5 / speed)
        solution = engine.simulate(model, release)
        x, q = flights(solution)
        over = np.abs(x[:, :2]).max(axis=1) < 29.0  # fast ones leave the slab
        gap = contact.distance(SLAB, lander, x[over], q[over], device="cpu").distance
        assert len(solution.events) > 0
        assert gap.min() > -1e-6 * size


# -- statistics -----------------------------------------------------------------------------------


def rest_statistics(surface, pull, count, seed, height):
    """Distances and times to rest of cubes by rigid contact and by stiff springs."""
    rng = np.random.default_rng(seed)
    found = []
    for law in (
        contact.Impulse(0.5, 0.6, rolling_resistance=0.0),
        contact.Compliant(0.5, 0.6, rolling_resistance=0.0, patch_radius=0.0, depth=1e-4),
    ):
        q, w = rng.normal(size=(count, 4)), rng.normal(size=(count, 3)) * 0.2
        v = rng.normal(size=(count, 3)) * 0.02
        release = motions.Release([[0.0, 0.0, height]] * count, v, q, w)
        model = motions.Model(pull, surface, CUBE, law, stop=engine.Stop(max_time=1e4))
        result = engine.run_batch(model, release)
        assert (result.outcome == Outcome.SETTLED).all()
        found.append((np.linalg.norm(result.position - [0, 0, height], axis=1), result.time))
    return found


@pytest.mark.parametrize("count", [60, pytest.param(300, marks=pytest.mark.validate)])
def test_rest_as_with_stiff_springs(count):
    """Two-sample Kolmogorov-Smirnov on distance and time to rest, on a plane."""
    one, other = rest_statistics(PLANE, gravity.Uniform((0, 0, -G)), count, 8, 0.5)
    for a, b in zip(one, other, strict=True):
        assert ks_2samp(a, b).pvalue > 1e-3


@pytest.mark.validate
def test_rest_as_with_stiff_springs_on_a_sphere():
    radius = 20.0
    pull = gravity.PointMass(G * radius**2)
    one, other = rest_statistics(surfaces.Sphere(radius=radius), pull, 300, 9, radius + 0.5)
    for a, b in zip(one, other, strict=True):
        assert ks_2samp(a, b).pvalue > 1e-3
