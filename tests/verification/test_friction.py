"""Friction: sliding, rolling, spinning and holding.

On a slope theta under gravity g, with Coulomb's coefficient mu:

    sliding        a = g (sin theta - mu cos theta);  it stops within v^2/(2 g (mu cos - sin))
    a ball         slides until t = 2 v/(7 mu g), then rolls at 5/7 v;
                   from rest it rolls if mu >= 2/7 tan theta, with a = 5/7 g sin theta
    a cube         slides if tan theta > mu, tips over an edge if tan theta > 1
    spin           n points at the distance r stop a spin w in I w/(mu m g r),
                   a patch of radius p in I w/(mu m g 2 p/3)
    rolling        C_RR slows a rolling ball by 5/7 C_RR g/R (test_rolling_and_spin), in paper 004's
                   form by 5/2 C_RR g/R (errata 004-7 and 004-8)

Sliding impulses are mu times the normal ones, whose sum is the weight times the time; what is left
is the first moments, in which the ground first takes the weight: a few milliseconds of up to a
hundred seconds, in which the normal force swings about the weight. Rolling and sticking are exact.
"""

import numpy as np
import pytest

from alight import contact, engine, gravity, motions, surfaces, vehicles
from alight.core import devices, frames
from alight.core.outcomes import Outcome

DEVICES = [device.name for device in devices.available()]
G = 5.7e-3
BALL = vehicles.RigidLander.sphere(0.2, 1.0)
CUBE = vehicles.RigidLander.cube(0.2, 1.0)
SPEED = 0.05


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def sloping(theta):
    """Gravity on a slope that falls towards +x, seen from axes along the slope."""
    return gravity.Uniform((G * np.sin(theta), 0.0, -G * np.cos(theta)))


def law(rolling_resistance=0.0, **more):
    return contact.Compliant(restitution=0.5, rolling_resistance=rolling_resistance, **more)


def moved(lander, contact_law, theta=0.0, max_time=1e3, velocity=(0, 0, 0), rate=(0, 0, 0), **more):
    """Final states of landers put on the ground, one for each row of the contact parameters."""
    model = motions.Model(
        sloping(theta),
        surfaces.Plane(),
        lander,
        contact_law,
        stop=engine.Stop(max_time=max_time, settle_time=1e9),
    )
    place = np.tile([0.0, 0.0, 0.1], (contact_law.count, 1))
    return engine.run_batch(model, motions.Release(place, velocity, rate=rate), **more)


def followed(lander, contact_law, theta=0.0, max_time=1e3, velocity=(0, 0, 0), rate=(0, 0, 0)):
    """The whole course of one lander put on the ground."""
    model = motions.Model(
        sloping(theta),
        surfaces.Plane(),
        lander,
        contact_law,
        stop=engine.Stop(max_time=max_time, settle_time=1e9),
    )
    return engine.simulate(model, motions.Release((0.0, 0.0, 0.1), velocity, rate=rate))


# -- sliding --------------------------------------------------------------------------------------


def test_sliding_down_a_slope(device):
    """a = g (sin - mu cos), begun in motion: in 20 s the first 10 ms weigh 1e-3 of mu at most."""
    mu, theta, time = np.array([0.0, 0.1, 0.3, 0.5]), np.radians(30.0), 20.0
    result = moved(CUBE, law(friction=mu), theta, time, (SPEED, 0, 0), device=device)
    pull = G * (np.sin(theta) - mu * np.cos(theta))
    assert result.final["v"][:, 0] - SPEED == pytest.approx(pull * time, rel=1e-3)
    way = SPEED * time + 0.5 * pull * time**2
    assert result.final["x"][:, 0] == pytest.approx(way, rel=1e-3)
    assert np.abs(result.final["v"][:, 1]).max() < 1e-5 * SPEED
    assert result.final["v"][0, 0] - SPEED == pytest.approx(pull[0] * time, rel=1e-12)


