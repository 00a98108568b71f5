"""Actuators of trees, and how a tree continues after rest.

- A thruster of force F lifts a mass m that stands on its pads, for T: it rises by
  (F / m - g) T^2 / 2 (1 + (F / m - g) / g), comes down and rests again.
- A leg that a motor pushes down with F for T gives the bus on it v = (F / m_bus - g) T; leg and bus
  then share the momentum, and the centre of mass rises by v_c^2 / 2 g.
- A wheel that is braked in flight: the angular momentum H of all stays, and in the end everything
  turns as one, w = I^-1 H.
- A motor with a top speed: Om = top (1 - exp(-t / tau)), tau = J top / torque, J that of wheel and
  bus in series.
"""

import numpy as np
import pytest

from alight import contact, engine, flight, gravity, motions, surfaces
from alight.actuators import Motor, Schedule, Thruster
from alight.core import frames
from alight.core.outcomes import Outcome
from alight.vehicles import Branch, Joint, Pad, TreeBody, assemble, flywheel

G, MASS = 0.01, 10.0
FEET = [(0.5, 0.0, -0.2), (-0.25, 0.4, -0.2), (-0.25, -0.4, -0.2)]
#: Stiff enough that what the springs give back at lift-off is small against what lifts.
GROUND = contact.Hertz(1e5, 400.0, 0.5)


def model_of(made, g=G, **options):
    """A tree with its devices over a plane; ``options`` of the model, those of its stop apart."""
    stop = {"max_time": 500.0, "settle_time": 5.0, "tip_angle": np.pi, **options.pop("stop", {})}
    return motions.TreeModel(
        *(made.tree, made.devices, gravity.Uniform((0, 0, -g)), surfaces.Plane(), GROUND),
        stop=motions.TreeStop(**stop),
        steps=motions.TreeSteps(longest=0.05),  # the top of a hop is near a line
        **options,
    )


def standing(devices=(), branches=(), mass=MASS):
    """A bus on three feet, with ``branches`` and further ``devices`` on it."""
    feet = [Pad("bus", place, name=f"foot {i}") for i, place in enumerate(FEET)]
    bus = Branch(
        [TreeBody("bus", mass, (1.0, 1.0, 1.5))], [Joint("bus", "free")], [*feet, *devices]
    )
    return assemble("hopper", [bus, *branches])


def dropped(made, height=0.201, **options):
    """A release some millimetres above the ground, as its feet reach."""
    return motions.TreeRelease.of(made.tree, (0, 0, height), **options)


# -- after rest ------------------------------------------------------------------------------------

FORCE, BURN = 0.4, 1.0
LIFT = FORCE / MASS - G
RISE = 0.5 * LIFT * BURN**2 * (1.0 + LIFT / G)


def test_a_tree_at_rest_hops_by_its_thruster_as_often_as_it_is_to():
    programme = Schedule((20.0, 20.0 + BURN), (1.0, 0.0), "rest", repeats=2)
    made = standing([Thruster(FORCE, (0, 0, 1), schedule=programme, body="bus")])
    found = engine.simulate(model_of(made), dropped(made))
    assert found.outcome is Outcome.SETTLED
    on = found.time[1:][np.diff(found.levels[:, 0]) > 0.0]
    off = found.time[1:][np.diff(found.levels[:, 0]) < 0.0]
    assert len(on) == len(off) == 2
    z = found.position[:, 2]
    starts = [np.searchsorted(found.time, t) - 1 for t in on]
    for at, stop, end in zip(starts, off, [starts[1], len(z) - 1], strict=True):
        assert stop == pytest.approx(found.time[at] + BURN, rel=1e-12)
        # Time goes straight over 20 s of rest.
        assert found.time[at] - found.time[at - 1] == pytest.approx(20.0, abs=0.1)
        assert z[at:end].max() - z[at] == pytest.approx(RISE, rel=5e-3)
        assert z[end] == pytest.approx(z[at], abs=1e-6)
    assert found.time[-1] > off[1] + 1.0


