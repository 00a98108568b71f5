"""Manoeuvres: a lander with three wheels hops where it is pointed, from however it lies.

The plan of a hop is exact for a rigid lander whose wheels are braked in no time: with r from the
foot ahead to the centre of mass, n the ground's normal and d the wanted direction, wheels of the
momentum L = I w + m r x v throw it along d at the wanted speed, at alpha = atan(-d . r / n . r)
above the ground where the foot holds and at atan(1 / mu) where it slides, whatever the azimuth and
the attitude. All tests share a kernel: five manoeuvres, of which those that a test has no use for
come after its end.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.verification.hopping import ETA, LEVER, MASS, PLATFORM, SIDE, STANDING, J

from alight import contact, engine, flight, gravity, motions, surfaces, vehicles
from alight.actuators import Hop, Manoeuvre, Pulse, SpinAndBrake, Upright, Wheel
from alight.actuators.pointed_hop import unit_hops
from alight.core import frames
from alight.core.errors import InputError
from alight.core.outcomes import Outcome

G = 5.7e-3
TOP = 520.0
#: A lopsided one: its inertia couples all axes, its corners are eight feet.
LOPSIDED = vehicles.RigidLander.box(
    (0.22, 0.26, 0.24), MASS, center_of_mass=(0.01, -0.008, 0.005),
    inertia=[[0.055, 0.002, -0.001], [0.002, 0.05, 0.003], [-0.001, 0.003, 0.058]],
)  # fmt: skip
CUBE = vehicles.RigidLander.cube(SIDE, MASS, inertia=(PLATFORM + J) * np.eye(3))
#: Attitudes on each of six sides, before they are made unit quaternions.
SIDES = [(0, 0, 0, 1), (1, 0, 0, 1), (0, 1, 0, 1), (-1, 0, 0, 1), (0, -1, 0, 1), (1, 0, 0, 0)]
COUNT = 5
LATE = Manoeuvre(Pulse({"x": 1.0}, 1.0), not_before=1e8)


def model(*manoeuvres, lander=CUBE, mu=2.0, e=0.3, max_time=2e4, rate=0.0, sun=None, **wheel):
    """On a plane, under the gravity of Phobos."""
    given = {"torque": 3e-3, "top_speed": TOP, "brake": math.inf} | wheel
    axes = zip("xyz", np.eye(3), strict=True)
    wheels = [Wheel(axis, J, name=name, **given) for name, axis in axes]
    used = sum(one.repeats for one in manoeuvres)
    rest = [LATE] * (COUNT - used)
    return motions.Model(
        gravity.Uniform((0.0, 0.0, -G)),
        surfaces.Plane(),
        lander,
        contact.Impulse(restitution=e, friction=mu, rolling_resistance=0.0),
        rotation=flight.UniformRotation(rate),
        stop=engine.Stop(max_time=max_time),
        actuators=wheels,
        manoeuvres=(*manoeuvres, *rest),
        sun=sun,
    )


def hop(made, release=None):
    """The run, and the record of its first manoeuvre."""
    solution = engine.simulate(made, release or motions.Release(STANDING))
    return solution, solution.result.manoeuvres[0]


def pointed(v):
    """Azimuth, clockwise from north, which is -x here, and angle above the ground [deg], speed."""
    azimuth = np.degrees(np.arctan2(v[1], -v[0])) % 360.0
    return azimuth, np.degrees(np.arctan2(v[2], np.hypot(v[0], v[1]))), np.linalg.norm(v)


@pytest.mark.validate  # a kernel of its own
@pytest.mark.parametrize("azimuth", [0.0, 37.0, 135.0, 251.0])
@pytest.mark.parametrize("mu", [2.0, 0.5])
def test_a_cube_hops_where_it_is_pointed(azimuth, mu):
    """H1 to H6 in space, to what a brake of no time allows."""
    command = Hop(azimuth=math.radians(azimuth), speed=0.2, friction=mu)
    _, records = hop(model(Manoeuvre(command), mu=mu))
    found, above, speed = pointed(records["velocity"][0])
    # Take-off is noted a step or two after the brake: gravity has acted for some milliseconds.
    assert (found - azimuth + 180.0) % 360.0 == pytest.approx(180.0, abs=0.01)
    assert speed == pytest.approx(0.2, rel=1e-3)
    ahead = 0.5 * SIDE * (abs(np.cos(math.radians(azimuth))) + abs(np.sin(math.radians(azimuth))))
    steep = math.degrees(math.atan2(ahead, 0.5 * SIDE))
    wanted = steep if mu >= 0.5 * SIDE / ahead else math.degrees(math.atan(1.0 / mu))
    assert above == pytest.approx(wanted, abs=0.05)
    assert records["share"][0] == 1.0
    theta = math.radians(wanted)
    assert records["meant"][0] == pytest.approx(0.04 * math.sin(2.0 * theta) / G, rel=1e-6)


@pytest.mark.parametrize("brake", [0.5, 5.0, 71.0])
@pytest.mark.parametrize("azimuth", [0.0, 90.0, 30.0])
def test_wheels_that_stand_but_for_rounding_are_braked_with_the_others(azimuth, brake):
    """By brakes that take their time: where one wheel alone is wanted, the others have next to no
    momentum, and stand before time has moved on. And nothing but motors moves a cube that stands:
    not the rounding of a gap, over the rest of a step."""
    command = Hop(azimuth=math.radians(azimuth), speed=0.2, friction=0.8)
    made = model(Manoeuvre(command, delay=60.0, repeats=3), mu=0.8, brake=brake)
    solution = engine.simulate(made, motions.Release((0.0, 0.0, SIDE)))
    records = solution.result.manoeuvres[0]
    assert solution.outcome is Outcome.SETTLED
    assert (np.linalg.norm(records["velocity"][:3], axis=-1) > 0.1).all()
    gains = solution.events["energy_out"] - solution.events["energy_in"]
    hits = solution.events["end"] - solution.events["start"] == 0.0
    assert (gains[hits] <= 0.0).all()
    wheels = np.abs(solution.wheel_speed).max(axis=1)
    first, braked = np.flatnonzero(wheels > 0.0)[0], np.flatnonzero(wheels > 0.5 * wheels.max())[0]
    assert braked > first + 1
    assert np.linalg.norm(solution.velocity[first:braked], axis=1).max() < 1e-7


@pytest.mark.validate  # a kernel of its own
def test_it_does_so_from_however_it_lies():
    """On each of its sides, a lander whose axes are not those of its inertia; a batch of them."""
    command = Hop(azimuth=1.0, speed=0.15, friction=3.0)
    made = model(Manoeuvre(command), lander=LOPSIDED, mu=3.0, e=0.0)
    attitude = np.array([np.array(q) / np.linalg.norm(q) for q in SIDES], dtype=np.float64)
    low = [frames.quat_rotate(q, LOPSIDED.points)[:, 2].min() for q in attitude]
    place = np.array([(0.0, 0.0, -z + 1e-9) for z in low])
    result = engine.run_batch(made, motions.Release(place, attitude=attitude))
    for record in result.manoeuvres[:, 0]:
        azimuth, _, speed = pointed(record["velocity"])
        assert azimuth == pytest.approx(math.degrees(1.0), abs=0.05)
        assert speed == pytest.approx(0.15, rel=2e-3)


@pytest.mark.validate  # a kernel of its own
@pytest.mark.parametrize("seed", range(4))
def test_motors_that_start_one_after_the_other_all_start(seed):
    """Any box, on any side: slow wheels are switched on last, when the lander may be at rest."""
    draw = np.random.default_rng(seed)
    size, mass = draw.uniform(0.15, 0.35, 3), draw.uniform(2.0, 12.0)
    lopsided = draw.normal(size=(3, 3))
    inertia = 0.01 * np.eye(3) + mass / 12.0 * np.diag(np.sum(size**2) - size**2)
    inertia += 1.5e-3 * np.trace(inertia) * (lopsided + lopsided.T)
    lander = vehicles.RigidLander.box(
        tuple(size), mass, center_of_mass=tuple(draw.uniform(-0.02, 0.02, 3)), inertia=inertia
    )
    azimuth = draw.uniform(0.0, 2.0 * math.pi)
    command = Hop(azimuth=azimuth, speed=0.15, friction=0.9)
    made = model(Manoeuvre(command), lander=lander, mu=0.9, top_speed=5e3)
    attitude = np.array([np.array(q) / np.linalg.norm(q) for q in SIDES], dtype=np.float64)
    low = [frames.quat_rotate(q, lander.points)[:, 2].min() for q in attitude]
    place = np.array([(0.0, 0.0, -z + 1e-9) for z in low])
    result = engine.run_batch(made, motions.Release(place, attitude=attitude))
    way = (-math.cos(azimuth), math.sin(azimuth), 0.0)
    plans = unit_hops(lander.points, mass, inertia, 0.9, attitude, (0.0, 0.0, 1.0), way)
    brought = 0.5 / J * (0.15 * np.linalg.norm(plans["momentum"], axis=1)) ** 2
    assert result.manoeuvres["energy"][:, 0] == pytest.approx(brought, rel=1e-4)
    for record in result.manoeuvres[:, 0]:
        found, _, speed = pointed(record["velocity"])
        assert (found - math.degrees(azimuth) + 180.0) % 360.0 == pytest.approx(180.0, abs=1.0)
        # Noted some hundredths of a second after the brake.
        assert speed == pytest.approx(0.15, rel=1e-2)


@pytest.mark.validate  # a kernel of its own
def test_a_distance_is_that_of_flight_over_level_ground():
    """H3 inverted. The centre of mass comes down to a corner's height, not to where it began."""
    _, records = hop(model(Manoeuvre(Hop(azimuth=0.0, distance=3.0, friction=2.0))))
    first = records[0]
    v = math.sqrt(G * 3.0)  # sin(2 theta) = 1
    assert first["asked"] == pytest.approx(v, rel=1e-9)
    assert first["meant"] == 3.0
    flown = np.linalg.norm((first["touch_place"] - first["place"])[:2])
    assert flown == pytest.approx(3.0, abs=SIDE)
    assert first["energy"] == pytest.approx(0.5 * J * (v / LEVER / ETA) ** 2, rel=1e-6)
    assert first["fastest"] == pytest.approx(v / LEVER / ETA, rel=1e-6)


