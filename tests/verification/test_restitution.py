"""Restitution: what comes back from a hit.

A spring that pushes with k d going in and e^2 k d coming out returns e^2 of the work done on it:

    e^2 = -W_out / W_in                       (paper 000 Eq. 22, mended: the energetic coefficient)

whatever the mass behind the contact and the number of points. Without friction, at one point of
lever c and normal n, the normal impulse is (1 + e) m_eff u, with
1/m_eff = 1/m + (c x n).I^-1 (c x n), and the point leaves at e u. With friction the impulses are
those of paper 000's hodograph: golden values for a cube, and for a sphere
v_t' = v_t - 7/2 mu (1 + e) u, or 0 where mu >= 2/7 v_t/((1 + e) u).

Two errors are allowed for. Steps cover ``resolution`` r of the oscillation: of order r^2, and where
points turn one after the other about r^2/50. The lander turns while the ground gives way: of order
depth over size. And weight works on the way in: 5e-4 (1 - e^2) by the choice of the stiffness.

A spring k whose damper c acts in compression only (paper 004) has, with zeta = c/(2 sqrt(k m)),
e = exp(-zeta arccos(zeta)/sqrt(1 - zeta^2)), a depth of e u/omega and its own duration.
A ball dropped from h bounces for sqrt(2 h/g) (1 + e)/(1 - e) over a path h (1 + e^2)/(1 - e^2).
"""

import numpy as np
import pytest

from alight import contact, engine, flight, gravity, motions, surfaces, vehicles
from alight.contact.compliant.restitution import restitution_of, viscous_time
from alight.core import devices, frames
from alight.core.outcomes import Outcome

DEVICES = [device.name for device in devices.available()]
ASKED = (0.1, 0.3, 0.6, 0.9, 1.0)


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


BALL = vehicles.RigidLander.sphere(0.2, 1.0)
CUBE = vehicles.RigidLander.cube(0.2, 1.0)
CYLINDER = vehicles.RigidLander.cylinder(0.18, 0.07, 1.1)


def turn(axis, angle):
    return frames.quat_from_axis_angle(np.array(axis, dtype=float), angle)


def chain(*turns):
    """The last turn is made first."""
    q = turns[0]
    for more in turns[1:]:
        q = frames.quat_multiply(q, more)
    return q


#: The attitude of the golden cube: about x by 20, then y by 30, then z by 10 degrees.
TILTED = chain(
    turn([0, 0, 1], np.radians(10)),
    turn([0, 1, 0], np.radians(30)),
    turn([1, 0, 0], np.radians(20)),
)
CORNER = chain(turn([1, 0, 0], np.arctan(np.sqrt(2.0))), turn([0, 0, 1], np.pi / 4))

#: Lander, attitude, and how many points meet the ground together.
POSES = {
    "ball": (BALL, turn([0, 0, 1], 0.0), 1),
    "face": (CUBE, turn([0, 0, 1], 0.0), 4),
    "edge": (CUBE, turn([1, 0, 0], np.pi / 4), 2),
    "corner": (CUBE, CORNER, 1),
    "end": (CYLINDER, turn([0, 0, 1], 0.0), 16),
    "side": (CYLINDER, turn([1, 0, 0], np.pi / 2), 2),
    "flat of the side": (
        CYLINDER,
        chain(turn([1, 0, 0], np.pi / 2), turn([0, 0, 1], np.pi / 16)),
        4,
    ),
}


def lowest(lander, q):
    """How far the lowest point lies below the centre of mass [m]."""
    return float(np.max(lander.radii - frames.quat_rotate(q, lander.points)[:, 2]))


def first_touches(result):
    """The first contact of every run."""
    _, rows = np.unique(result.touches["run"], return_index=True)
    assert len(rows) == len(result)
    return result.touches[rows]