def test_a_schedule_after_release_wakes_a_tree_at_rest_too():
    burn = Schedule.between(200.0, 200.0 + BURN)
    made = standing([Thruster(FORCE, (0, 0, 1), schedule=burn, body="bus")])
    found = engine.simulate(model_of(made), dropped(made))
    z = found.position[:, 2]
    assert z[found.time >= 200.0].max() - z[found.time < 200.0][-1] == pytest.approx(RISE, rel=5e-3)
    assert found.steps < 5000, "nothing is computed while nothing moves"
    short = engine.simulate(model_of(made, stop={"max_time": 150.0}), dropped(made))
    assert short.outcome is Outcome.SETTLED, "what comes after the end does not keep it going"
    assert short.time[-1] < 100.0


@pytest.mark.parametrize("share", [0.1, 0.9, 1.0])
@pytest.mark.parametrize("kind", ["thruster", "wheel", "push"])
def test_what_switches_where_it_comes_to_rest_is_not_slept_through(kind, share):
    """At the end of the step in which it is found at rest, or just before that."""

    def flown(start):
        burn = Schedule.between(start, start + BURN)
        wheel = flywheel("wheel", "bus", (0, 0, 0), (0, 0, 1), mass=1.0, inertia=0.02,
                         torque=1e-4, schedule=burn)  # fmt: skip
        thruster = Thruster(FORCE, (0, 0, 1), schedule=burn, body="bus")
        made = standing([thruster] if kind == "thruster" else [],
                        [wheel] if kind == "wheel" else [])  # fmt: skip
        lift = flight.SteadyPush((0.0, 0.0, FORCE / MASS))
        pushes = (flight.Timed(lift, start, start + BURN),) if kind == "push" else ()
        return engine.simulate(model_of(made, externals=pushes), dropped(made))

    found = flown(400.0)
    asleep = np.flatnonzero(found.time < 400.0)[-1]
    before, rests = found.time[asleep - 1 : asleep + 1]
    found = flown(before + share * (rests - before))
    if kind == "wheel":
        assert found.v[-1, -1] == pytest.approx(1e-4 * BURN / 0.02, rel=1e-4)
    else:
        rise = found.position[found.time > rests, 2].max() - found.position[-1, 2]
        assert rise == pytest.approx(RISE, rel=5e-3)


def test_a_leg_that_pushes_off_after_rest():
    """A foot of 1 kg under a bus of 9 kg, on a slide that a motor drives; it brakes hard enough
    that foot and bus go on together."""
    push, burn, bus_mass, foot_mass = 0.5, 1.0, 9.0, 1.0
    foot = Branch(
        [TreeBody("foot", foot_mass, (0.1, 0.1, 0.1), (0, 0, -0.1))],
        [
            Joint("foot", "prismatic", "bus", axis=(0, 0, 1), stiffness=20.0, damping=3.0),
        ],
        [
            *(Pad("foot", place, name=f"foot {i}") for i, place in enumerate(FEET)),
            Motor("foot", -push, Schedule((10.0, 10.0 + burn), (1.0, 0.0), "rest")),
        ],
    )
    bus = Branch([TreeBody("bus", bus_mass, (1.0, 1.0, 1.5))], [Joint("bus", "free")])
    made = assemble("jumper", [bus, foot])
    found = engine.simulate(model_of(made), dropped(made))
    assert found.outcome is Outcome.SETTLED
    on = np.flatnonzero(found.levels[:, 0] == 1.0)
    before, off = on[0] - 1, on[-1] + 1
    # What pushes the bus up is what the ground bears beyond the weight, for as long as it does.
    down = found.time <= found.time[off]
    assert found.in_contact[before : off - 1].all()
    momentum = np.trapezoid(found.normal_force[before:off] - 10.0 * G, found.time[before:off])
    assert found.velocity[off, 2] * MASS == pytest.approx(momentum, rel=1e-2)
    v = found.velocity[off, 2]
    later = found.position[~down, 2]
    assert later.max() - found.position[off, 2] == pytest.approx(v**2 / (2.0 * G), rel=2e-2)
    assert not found.in_contact[off + 50 :].all()
    assert later[-1] == pytest.approx(found.position[before, 2], abs=1e-4)


def test_time_does_not_pass_over_joints_that_move():
    """On the ground a wheel spins up for a minute, long after all else has come to rest."""
    torque, inertia, start, end = 1e-4, 0.02, 10.0, 70.0
    wheel = flywheel(
        *("wheel", "bus", (0, 0, 0), (0, 0, 1)),
        mass=1.0,
        inertia=inertia,
        torque=torque,
        schedule=Schedule((start, end), (1.0, 0.0), "rest"),
    )
    made = standing(branches=[wheel], mass=9.0)
    found = engine.simulate(model_of(made), dropped(made))
    assert found.outcome is Outcome.SETTLED
    assert found.v[-1, -1] == pytest.approx(torque * (end - start) / inertia, rel=1e-4)
    assert np.abs(found.rate[-1]).max() < 1e-6, "the ground holds the bus"


