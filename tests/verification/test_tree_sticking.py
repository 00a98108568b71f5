"""Articulated landers on slopes: their pads stick truly, slide at Coulomb's limit, lose energy.

- Held: tan s < mu. The lander comes to rest and does not move from then on.
- Sliding: a = g (sin s - mu cos s); stop after v^2 / [2 g (mu cos s - sin s)] (F.3).
- Energy: kinetic, weight and springs (2/5 k d^(5/2) against the ground, k_t z^2 / 2 along it) fall
  by what dashpot (c d'^2) and friction (``contact.stick_friction``) take.
"""

import numpy as np
import pytest

from alight.contact.hertz import Hertz
from alight.contact.stick_friction import evaluate_stick
from alight.core.outcomes import Outcome
from alight.engine import Stop, run_batch, simulate
from alight.gravity import Uniform
from alight.motions import TreeModel, TreeRelease, TreeSteps, TreeStop
from alight.surfaces import Plane
from alight.vehicles import Branch, Joint, Pad, TreeBody, assemble, crushable_leg, dcap_lander

MU = 0.6
ANGLE = np.arctan(MU)


def four_legs():
    """92 kg on four crushable legs; y is up, as of the lander of paper 002."""
    bus = Branch([TreeBody("bus", 80.0, (12.0, 14.0, 12.0))], [Joint("bus", "free")])
    legs = [
        crushable_leg(
            *(f"leg {k}", "bus", (0.8 * np.cos(a), -0.2, 0.8 * np.sin(a))),
            mass=3.0,
            length=0.5,
            force=200.0,
            limit=0.1,
        )
        for k, a in enumerate(np.radians([45, 135, 225, 315]))
    ]
    return assemble("four legs", [bus, *legs])


#: Landers and the heights at which they stand, a few millimetres above the ground.
LANDERS = {"dcap": (dcap_lander(thrust=0.0), 1.3), "four legs": (four_legs(), 0.701)}
each_lander = pytest.mark.parametrize("name", LANDERS)
each_gravity = pytest.mark.parametrize("g", [5.7e-3, 1e-5])


def on_slope(name, g, slope, mu=MU, **stop):
    """The model of a lander on a slope, x down it and y its normal."""
    lander, height = LANDERS[name]
    pull = (g * np.sin(slope), -g * np.cos(slope), 0.0)
    law, ground = Hertz(1e5, 200.0, mu), Plane(normal=(0.0, 1.0, 0.0))
    stop = TreeStop(**{"max_time": 2000.0, **stop})
    model = TreeModel(
        lander.tree, lander.devices, Uniform(pull), ground, law, stop=stop, up=(0.0, 1.0, 0.0)
    )
    return model, (0.0, height, 0.0)


def held(name, g, share, after):
    """How it came to rest on a slope of ``share`` of the friction angle, and a run that goes on for
    ``after`` [s]."""
    model, place = on_slope(name, g, share * ANGLE)
    release = TreeRelease.of(model.tree, place)
    first = run_batch(model, release, device="cpu")
    end = float(first.final["t"][0]) + after
    # Nothing is slower than no speed at all: no rest is seen, and the run goes on.
    onward, _ = on_slope(
        *(name, g, share * ANGLE), max_time=end, settle_speed=1e-300, max_steps=1_000_000_000
    )
    return first, run_batch(onward, release, device="cpu")


# -- sticking --------------------------------------------------------------------------------------


@each_lander
@each_gravity
def test_a_lander_rests_on_a_slope_and_does_not_creep(name, g):
    """0.9 of the friction angle: at rest by itself, and in 100 s it moves by no more than 1e-8 m.

    A creep of 1e-6 m in 1e5 s would be 1e-9 m here; what is left of the last swing is ten times
    that at most, and dies out (the test below sees all of 1e5 s).
    """
    first, later = held(name, g, 0.9, 100.0)
    assert first.outcome[0] == Outcome.SETTLED
    assert first.final["steps"][0] < 40_000
    assert np.abs(later.q - first.q).max() < 1e-8
    assert np.linalg.norm(later.final["v"][0]) < 1e-9


@pytest.mark.validate
@each_lander
@each_gravity
def test_a_lander_at_rest_stays_for_hours(name, g):
    """In the 1e4 s after it came to rest: below 1e-7 m, as 1e-6 m in 1e5 s asks."""
    first, later = held(name, g, 0.9, 1e4)
    assert first.outcome[0] == Outcome.SETTLED
    assert np.abs(later.q - first.q).max() < 1e-7