def test_rolling_resistance_does_not_matter_to_a_cube_that_slides():
    """On its face it does not turn; rocking by dents of 1e-5 m may cost it a per cent."""
    mu = np.array([0.1, 0.3, 0.6])
    result = moved(CUBE, law(2e-3, friction=mu), 0.0, 500.0, (SPEED, 0, 0))
    assert result.final["x"][:, 0] == pytest.approx(SPEED**2 / (2.0 * mu * G), rel=1e-2)


@pytest.mark.parametrize("degrees", [0.0, 5.0])
def test_stopping_distance(degrees):
    mu, theta = np.array([0.15, 0.3, 0.6]), np.radians(degrees)
    result = moved(CUBE, law(friction=mu), theta, 500.0, (SPEED, 0, 0))
    brake = G * (mu * np.cos(theta) - np.sin(theta))
    assert (result.outcome == Outcome.SETTLED).all()
    assert result.final["x"][:, 0] == pytest.approx(SPEED**2 / (2.0 * brake), rel=1e-4)
    # At rest once it has stopped and twenty steps and the rocking of the stop have passed: 3 s.
    late = result.time - SPEED / brake
    assert (late > 0.0).all()
    assert (late < 3.0).all()


def test_a_cube_slides_only_beyond_its_friction_angle():
    """tan 30 degrees = 0.577: with less friction it goes on for ever, with more it stops."""
    theta = np.radians(30.0)
    mu = np.tan(theta) * np.array([0.9, 0.99, 1.1, 1.5])
    result = moved(CUBE, law(friction=mu), theta, 200.0, (1e-3, 0.0, 0.0))
    assert result.outcome.tolist() == [Outcome.TIMED_OUT] * 2 + [Outcome.SETTLED] * 2
    assert (result.final["v"][:2, 0] > 1e-3).all()
    brake = G * (mu[2:] * np.cos(theta) - np.sin(theta))
    # While the ground takes the weight there is none of its friction: 20 ms of g t are added.
    most = (1e-3 + 0.02 * G) ** 2 / (2.0 * brake)
    assert (result.final["x"][2:, 0] < most).all()


def test_a_cube_just_inside_its_friction_angle_stops():
    theta = np.radians(30.0)
    mu = np.tan(theta) * np.array([1.005, 1.01, 1.02])
    result = moved(CUBE, law(friction=mu), theta, 400.0, (1e-3, 0.0, 0.0))
    assert (result.outcome == Outcome.SETTLED).all()


@pytest.mark.parametrize(("degrees", "tips"), [(40.0, False), (44.0, False), (46.0, True)])
def test_a_cube_tips_where_the_slope_exceeds_45_degrees(degrees, tips):
    result = moved(CUBE, law(friction=5.0), np.radians(degrees), 100.0)
    assert (result.outcome[0] == Outcome.TIMED_OUT) == tips
    assert (result.final["x"][0, 0] > 1.0) == tips
    if not tips:
        assert result.final["x"][0, 0] < 1e-3


# -- a ball ---------------------------------------------------------------------------------------


def test_sliding_then_rolling():
    """Position after 60 s to 1e-4: the weight is taken, and rolling begins, within 10 ms or so."""
    mu, time = np.array([0.1, 0.2, 0.5]), 60.0
    result = moved(BALL, law(friction=mu), 0.0, time, (SPEED, 0, 0))
    slides = 2.0 * SPEED / (7.0 * mu * G)
    assert (slides < time).all()
    way = SPEED * slides - 0.5 * mu * G * slides**2 + 5.0 / 7.0 * SPEED * (time - slides)
    assert result.final["x"][:, 0] == pytest.approx(way, rel=1e-4)
    assert result.final["v"][:, 0] == pytest.approx(5.0 / 7.0 * SPEED, rel=1e-9)
    assert result.final["w"][:, 1] == pytest.approx(5.0 / 7.0 * SPEED / 0.1, rel=1e-9)


def test_rolling_begins_when_it_should():
    mu = 0.2
    solution = followed(BALL, law(friction=mu), 0.0, 30.0, (SPEED, 0, 0))
    slip = solution.velocity[:, 0] - 0.1 * solution.rate[:, 1]
    begins = solution.time[np.flatnonzero(slip < 1e-12)[0]]
    step = np.diff(solution.time).max()
    # Within a step, and the first taking of the weight.
    assert begins == pytest.approx(2.0 * SPEED / (7.0 * mu * G), abs=2.0 * step)