def test_a_push_from_outside_lifts_a_tree_at_rest():
    made = standing()
    push = flight.Timed(flight.SteadyPush((0.0, 0.0, FORCE / MASS)), 300.0, 300.0 + BURN)
    found = engine.simulate(model_of(made, externals=(push,)), dropped(made))
    z = found.position[:, 2]
    assert z[found.time >= 300.0].max() - z[found.time < 300.0][-1] == pytest.approx(RISE, rel=5e-3)
    assert found.outcome is Outcome.SETTLED
    assert found.steps < 5000


def test_bits_do_not_depend_on_company():
    """Alone, or among others in slots that are used again."""
    programme = Schedule((20.0, 20.0 + BURN), (1.0, 0.0), "rest", repeats=2)
    made = standing([Thruster(FORCE, (0, 0, 1), schedule=programme, body="bus")])
    heights = np.linspace(0.2005, 0.21, 5)
    places = np.stack([0.0 * heights, 0.0 * heights, heights], axis=1)
    release = motions.TreeRelease.of(made.tree, places)
    model = model_of(made)
    all_at_once = engine.run_batch(model, release, device="cpu")
    few = engine.Batch(model, release, device="cpu", slots=2).run()
    assert all_at_once.final.tobytes() == few.final.tobytes()
    alone = engine.run_batch(model, release[3], device="cpu")
    assert all_at_once.q[3].tobytes() == alone.q[0].tobytes()
    assert all_at_once.time[3] == alone.time[0] > 40.0


# -- wheels ----------------------------------------------------------------------------------------


def spun(**options):
    """A bus that turns, far above the ground and without weight, and a wheel on it off its middle,
    about an axis that is none of the bus's."""
    wheel = flywheel(
        *("wheel", "bus", (0.1, 0.2, -0.1), (1, 2, 2)), mass=2.0, inertia=0.05, **options
    )
    made = standing(branches=[wheel])
    model = model_of(made, g=0.0, stop={"max_time": 100.0})
    rate = (0.02, -0.03, 0.05)
    return made, model, motions.TreeRelease.of(made.tree, (0, 0, 50.0), rate=rate, speeds=[40.0])


def test_a_wheel_that_locks_up_in_flight_leaves_the_angular_momentum_as_it_is():
    made, model, release = spun(brake=0.5, brake_schedule=Schedule.between(10.0))
    found = engine.simulate(model, release)
    H = made.tree.momentum(found.q, found.v, device="cpu").angular
    size = np.linalg.norm(H[0])
    np.testing.assert_allclose(H, np.broadcast_to(H[0], H.shape), atol=2e-6 * size)
    # It brakes in 4 s, and then all turn together.
    assert found.v[0, -1] == 40.0
    assert abs(found.v[-1, -1]) < 1e-5 * 40.0
    rates = found.bodies.rate[-1]
    attitudes = found.bodies.attitude[-1]
    bus, wheel = (frames.quat_rotate(q, w) for q, w in zip(attitudes, rates, strict=True))
    np.testing.assert_allclose(bus, wheel, atol=1e-5 * 40.0)
    before = found.bodies.rate[np.searchsorted(found.time, 10.0) - 1, 0]
    assert np.linalg.norm(rates[0]) > 2.0 * np.linalg.norm(before)


def test_a_motor_with_a_top_speed_comes_up_to_it():
    torque, top = 0.05, 100.0
    made, model, release = spun(torque=torque, top_speed=top)
    release = motions.TreeRelease.of(made.tree, (0, 0, 50.0))
    found = engine.simulate(model, release)
    # Wheel and bus in series: the acceleration at a stand says what resists.
    q, v = made.tree.neutral(), np.zeros(made.tree.n_v)
    tau = np.zeros(made.tree.n_v)
    tau[-1] = torque
    still = float(made.tree.accelerations(q, v, tau=tau)[-1])
    expected = top * (1.0 - np.exp(-found.time * still / top))
    assert found.v[-1, -1] == pytest.approx(expected[-1], rel=1e-3)
    assert 0.5 * top < found.v[-1, -1] < top
