"""No step passes over a switch.

A push of a [m/s^2] from t1 to t2 changes the velocity of what flies free by a (t2 - t1), exactly,
however short it is against the steps of flight: x(t) = x0 + a (t2 - t1) (t - (t1 + t2) / 2) after
it. A lander at rest whose push is still to come goes on from there.
"""

import numpy as np
import pytest

from alight import contact, engine, flight, gravity, motions, surfaces, vehicles
from alight.core.outcomes import Outcome

PUSH = np.array([0.03, -0.02, 0.09])
CUBE = vehicles.RigidLander.cube(0.2, 1.0)
POINT = vehicles.RigidLander.point(1.0)
LAWS = {
    "clipped": (contact.Compliant(restitution=0.4), CUBE),
    "smooth": (contact.Compliant(restitution=0.4, scheme="smooth"), CUBE),
    "impulse": (contact.Impulse(restitution=0.4), CUBE),
    "sliding": (contact.Sliding(restitution=0.4, friction=0.5), POINT),
}


def model(law, lander, externals, max_time, g=0.0):
    down = gravity.Uniform((0.0, 0.0, -g))
    stop = engine.Stop(max_time=max_time, settle_time=5.0)
    return motions.Model(down, surfaces.Plane(), lander, law, externals=externals, stop=stop)


@pytest.mark.parametrize("start", [0.0, 100.0, 2500.0])
@pytest.mark.parametrize("length", [1.0, 1e-3])
def test_a_short_push_in_flight_is_all_there(start, length):
    """Steps of up to 600 s, the push a thousandth of them or less."""
    push = flight.Timed(flight.SteadyPush(PUSH / length), start, start + length)
    law, lander = LAWS["clipped"]
    run = engine.run_batch(
        model(law, lander, (push,), 4000.0), motions.Release((0, 0, 50.0)), device="cpu"
    )
    assert run.outcome[0] == Outcome.TIMED_OUT
    assert run.final["v"][0] == pytest.approx(PUSH, rel=1e-9)
    moved = PUSH * (4000.0 - start - 0.5 * length)
    assert run.position[0] - (0.0, 0.0, 50.0) == pytest.approx(moved, rel=1e-9)


@pytest.mark.validate
def test_pushes_one_after_the_other_and_at_once_add_up():
    pushes = [
        flight.Timed(flight.SteadyPush(PUSH), 10.0, 11.0),
        flight.Timed(flight.SteadyPush(2.0 * PUSH), 10.5, 12.0),
        flight.SteadyPush((0.0, 0.0, 1e-6), axes="target"),
    ]
    law, lander = LAWS["clipped"]
    solution = engine.simulate(model(law, lander, pushes, 1000.0), motions.Release((0, 0, 50.0)))
    for time in (10.0, 10.5, 11.0, 12.0):
        assert np.abs(solution.time - time).min() < 1e-9 * time, "steps end on switches"
    v = 4.0 * PUSH + (0.0, 0.0, 1e-3)
    assert solution.velocity[-1] == pytest.approx(v, rel=1e-9)


#: Each has a kernel of its own: one of them, and the others in make validate.
OTHERS = [pytest.param(name, marks=pytest.mark.validate) for name in LAWS if name != "clipped"]


@pytest.mark.parametrize("name", ["clipped", *OTHERS])
def test_a_lander_at_rest_is_pushed_off_later(name):
    """At rest after a minute or so; at 3000 s a push against gravity lifts it, and it lands again.

    Upward at a for T, then free fall: it rises by (a - g) T^2 / 2 (1 + (a - g) / g).
    """
    law, lander = LAWS[name]
    g, a, T = 1e-3, 4e-3, 20.0
    push = flight.Timed(flight.SteadyPush((0.0, 0.0, a)), 3000.0, 3000.0 + T)
    solution = engine.simulate(
        model(law, lander, (push,), 1e5, g), motions.Release((0.0, 0.0, 0.15))
    )
    assert solution.outcome is Outcome.SETTLED
    assert solution.time[-1] > 3000.0 + T
    times = np.linspace(2999.0, solution.time[-1], 200_000)
    height = solution.sample(times)[0][:, 2]
    rise = 0.5 * (a - g) * T**2 * (1.0 + (a - g) / g)
    assert height.max() - height[0] == pytest.approx(rise, rel=2e-3)
    assert height[-1] == pytest.approx(height[0], abs=2e-3)