def struck(lander, q, law, speed, g=0.0, gap=1e-3, normal=(0, 0, 1), max_time=30.0, **more):
    """A batch of landers that come straight down; ``gap`` [m] is one for each, or for all."""
    up = np.asarray(normal, dtype=float) / np.linalg.norm(normal)
    count = max(law.count, np.size(speed), np.size(gap))
    drop = lowest(lander, q)
    if up[2] < 1.0:
        q = frames.quat_multiply(turn(np.cross([0, 0, 1], up), np.arccos(up[2])), q)
    height = np.broadcast_to(drop + np.asarray(gap), (count,))
    rates = np.broadcast_to(-np.asarray(speed), (count,))
    model = motions.Model(
        gravity.Uniform(-g * up),
        surfaces.Plane(normal=up),
        lander,
        law,
        stop=engine.Stop(max_time=max_time),
        **more,
    )
    release = motions.Release(height[:, None] * up, rates[:, None] * up, q)
    return engine.run_batch(model, release)


def frictionless(restitution, **more):
    return contact.Compliant(restitution=restitution, friction=0.0, rolling_resistance=0.0, **more)


# -- asked is got ---------------------------------------------------------------------------------


@pytest.mark.parametrize("resolution", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("g", [0.0, 1e-4, 5.7e-3])
@pytest.mark.parametrize("pose", ["ball", "face", "edge", "corner"])
def test_asked_is_got(pose, g, resolution):
    """Every e at every speed from 1 mm/s to 1 m/s, begun at different phases of a step."""
    lander, q, points = POSES[pose]
    speeds = (1e-3, 1e-2, 0.1, 1.0)
    e, speed, phase = (a.ravel() for a in np.meshgrid(ASKED, speeds, (0.9, 1.0)))
    law = frictionless(e, resolution=resolution)
    gap = 1e-2 * speed * phase
    result = struck(lander, q, law, speed, g, gap, max_time=2.0 if g else 30.0)
    hit = first_touches(result)
    came = np.sqrt(speed**2 + 2.0 * g * gap)
    assert -hit["normal_speed_in"] == pytest.approx(came, rel=1e-5)
    # Impulse less weight is what turned the motion round, in terms of the speed it came at.
    weight = lander.mass * g * (hit["end"] - hit["start"])
    got = (hit["impulse"][:, 2] - weight) / (lander.mass * -hit["normal_speed_in"]) - 1.0
    assert np.abs(got - e).max() < 1e-3
    assert (hit["points"] == points).all()
    assert (hit["energy_out"] <= hit["energy_in"] * (1.0 + 1e-4) + 1e-12).all()


@pytest.mark.parametrize("pose", list(POSES))
@pytest.mark.parametrize("normal", [(0.0, 0.0, 1.0), (0.3, -0.4, 0.8)])
def test_every_pose_on_level_and_tilted_ground(pose, normal, device):
    lander, q, points = POSES[pose]
    law = frictionless(np.array(ASKED))
    result = struck(lander, q, law, 0.1, normal=normal, max_time=2.0)
    hit = first_touches(result)
    up = np.asarray(normal) / np.linalg.norm(normal)
    got = result.final["v"] @ up / 0.1
    assert np.abs(got - ASKED).max() < 1e-3
    assert hit["normal_impulse"] / (0.1 * lander.mass) - 1.0 == pytest.approx(ASKED, abs=1e-3)
    assert (hit["points"] == points).all()
    # Nothing pushes sideways.
    across = result.final["v"] - (result.final["v"] @ up)[:, None] * up
    assert np.abs(across).max() < 1e-15


def test_error_falls_with_the_square_of_the_resolution():
    """One point: a quarter for half the resolution, from 0.2 to 0.05 together at least 8."""
    errors = []
    for resolution in (0.2, 0.05):
        law = frictionless(np.array(ASKED), resolution=resolution)
        result = struck(BALL, POSES["ball"][1], law, 0.1, max_time=2.0)
        errors.append(np.abs(result.final["v"][:, 2] / 0.1 - ASKED).max())
    assert errors[0] < 1e-4
    assert errors[1] < errors[0] / 8.0


def test_flight_tolerance_does_not_matter():
    law = frictionless(np.array(ASKED))
    for tolerance in (1e-6, 1e-9, 1e-12):
        steps = motions.Steps(tolerance=tolerance)
        result = struck(BALL, POSES["ball"][1], law, 0.1, 5.7e-3, max_time=0.5, steps=steps)
        hit = first_touches(result)
        got = -hit["normal_speed_out"] / hit["normal_speed_in"]
        assert np.abs(got - ASKED).max() < 1e-3


@pytest.mark.parametrize("turning", [0.0, 1e-3])
def test_ball_on_a_ball(turning, device):
    """Curved ground, at rest and turning: the same restitution along the normal."""
    e = np.array(ASKED)
    law = frictionless(e)
    place = np.array([0.6, 0.0, 0.8]) * 5.11
    rotation = flight.UniformRotation(turning)
    model = motions.Model(
        gravity.PointMass(1e-5),
        surfaces.Sphere(radius=5.0),
        BALL,
        law,
        rotation,
        stop=engine.Stop(max_time=1.0),
    )
    velocity = np.tile(-0.1 * np.array([0.6, 0.0, 0.8]), (5, 1))
    result = engine.run_batch(model, motions.Release(place, velocity), device=device)
    hit = first_touches(result)
    got = -hit["normal_speed_out"] / hit["normal_speed_in"]
    assert np.abs(got - e).max() < 1e-3
    assert hit["normal"] == pytest.approx(np.tile([0.6, 0.0, 0.8], (5, 1)), abs=1e-3)


def test_eccentric_corner_without_friction(device):
    """Effective mass: the point leaves at e u and takes (1 + e) m_eff u, to first order in depth.

    The cube turns by about depth / size while it is pressed in: 1e-5 over 0.1 m, times what the
    leaving speed is smaller than the coming one.
    """
    corner = frames.quat_rotate(TILTED, CUBE.points)
    lever = corner[corner[:, 2].argmin()]
    mass = float(CUBE.effective_mass(lever, (0.0, 0.0, 1.0)))
    e, errors = np.array(ASKED), []
    for depth in (1e-4, 1e-5):
        result = struck(CUBE, TILTED, frictionless(e, depth=depth), 0.1, max_time=0.05)
        hit = first_touches(result)
        assert hit["normal_impulse"] == pytest.approx((1 + e) * mass * 0.1, rel=50.0 * depth)
        errors.append(np.abs(-hit["normal_speed_out"] / hit["normal_speed_in"] - e).max())
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.1)  # first order