@pytest.mark.validate  # a kernel of its own
def test_wheels_that_are_too_slow_hop_as_fast_as_they_can():
    """All wheels by the same share, so that the direction stays."""
    command = Hop(azimuth=0.6, distance=1e4, friction=2.0)
    _, records = hop(model(Manoeuvre(command), max_time=3e4))
    first = records[0]
    assert 0.0 < first["share"] < 0.9
    assert first["fastest"] == pytest.approx(0.9 * TOP, rel=1e-3)
    azimuth, _, speed = pointed(first["velocity"])
    assert azimuth == pytest.approx(math.degrees(0.6), abs=0.05)
    assert speed == pytest.approx(first["asked"] * first["share"], rel=1e-3)


@pytest.mark.validate  # a kernel of its own
@pytest.mark.parametrize("friction", [0.0, 2e-4])
def test_spin_and_brake_reaches_its_speeds_together(friction):
    """Against friction, on the line of torque and speed: in closed form."""
    command = SpinAndBrake({"y": 200.0, "x": -50.0}, level=0.9)
    solution, records = hop(model(Manoeuvre(command), mu=3.0, friction=friction))
    brakes = np.flatnonzero((solution.wheel_speed == 0.0).all(axis=1) & (solution.time > 61.0))[0]
    assert solution.wheel_speed[brakes - 1] == pytest.approx([-50.0, 200.0, 0.0], rel=1e-6)
    assert records["fastest"][0] == pytest.approx(200.0, rel=1e-6)