def test_down_a_slope_a_ball_rolls_or_slips():
    theta, time = np.radians(30.0), 20.0
    least = 2.0 / 7.0 * np.tan(theta)
    mu = least * np.array([0.5, 0.99, 1.01, 2.0])
    final = moved(BALL, law(friction=mu), theta, time).final
    rolls = mu >= least
    pull = np.where(rolls, 5.0 / 7.0 * np.sin(theta), np.sin(theta) - mu * np.cos(theta)) * G
    swing = np.where(rolls, pull / 0.1, 2.5 * mu * G * np.cos(theta) / 0.1)
    assert final["v"][:, 0] == pytest.approx(pull * time, rel=1e-4)
    # Just below the limit the slip grows from nothing: a first step or two of sticking are left.
    assert final["w"][:, 1] == pytest.approx(swing * time, rel=3e-4)
    slip = final["v"][:, 0] - 0.1 * final["w"][:, 1]
    assert np.abs(slip[rolls]).max() < 1e-14
    assert final["v"][rolls, 0] == pytest.approx(5.0 / 7.0 * np.sin(theta) * G * time, rel=1e-10)


def test_rolling_resistance_slows_a_ball():
    """004-8: a = 5/2 C_RR g/R; it rolls v^2/(2 a) and stops."""
    crr = np.array([1e-3, 2e-3, 5e-3])
    paper = law(crr, friction=0.5, rolling_law="compensated")
    result = moved(BALL, paper, 0.0, 1e3, (SPEED, 0, 0), (0, SPEED / 0.1, 0))
    brake = 2.5 * crr * G / 0.1
    assert (result.outcome == Outcome.SETTLED).all()
    assert result.final["x"][:, 0] == pytest.approx(SPEED**2 / (2.0 * brake), rel=1e-4)
    late = result.time - SPEED / brake
    assert (np.abs(late) < 3.0).all()  # the springs relax, and stillness must last some steps
    assert (result.final["gain"] <= 0.0).all()


@pytest.mark.parametrize("friction", [0.02, 0.3])
@pytest.mark.parametrize("spin", [-3.0, -0.5, 0.0, 0.25, 2.0])
@pytest.mark.parametrize("form", ["torque", "compensated"])
def test_rolling_resistance_never_adds_energy(form, spin, friction):
    """Also with back-spin, where its torque and force could: when v > 0.4 R |w| (erratum 004-7)."""
    solution = followed(
        BALL, law(5e-3, friction=friction, rolling_law=form), 0.0, 200.0,
        (SPEED, 0.01, 0), (0.1, spin, -0.2),
    )  # fmt: skip
    total = solution.energy.total
    pressed = solution.in_contact
    rise = np.diff(total)[pressed[1:]]
    # To the rounding of the potential's terms and to what the spring itself may swing by in a step.
    assert rise.max() < 1e-7 * np.ptp(total)
    assert total[-1] < total[0]


# -- spin about the normal ------------------------------------------------------------------------


def stopping_time(solution):
    """When the rate about the normal reaches zero."""
    rate = solution.rate[:, 2]
    return solution.time[np.flatnonzero(np.abs(rate) < 1e-9 * rate[0])[0]]


@pytest.mark.parametrize("height", [0.02, 0.1])
def test_spin_of_a_box_on_its_face(height):
    """Four corners at r = 0.1 sqrt(2) m.

    Friction at the effective point of contact, which its own moment moves aside by mu h/2, adds to
    that of the corners about it: between mu F r and mu F (r + mu h/2) resist.
    """
    box, mu, spin = vehicles.RigidLander.box((0.2, 0.2, height), 1.0), 0.2, 0.5
    model = motions.Model(
        sloping(0.0),
        surfaces.Plane(),
        box,
        contact.Compliant(
            stiffness=1e4, damping=50.0, friction=mu, rolling_resistance=0.0, patch_radius=0.0
        ),
        stop=engine.Stop(max_time=100.0),
    )
    solution = engine.simulate(model, motions.Release((0, 0, 0.5 * height), rate=(0, 0, spin)))
    arm = 0.1 * np.sqrt(2.0)
    longest = box.inertia[2, 2] * spin / (mu * G * arm)
    shortest = box.inertia[2, 2] * spin / (mu * G * (arm + 0.5 * mu * height))
    assert 0.99 * shortest < stopping_time(solution) < 1.01 * longest
    assert np.linalg.norm(solution.position[-1, :2]) < 1e-3
    assert solution.outcome is Outcome.SETTLED