# -- with friction --------------------------------------------------------------------------------

GOLDEN = {
    0.3: ((-0.052195387504, 0.048405385361, 0.259239434035), 0.112591461147, -0.0152636469),
    0.6: ((-0.064459069128, 0.069024053486, 0.287165865225), 0.120602633701, -0.0128974588),
}


def golden_cube(depth, resolution):
    """Impulses, normal speeds after and energies of both golden cases."""
    law = contact.Compliant(
        restitution=0.6,
        friction=np.array(list(GOLDEN)),
        rolling_resistance=0.0,
        patch_radius=0.0,
        depth=depth,
        resolution=resolution,
    )
    model = motions.Model(
        gravity.Uniform((0.0, 0.0, 0.0)),
        surfaces.Plane(),
        CUBE,
        law,
        stop=engine.Stop(max_time=200.0 * depth + 1e-3),
    )
    place = np.tile([0.0, 0.0, 1e-5 + lowest(CUBE, TILTED)], (2, 1))
    result = engine.run_batch(model, motions.Release(place, (0.1, 0.05, -0.2), TILTED))
    return first_touches(result)


def golden_errors(depth, resolution):
    """Relative errors of the impulse: slipping on, and sticking."""
    hit = golden_cube(depth, resolution)
    wanted = np.array([impulse for impulse, _, _ in GOLDEN.values()])
    return np.linalg.norm(hit["impulse"] - wanted, axis=1) / np.linalg.norm(wanted, axis=1)