def test_the_mass_along_the_ground_is_that_of_a_push_on_the_pad():
    """On a lever h below the centre of mass: 1 / (1/m + h^2 / I)."""
    body, joint = TreeBody("b", 10.0, (1.0, 1.5, 1.0)), Joint("b", "free")
    made = assemble("t", [Branch([body], [joint], [Pad("b", (0.0, 0.0, -0.5))])])
    model = TreeModel(made.tree, made.devices, Uniform((0.0, 0.0, -1.0)), Plane(), Hertz(1e4))
    assert model.slip_mass == pytest.approx(1.0 / (0.1 + 0.25 / 1.0), rel=1e-12)


def test_rest_is_judged_as_of_rigid_landers():
    rigid, tree = Stop(), TreeStop()
    for name in ("settle_speed", "settle_rate", "settle_time"):
        assert getattr(tree, name) == getattr(rigid, name)


@pytest.mark.parametrize(("mu", "speed"), [(0.1, 5e-6), (0.0, 5e-6), (0.0, 2e-5)])
def test_rest_is_held_or_quiet(mu, speed):
    """Held by pads that stick it is at rest soon; sliding slower than the limit, after
    ``settle_time``; sliding faster, never."""
    pull = (0.0, 0.0, -0.05)
    model = block(mu, pull, max_time=100.0)
    found = run_batch(model, standing(model, pull, speed), device="cpu")
    ended = found.final["t"][0]
    if speed > model.stop.settle_speed:
        assert found.outcome[0] == Outcome.TIMED_OUT
    else:
        assert found.outcome[0] == Outcome.SETTLED
        assert ended < 15.0 if mu else ended == pytest.approx(30.0, abs=0.2)


# -- sliding ---------------------------------------------------------------------------------------


def block(mu, pull, radius=0.0, steps=None, **stop):
    """10 kg on its middle, or a ball, over the plane z = 0."""
    body, joint = TreeBody("b", 10.0, (1, 1, 1)), Joint("b", "free")
    made = assemble("block", [Branch([body], [joint], [Pad("b", radius=radius)])])
    return TreeModel(
        *(made.tree, made.devices, Uniform(pull), Plane(), Hertz(1e4, 100.0, mu)),
        stop=TreeStop(**{"max_time": 20.0, "tip_angle": np.pi, **stop}),
        steps=steps or TreeSteps(),
    )


def standing(model, pull, speed):
    """As deep as it stands at rest, moving along x."""
    deep = (-10.0 * pull[2] / 1e4) ** (2.0 / 3.0)
    return TreeRelease.of(model.tree, (0.0, 0.0, -deep), (speed, 0.0, 0.0))


each_stepper = pytest.mark.parametrize(
    "steps", [TreeSteps(), TreeSteps(integrator="rk4", step=2e-3)], ids=["pece", "rk4"]
)


@each_stepper
def test_a_block_slides_at_the_limit(steps):
    """mu = 0.1 on a slope of 0.3 rad: a = g (sin s - mu cos s), from the first second on."""
    g, mu, slope = 0.05, 0.1, 0.3
    pull = (g * np.sin(slope), 0.0, -g * np.cos(slope))
    model = block(mu, pull, steps=steps)
    found = simulate(model, standing(model, pull, 0.0))
    i = np.searchsorted(found.time, 1.0)
    a = (found.velocity[-1, 0] - found.velocity[i, 0]) / (found.time[-1] - found.time[i])
    assert a == pytest.approx(g * (np.sin(slope) - mu * np.cos(slope)), rel=1e-5)
    load = found.pad_force[i:, 0]
    np.testing.assert_allclose(-load[:, 0], mu * load[:, 2], rtol=1e-12)


@each_stepper
def test_a_block_stops_where_it_must_and_stays(steps):
    g, mu, slope, speed = 0.05, 0.3, 0.15, 0.2
    pull = (g * np.sin(slope), 0.0, -g * np.cos(slope))
    model = block(mu, pull, steps=steps, max_time=200.0)
    found = simulate(model, standing(model, pull, speed))
    assert found.outcome is Outcome.SETTLED
    way = speed**2 / (2.0 * g * (mu * np.cos(slope) - np.sin(slope)))
    assert found.position[-1, 0] == pytest.approx(way, rel=1e-3)
    assert not found.velocity[-1, 1]
    assert found.time[-1] < 60.0


@pytest.mark.parametrize("name", LANDERS)
def test_a_lander_slides_above_the_friction_angle(name):
    """At 1.2 times the angle, over the last half of 60 s."""
    g, mu = 5.7e-3, 0.3
    slope = 1.2 * np.arctan(mu)
    model, place = on_slope(name, g, slope, mu, max_time=60.0)
    found = simulate(model, TreeRelease.of(model.tree, place))
    i = np.searchsorted(found.time, 30.0)
    a = (found.velocity[-1, 0] - found.velocity[i, 0]) / (found.time[-1] - found.time[i])
    assert a == pytest.approx(g * (np.sin(slope) - mu * np.cos(slope)), rel=1e-3)