def test_without_a_push_to_come_a_run_ends_at_rest():
    push = flight.Timed(flight.SteadyPush((0.0, 0.0, 4e-3)), 1.0, 2.0)
    law, lander = LAWS["clipped"]
    run = engine.run_batch(
        model(law, lander, (push,), 1e5, 1e-3), motions.Release((0, 0, 0.15)), device="cpu"
    )
    assert run.outcome[0] == Outcome.SETTLED
    assert run.time[0] < 1000.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: flight.Timed(flight.SteadyPush(PUSH), 5.0, 5.0), "never acts"),
        (lambda: flight.Timed("push", 1.0, 2.0), "no external law"),
        (lambda: flight.SteadyPush(PUSH, axes="body"), "axes"),
    ],
)
def test_pushes_that_make_no_sense(make, words):
    with pytest.raises(Exception, match=words):
        make()


# -- trees and membranes ---------------------------------------------------------------------------


def tree_model(externals, max_time, g=0.0):
    body = vehicles.Tree(
        "body", [vehicles.TreeBody("body", 5.0, (1, 1, 1))], [vehicles.Joint("body", "free")]
    )
    pads = [vehicles.Pad("body", (x, y, 0.0), name=f"{x} {y}") for x in (-1, 1) for y in (-1, 1)]
    stop = motions.TreeStop(max_time=max_time, tip_angle=np.pi)
    return motions.TreeModel(
        *(body, pads, gravity.Uniform((0.0, 0.0, -g)), surfaces.Plane()),
        contact.Hertz(1e4, 100.0, 0.5),
        externals=tuple(externals),
        stop=stop,
    )


@pytest.mark.validate
@pytest.mark.parametrize("length", [1.0, 1e-3])
def test_a_short_push_on_a_tree_is_all_there(length):
    """Steps of up to 10 s, each within 1e-7 m and m/s."""
    push = flight.Timed(flight.SteadyPush(PUSH / length), 30.0, 30.0 + length)
    one = tree_model([push], 100.0)
    run = engine.run_batch(one, motions.TreeRelease.of(one.tree, (0, 0, 50.0)), device="cpu")
    assert run.outcome[0] == Outcome.TIMED_OUT
    assert run.final["v"][0] == pytest.approx(PUSH, rel=1e-5)
    moved = PUSH * (100.0 - 30.0 - 0.5 * length)
    assert run.final["x"][0] - (0.0, 0.0, 50.0) == pytest.approx(moved, rel=1e-5)


def test_a_tree_at_rest_waits_for_a_push_that_is_to_come():
    """It stands from the first second on; at 40 s a push lifts it: (a - g) T then, -g after."""
    g, a, T = 0.1, 0.4, 1.0
    push = flight.Timed(flight.SteadyPush((0.0, 0.0, a)), 40.0, 40.0 + T)
    one = tree_model([push], 42.0, g)
    run = engine.run_batch(one, motions.TreeRelease.of(one.tree, (0, 0, 0.001)), device="cpu")
    assert run.outcome[0] == Outcome.TIMED_OUT
    depth = (5.0 * g / 4 / 1e4) ** (2 / 3)
    # The springs give back what they hold: v^2 = 2 (2/5 k d^(5/2) 4 / m) and a little more.
    spring = np.sqrt(2 * 4 * 0.4 * 1e4 * depth**2.5 / 5.0)
    assert run.final["v"][0, 2] == pytest.approx((a - g) * T - g * 1.0, abs=2 * spring)
    assert run.final["x"][0, 2] > 0.1


@pytest.mark.validate
@pytest.mark.parametrize("length", [1.0, 1e-3])
def test_a_short_push_on_what_a_membrane_catches_is_all_there(length):
    """Steps of up to 20 s, on body and carrier; what does not switch is followed to rounding."""
    from alight.membrane import Captive, Membrane, hexagon
    from alight.motions.membrane.model import Craft, MembraneMotion

    push = flight.Timed(flight.SteadyPush(PUSH / length), 30.0, 30.0 + length)
    rock = Captive(100.0, np.eye(3), 0.1 * np.array(np.vstack([np.eye(3), -np.eye(3)])))
    motion = MembraneMotion(
        Membrane(30.0, suspension=hexagon(7.5)),
        rock,
        Craft(1e3, (1e3, 1e3, 1e3)),
        externals=(push,),
    )
    found = motion.run((0, 0, 5.0), duration=100.0, every=100.0, step=20.0, device="cpu")
    moved = PUSH * (100.0 - 30.0 - 0.5 * length)
    assert found.outcome[0] == Outcome.TIMED_OUT
    for places, first in ((found.position, 5.0), (found.craft_position, 0.0)):
        assert places[0, -1] - (0.0, 0.0, first) == pytest.approx(moved, rel=1e-6)