def test_spin_of_a_ball_on_its_patch():
    mu, spin, patch = 0.4, 0.5, 0.01
    solution = followed(BALL, law(friction=mu, patch_radius=patch), rate=(0, 0, spin))
    expected = BALL.inertia[2, 2] * spin / (mu * G * 2.0 / 3.0 * patch)
    assert stopping_time(solution) == pytest.approx(expected, rel=1e-3)


def test_without_a_patch_a_ball_spins_on():
    """Its one point is its own centre of pressure, to R sqrt(2^-52) = 1.5e-9 m of rounding.

    On such an arm friction takes mu g t 1.5e-9 m/(2/5 R^2) = 1.3e-7 rad/s.
    """
    result = moved(BALL, law(friction=0.6, patch_radius=0.0), 0.0, 100.0, rate=(0, 0, 0.5))
    assert result.final["w"][0, 2] == pytest.approx(0.5, abs=3e-7)


# -- sticking -------------------------------------------------------------------------------------


def in_equilibrium(theta, stiffness):
    """A cube pressed in as far as its weight asks for: downhill corners carry more.

    Corner forces are m g (cos theta +- sin theta)/4: friction acts half a side below the centre.
    """
    dent = CUBE.mass * G / (4.0 * stiffness)
    low, high = dent * (np.cos(theta) + np.sin(theta)), dent * (np.cos(theta) - np.sin(theta))
    q = frames.quat_from_axis_angle(np.array([0.0, 1.0, 0.0]), np.arcsin((low - high) / 0.2))
    corners = frames.quat_rotate(q, CUBE.points)
    downhill = corners[(corners[:, 2] < 0.0) & (corners[:, 0] > 0.0)]
    return np.array([0.0, 0.0, -low - downhill[0, 2]]), q


def held_cube(degrees, rolling_resistance):
    """A cube in equilibrium; friction of 11 degrees sliding, of 30 degrees static."""
    theta, stiffness = np.radians(degrees), 57.0
    place, q = in_equilibrium(theta, stiffness)
    held = contact.Compliant(
        stiffness=stiffness,
        damping=5.0,
        friction=0.2,
        static_friction=np.tan(np.radians(30.0)),
        rolling_resistance=rolling_resistance,
    )
    model = motions.Model(
        sloping(theta), surfaces.Plane(), CUBE, held, stop=engine.Stop(max_time=50.0)
    )
    return engine.run_batch(model, motions.Release([place], attitude=q))


@pytest.mark.parametrize("degrees", [20.0, 25.0, 29.0])
def test_static_friction_holds_up_to_its_own_angle(degrees):
    result = held_cube(degrees, 2e-3)
    assert result.outcome[0] == Outcome.SETTLED
    assert abs(result.final["x"][0, 0]) < 1e-12


def test_static_friction_holds_without_rolling_resistance():
    """Without it the cube tilts a little as its lower corners press in deeper, and stays so."""
    result = held_cube(25.0, 0.0)
    assert abs(result.final["x"][0, 0]) < 1e-6


@pytest.mark.parametrize("degrees", [31.0, 40.0])
def test_beyond_its_angle_static_friction_is_that_of_sliding(degrees):
    """s = a t^2/2; the first swings of the normal force shift it by a part in a hundred."""
    result, theta = held_cube(degrees, 0.0), np.radians(degrees)
    pull = G * (np.sin(theta) - 0.2 * np.cos(theta))
    assert result.final["x"][0, 0] == pytest.approx(0.5 * pull * 50.0**2, rel=0.01)