def test_golden_cube_with_friction():
    """Impulse, speed and energy as in the table: depth 1e-6 m, 0.025 rad."""
    hit = golden_cube(1e-6, 0.025)
    assert golden_errors(1e-6, 0.025).max() < 1e-4
    for row, (_, speed, energy) in zip(hit, GOLDEN.values(), strict=True):
        assert row["normal_speed_out"] == pytest.approx(speed, rel=1e-4)
        assert row["energy_out"] - row["energy_in"] == pytest.approx(energy, rel=1e-4)
    assert hit["tangential_speed_out"][0] == pytest.approx(
        np.hypot(0.038013867072, 0.063714721750), rel=5e-4
    )
    assert hit["tangential_speed_out"][1] < 1e-9  # sticks, exactly


def test_golden_cube_converges_with_depth_and_resolution():
    """First order in depth, second in resolution; a few parts in a thousand at the defaults."""
    assert golden_errors(1e-3, 0.2).max() < 1e-2
    shallow = [golden_errors(depth, 0.0125)[0] for depth in (1e-3, 1e-4)]
    assert shallow[0] / shallow[1] == pytest.approx(10.0, rel=0.15)
    fine = [golden_errors(1e-7, resolution)[0] for resolution in (0.2, 0.1, 0.05)]
    assert fine[0] / fine[1] == pytest.approx(4.0, rel=0.25)
    assert fine[1] / fine[2] == pytest.approx(4.0, rel=0.25)


def test_sphere_with_spin():
    """Slips on below mu_c and rolls above it; spin about the horizontal counts as slip."""
    mu = np.array([0.1, 0.1, 0.14, 0.18, 0.3, 0.05, 0.2])
    e = np.array([0.8, 0.3, 0.8, 0.8, 0.5, 1.0, 0.8])
    spin = np.array([0.0, 0.0, 0.0, 0.0, -4.0, 0.0, 3.0])
    law = contact.Compliant(restitution=e, friction=mu, rolling_resistance=0.0)
    model = motions.Model(
        gravity.Uniform((0.0, 0.0, 0.0)),
        surfaces.Plane(),
        BALL,
        law,
        stop=engine.Stop(max_time=0.5),
    )
    zero = np.zeros(7)
    release = motions.Release(
        (0.0, 0.0, 0.101), (1.0, 0.0, -1.0), rate=np.column_stack([zero, spin, zero])
    )
    final = engine.run_batch(model, release).final
    slip = 1.0 - 0.1 * spin
    critical = 2.0 / 7.0 * np.abs(slip) / (1.0 + e)
    expected = np.where(mu >= critical, 0.0, slip - 3.5 * mu * (1.0 + e))
    left = final["v"][:, 0] - 0.1 * final["w"][:, 1]
    assert left == pytest.approx(expected, abs=1e-4)
    assert np.abs(left[mu >= critical]).max() < 1e-13  # rolls, exactly
    assert expected[0] == pytest.approx(0.37)
    assert final["v"][:, 2] == pytest.approx(e, abs=1e-3)


# -- stiffness and damping as given ---------------------------------------------------------------

TABLE = {
    0.9: 0.070035,
    0.85: 0.110636,
    0.8: 0.155848,
    0.7: 0.263878,
    0.6: 0.404744,
    0.55: 0.492869,
    0.5: 0.597342,
    0.4: 0.879039,
    0.3: 1.336027,
    0.2: 2.223955,
    0.1: 4.806942,
}


@pytest.mark.parametrize(("resolution", "bound"), [(0.2, 2e-3), (0.1, 5e-4), (0.05, 1e-4)])
@pytest.mark.parametrize("speed", [0.01, 0.3])
def test_stiffness_and_damping_as_given(resolution, bound, speed):
    """The table of e over zeta; the strongest damper changes most within one step."""
    e, zeta = np.array(list(TABLE)), np.array(list(TABLE.values()))
    stiffness, omega = 1e5, np.sqrt(1e5)
    law = contact.Compliant(
        stiffness=stiffness,
        damping=2.0 * zeta * omega,
        friction=0.0,
        rolling_resistance=0.0,
        resolution=resolution,
    )
    result = struck(BALL, POSES["ball"][1], law, speed, max_time=1.0)
    hit = first_touches(result)
    assert result.final["v"][:, 2] / speed == pytest.approx(e, abs=bound)
    # Depth is read in the middle of steps and can miss the deepest point by half of one.
    depth = e * speed / omega
    assert hit["depth"] == pytest.approx(depth, rel=(0.5 * resolution * (1.0 + zeta.max())) ** 2)
    # Begin and end are those of steps; the step is the resolution over omega.
    time = np.array([viscous_time(value, omega) for value in e])
    assert np.abs(hit["end"] - hit["start"] - time).max() < 2.0 * resolution / omega