@pytest.mark.parametrize("name", LANDERS)
def test_a_lander_stops_where_it_must(name):
    """Pushed down a slope at 0.3 m/s: v^2 / [2 g (mu cos s - sin s)] by its centre of mass."""
    g, mu, slope, speed = 5.7e-3, 0.3, np.radians(5.0), 0.3
    model, place = on_slope(name, g, slope, mu)
    found = simulate(model, TreeRelease.of(model.tree, place, (speed, 0.0, 0.0)))
    assert found.outcome is Outcome.SETTLED
    # The fall of a few millimetres before it touches is a slide without friction.
    touch = np.searchsorted(found.time, found.events["start"][0])
    start, v = found.position[touch], found.velocity[touch, 0]
    down = -found.velocity[touch, 1]  # stopping it takes mu times as much speed off
    way = (v - mu * down) ** 2 / (2.0 * g * (mu * np.cos(slope) - np.sin(slope)))
    assert found.position[-1, 0] - start[0] == pytest.approx(way, rel=1e-3)


@pytest.mark.parametrize("mu", [0.15, 0.05])
def test_a_ball_rolls_where_it_sticks(mu):
    """Down a slope of tan s = 0.4: a = 5/7 g sin s if mu >= 2/7 tan s, else g (sin s - mu cos s);
    a sticking pad drags the ball's underside, which stands still as it rolls."""
    g, slope = 0.05, np.arctan(0.4)
    pull = (g * np.sin(slope), 0.0, -g * np.cos(slope))
    model = block(mu, pull, radius=0.5)  # 2/5 m R^2 = 1 kg m^2
    deep = (-10.0 * pull[2] / 1e4) ** (2.0 / 3.0)
    found = simulate(model, TreeRelease.of(model.tree, (0.0, 0.0, 0.5 - deep)))
    i = np.searchsorted(found.time, 2.0)
    a = (found.velocity[-1, 0] - found.velocity[i, 0]) / (found.time[-1] - found.time[i])
    rolls = mu > 0.4 * 2.0 / 7.0
    expected = 5.0 / 7.0 * np.sin(slope) if rolls else np.sin(slope) - mu * np.cos(slope)
    assert a == pytest.approx(g * expected, rel=1e-5)


# -- energy ----------------------------------------------------------------------------------------


def test_energy_is_what_friction_and_dashpot_leave():
    """A block dropped on a slope in a throw: it bounces, slides, sticks. Energy never rises, and
    the account closes."""
    g, mu, slope = 0.05, 0.5, 0.3
    pull = np.array([g * np.sin(slope), 0.0, -g * np.cos(slope)])
    model = block(mu, pull, steps=TreeSteps(tolerance=1e-9, longest=5e-3), max_time=100.0)
    found = simulate(model, TreeRelease.of(model.tree, (0, 0, 0.01), (0.2, 0.1, -0.05)))
    assert found.outcome is Outcome.SETTLED
    row = model.contact.rows(model.lightest, model.slip_mass)[0]
    x, v, z = found.position, found.velocity, found.strain[:, 0]
    depth = np.maximum(0.0, -x[:, 2])
    stored = 0.4 * 1e4 * depth**2.5 + 0.5 * row["grip"] * (z * z).sum(1)
    total = 5.0 * (v * v).sum(1) - 10.0 * x @ pull + stored
    assert np.diff(total).max() < 1e-9 * total[0]
    normal = found.pad_normal_force[:, 0]
    *_, slides, lost = evaluate_stick(z, v, mu * normal, row["grip"], row["relaxation"])
    lost = lost + np.where(normal > 0.0, normal - 1e4 * depth**1.5, 0.0) * -v[:, 2]
    spent = np.concatenate([[0.0], np.cumsum(0.5 * (lost[1:] + lost[:-1]) * np.diff(found.time))])
    # The trapezium misses the corner at each touch by half a step of the force there.
    np.testing.assert_allclose(total + spent, total[0], atol=1e-3 * np.ptp(total))
    assert slides.any()
    assert not slides[-1]
    assert not z[normal == 0.0].any()  # off the ground nothing is kept


@each_lander
def test_energy_of_a_lander_never_rises(name):
    """Dropped a few millimetres on a slope of 0.9 of the friction angle."""
    model, place = on_slope(name, 5.7e-3, 0.9 * ANGLE)
    found = run_batch(model, TreeRelease.of(model.tree, place), device="cpu")
    fall = model.tree.mass * 5.7e-3 * 4e-3  # [J]
    assert found.final["gain"][0] <= 1e-5 * fall