@pytest.mark.validate  # a kernel of its own
def test_a_tumble_brings_a_side_up():
    """From each of four sides, tumble by tumble, without flight."""
    made = model(Manoeuvre(Upright(within=0.3, friction=2.0), repeats=4), mu=2.0, e=0.0)
    turns = [(1, 0, 0, 0), (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 0, 1)]
    attitude = np.array([np.array(q) / np.linalg.norm(q) for q in turns], dtype=np.float64)
    result = engine.run_batch(made, motions.Release(STANDING, attitude=attitude))
    up = frames.quat_rotate(result.attitude, np.array([0.0, 0.0, 1.0]))[:, 2]
    assert up == pytest.approx(1.0, abs=1e-6)
    done = (result.manoeuvres["state"][:, :4] == 2.0).sum(axis=1)
    assert done.tolist() == [2, 1, 1, 0], "what is upright is left alone"
    assert (result.outcome == Outcome.SETTLED).all()


@pytest.mark.validate  # a kernel of its own
def test_wheels_end_the_tumbling_in_flight():
    """What turned after take-off is upright and still before it touches again."""
    command = Hop(azimuth=0.3, speed=0.8, friction=2.0, settle=40.0)
    solution, records = hop(model(Manoeuvre(command), torque=0.05, max_time=6e3))
    first = records[0]
    off, down = np.searchsorted(solution.time, [first["takeoff"], first["touch"] - 1.0])
    assert np.linalg.norm(solution.rate[off + 2]) > 1.0
    assert np.linalg.norm(solution.rate[down]) < 1e-3
    up = frames.quat_rotate(solution.attitude[down], np.array([0.0, 0.0, 1.0]))
    assert up[2] > math.cos(0.01)
    H = solution.rate @ CUBE.inertia + J * solution.wheel_speed
    H = frames.quat_rotate(solution.attitude, H)[off + 1 : down]
    assert np.abs(H - H[0]).max() < 1e-10 * np.linalg.norm(H[0])