def test_four_springs_are_one_of_four_times_the_stiffness():
    """On a face k and c both add: zeta is sqrt(4) times that of one corner."""
    zeta = np.array([0.070035, 0.263878, 0.597342, 1.336027])
    omega = np.sqrt(1e5)
    law = contact.Compliant(
        stiffness=1e5, damping=2.0 * zeta * omega, friction=0.0, rolling_resistance=0.0
    )
    result = struck(CUBE, POSES["face"][1], law, 0.3, max_time=1.0)
    expected = np.array([restitution_of(2.0 * z) for z in zeta])
    assert result.final["v"][:, 2] / 0.3 == pytest.approx(expected, abs=1e-3)
    assert first_touches(result)["depth"] == pytest.approx(expected * 0.15 / omega, rel=0.01)


# -- a bouncing ball ------------------------------------------------------------------------------


def test_bouncing_ball_arcs_time_and_path():
    """Arc n lasts 2 e^n v/g. Each bounce may be off by 5e-4, so arc n by n times as much.

    The last bounces, below 0.5 mm/s, are not followed as such: they would take 2 u/g/(1 - e).
    """
    g, drop = 5.7e-3, 20.0
    e = np.array([0.3, 0.5, 0.6, 0.8])
    speed = np.sqrt(2.0 * g * drop)
    result = struck(BALL, POSES["ball"][1], frictionless(e), 0.0, g, drop, max_time=1e4)
    assert (result.outcome == Outcome.SETTLED).all()
    for run, value in enumerate(e):
        hits = result.touches[result.touches["run"] == run]
        lasting = -hits["normal_speed_in"] > 2e-3
        arcs = hits["start"][1:] - hits["end"][:-1]
        n = np.arange(1, len(hits))
        ratio = (arcs / (2.0 * value**n * speed / g))[lasting[1:]]
        assert (np.abs(ratio - 1.0) < 1e-3 * n[lasting[1:]] / value).all()
        total = np.sqrt(2.0 * drop / g) * (1.0 + value) / (1.0 - value)
        pressed = (hits["end"] - hits["start"])[:-1].sum()
        rest = 2.0 * 5e-4 / g / (1.0 - value)
        assert hits["start"][-1] - pressed == pytest.approx(total, rel=3e-3, abs=2.0 * rest)


def test_bouncing_ball_path():
    """The path read from a solution, whose arcs are parabolas exactly."""
    g, drop, e = 5.7e-3, 20.0, 0.6
    model = motions.Model(gravity.Uniform((0.0, 0.0, -g)), surfaces.Plane(), BALL, frictionless(e))
    solution = engine.simulate(model, motions.Release((0.0, 0.0, 0.1 + drop)))
    ends = solution.time[-1]
    times = np.union1d(np.linspace(0.0, ends, 20_001), solution.time)
    z = solution.sample(times)[0][:, 2]
    path = np.abs(np.diff(z)).sum()
    assert path == pytest.approx(drop * (1 + e**2) / (1 - e**2), rel=1e-3)


def test_bouncing_ball_path_of_a_batch():
    e = np.array([0.3, 0.6, 0.9])
    result = struck(BALL, POSES["ball"][1], frictionless(e), 0.0, 5.7e-3, 0.1, max_time=1e4)
    assert result.final["path"] == pytest.approx(0.1 * (1 + e**2) / (1 - e**2), rel=1e-2)