@pytest.mark.validate  # a kernel of its own
def test_hops_toward_a_place_end_there():
    """Each is planned from where the last one ended; those left over when it is there are not."""
    goal = (12.0, 5.0, 0.0)
    command = Hop(toward=goal, distance=6.0, friction=2.0)
    _, records = hop(model(Manoeuvre(command, repeats=5, within=2.0), e=0.0, max_time=1e5))
    states = records["state"]
    assert (states == 2.0).sum() >= 2
    assert (states == 3.0).any()
    last = records["end_place"][np.flatnonzero(states == 2.0)[-1]]
    assert np.linalg.norm((last - goal)[:2]) < 2.0


@pytest.mark.validate  # a kernel of its own
def test_it_waits_for_the_time():
    one = Manoeuvre(Hop(speed=0.05, friction=2.0), delay=10.0, not_before=300.0)
    assert hop(model(one))[1]["start"][0] == 300.0


@pytest.mark.validate  # a kernel of its own
def test_it_waits_for_the_sun():
    """On a wall at the equator of a body that turns once in 1000 s: the Sun, at its nadir at first,
    is 30 deg above the horizon after a third of a turn. It looks 720 times in a turn."""
    one = Manoeuvre(Hop(speed=0.05, friction=2.0), delay=10.0, sun_above=math.radians(30.0))
    wall = {
        "gravity": gravity.Uniform((-G, 0.0, 0.0)),
        "surface": surfaces.Plane(normal=(1.0, 0.0, 0.0)),
        "rotation": flight.UniformRotation(2.0 * math.pi / 1000.0),
    }
    made = replace(model(one, sun=(-1.0, 0.0, 0.0)), **wall)
    _, records = hop(made, motions.Release((0.5 * SIDE + 1e-10, 0.0, 0.0)))
    assert 0.0 <= records["start"][0] - 1000.0 / 3.0 <= 1000.0 / 720.0
    polar = replace(model(one, sun=(0.0, 0.0, -1.0)), **wall)
    solution, records = hop(polar, motions.Release((0.5 * SIDE + 1e-10, 0.0, 0.0)))
    assert solution.outcome is Outcome.SETTLED
    assert records["state"][0] == 0.0, "it never rises"


@pytest.mark.parametrize(
    ("said", "make"),
    [
        ("at the top speed of its wheels", lambda: model(Manoeuvre(Hop(speed=9.0)))),
        ("its top speed is", lambda: model(Manoeuvre(SpinAndBrake({"x": 600.0})))),
        ('"w"', lambda: model(Manoeuvre(Pulse({"w": 1.0}, 1.0)))),
        ("no brake torque", lambda: model(Manoeuvre(SpinAndBrake({"x": 60.0})), brake=0.0)),
        ("wheels with motor and brake about three axes",
         lambda: model(Manoeuvre(Hop(speed=0.1)), torque=0.0)),
        ("waits for the Sun", lambda: model(Manoeuvre(Hop(speed=0.1), sun_above=0.1))),
        ("each follows from the other", lambda: Hop(speed=0.1, distance=1.0)),
        ("no speed, no distance", lambda: Hop()),
        ("falls back on its feet", lambda: Upright(margin=1.0)),
        ("it comes to", lambda: model(Manoeuvre(SpinAndBrake({"x": 500.0})), friction=1e-3)),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said(said, make):
    with pytest.raises(InputError, match=said):
        make()
