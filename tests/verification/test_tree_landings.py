"""Articulated landers in the engine: contact and devices, one by one.

- Hertz: d = (5 m v^2 / 4 k)^(2/5), F = k d^(3/2), T = 2.9433 d / v; restitution by a dashpot (F.4).
- Crushable: (m v^2 - F^2 / k) / 2 = F p + what its damper takes; p never falls.
- Thruster: m dv = F dt. Wheel: I_wheel w_wheel + I_body w_body = 0.
"""

import numpy as np
import pytest

from alight.contact.hertz import Hertz, deepest, duration
from alight.core import devices
from alight.core.outcomes import Outcome, outcome_of
from alight.engine import run_batch, simulate
from alight.gravity import PointMass, Uniform
from alight.motions import TreeModel, TreeRelease, TreeSteps, TreeStop
from alight.surfaces import Plane, Sphere
from alight.surfaces.patch import Patch
from alight.vehicles import (
    Brake,
    Branch,
    Crushable,
    Joint,
    Motor,
    Pad,
    Schedule,
    Thruster,
    Tree,
    TreeBody,
    assemble,
    flywheel,
    telescopic_leg,
)

DEVICES = [device.name for device in devices.available()]
each_device = pytest.mark.parametrize("device", DEVICES)

BALL = Tree("ball", [TreeBody("ball", 10.0, (1.0, 1.0, 1.0))], [Joint("ball", "free")])


def ball(law, gravity=(0.0, 0.0, 0.0), ground=None, radius=0.0, **options):
    """A free ball of 10 kg over the plane z = 0."""
    stop = {"max_time": 1.0, "tip_angle": np.pi, **options.pop("stop", {})}
    return TreeModel(
        *(BALL, [Pad("ball", radius=radius), *options.pop("devices", [])]),
        *(Uniform(gravity), ground or Plane(), law),
        stop=TreeStop(**stop),
        steps=TreeSteps(**options),
    )


# -- contact ---------------------------------------------------------------------------------------


@each_device
@pytest.mark.parametrize("how", [{"tolerance": 1e-10}, {"integrator": "rk4"}])
def test_a_hit_is_hertzs(device, how):
    """Read at the ends of steps of 1e-5 s: the peak is missed by (h/T)^2 at most."""
    model = ball(Hertz(1e6), stop={"max_time": 0.2}, longest=2e-5, step=1e-5, **how)
    found = run_batch(model, TreeRelease.of(BALL, (0, 0, 5e-3), (0, 0, -0.1)), device=device)
    touch = found.touches[0]
    assert touch["depth"] == pytest.approx(deepest(10.0, 0.1, 1e6), rel=1e-6)
    assert touch["peak_force"] == pytest.approx(72.1349953, rel=1e-6)
    long = touch["end"] - touch["start"]
    assert long == pytest.approx(duration(10.0, 0.1, 1e6), abs=4e-5)
    assert found.v[0, 2] == pytest.approx(0.1, rel=1e-6)
    assert touch["normal_impulse"] == pytest.approx(2.0, rel=1e-5)
    assert abs(found.final["gain"][0]) < 1e-6 * 0.05


@pytest.mark.parametrize("how", [{"tolerance": 1e-10}, {"integrator": "rk4", "step": 2e-5}])
@pytest.mark.parametrize(("zeta", "restitution"), [(0.1, 0.844885), (0.7, 0.360439)])
def test_a_dashpot_takes_what_the_table_says(zeta, restitution, how):
    d0 = (10.0 * 0.1**2 / 1e6) ** 0.4
    law = Hertz(1e6, damping=zeta * 10.0 * 0.1 / d0)
    model = ball(law, stop={"max_time": 0.3}, **how)
    found = run_batch(model, TreeRelease.of(BALL, (0, 0, 5e-3), (0, 0, -0.1)), device="cpu")
    # A step of RK4 that ends in the ground is off by c v h / 2m = 4e-5 v.
    assert found.v[0, 2] / 0.1 == pytest.approx(restitution, abs=1e-6 if len(how) == 1 else 1e-4)


@pytest.mark.validate
def test_a_patch_holds_what_is_over_it_and_nothing_else():
    patch = Patch(length=2.0, width=2.0, thickness=0.1)
    model = ball(Hertz(1e6), ground=patch, stop={"max_time": 9.0})
    places = [(0.9, 0.0, 2.0), (1.1, 0.0, 2.0), (0.0, -0.9, 2.0), (0.0, -1.1, 2.0)]
    found = run_batch(model, TreeRelease.of(BALL, places, (0, 0, -0.5)), device="cpu")
    np.testing.assert_allclose(found.v[:, 2], [0.5, -0.5, 0.5, -0.5], atol=2e-5)
    assert found.bounces.tolist() == [1, 0, 1, 0]


def test_a_ball_stands_on_a_sphere_at_its_radius():
    model = TreeModel(
        *(BALL, [Pad("ball", radius=0.2)], PointMass(5e-3 * 1e6), Sphere(radius=1000.0)),
        Hertz(1e5, 300.0, 0.5),
        stop=TreeStop(max_time=500.0, settle_time=20.0, settle_speed=1e-5, tip_angle=np.pi),
    )
    found = run_batch(model, TreeRelease.of(BALL, (0, 0, 1000.21)), device="cpu")
    assert outcome_of(found.outcome[0]) is Outcome.SETTLED
    deep = (10.0 * 5e-3 / 1e5) ** (2 / 3)
    assert found.position[0, 2] == pytest.approx(1000.2 - deep, abs=2e-6)


def test_no_contact_is_jumped_over():
    """A thin sheet 30 m below, steps as long as allowed, speeds from 1 cm/s to 3 m/s."""
    speeds = np.array([0.01, 0.1, 1.0, 3.0])
    sheet = Patch(length=5.0, width=5.0, thickness=0.3)
    model = ball(Hertz(1e6), ground=sheet, longest=1e3, stop={"max_time": 1e4})
    release = TreeRelease.of(BALL, (0, 0, 30.0), np.outer(speeds, (0, 0, -1.0)))
    found = run_batch(model, release, device="cpu")
    assert found.bounces.tolist() == [1] * 4
    # A hit adds up some tens of errors of a step of 1e-7 m/s.
    np.testing.assert_allclose(found.v[:, 2], speeds, atol=5e-6, rtol=5e-6)
    assert (found.final["steps"] < 1000).all()


# -- devices ---------------------------------------------------------------------------------------


def slider(**options):
    """50 kg on a slide with a crushable of 400 N, no gravity, far from the ground."""
    tree = Tree("slider", [TreeBody("bus", 50.0)], [Joint("bus", "prismatic", axis=(1, 0, 0))])
    part = {"stiffness": 4e6, "damping": 400.0, **options.pop("part", {})}
    crush = Crushable("bus", 400.0, 0.2, **part)
    model = TreeModel(
        *(tree, [crush, Pad("bus", (0.0, 0.0, 5.0))], Uniform((0, 0, 0)), Plane(), Hertz(1e5)),
        stop=TreeStop(max_time=1.0),
        steps=TreeSteps(tolerance=1e-9, **options),
    )
    return model, tree


@each_device
def test_a_crushable_takes_the_energy_by_its_stroke(device):
    model, tree = slider()
    found = simulate(model, TreeRelease(tree, [0.0], [1.0]), device=device)
    p, energy = found.crushed[:, 0], 0.5 * 50.0 * 1.0**2
    # The spring keeps F^2/2k = 0.02 J, and its damper takes as much while it is pressed.
    assert p[-1] * 400.0 == pytest.approx(energy - 0.04, abs=0.002)
    assert (np.diff(p) >= -1e-9).all()  # the error of a step allowed
    assert found.crush_force.max() == pytest.approx(400.0, rel=1e-12)
    # No rebound but of the spring: v = F / sqrt(k m) at most.
    assert found.v[:, 0].min() > -400.0 / np.sqrt(4e6 * 50.0)
    kept = found.time > found.time[np.argmax(p >= p[-1])]
    np.testing.assert_allclose(found.q[kept, 0], p[-1], atol=400.0 / 4e6)


def test_a_crushable_bottoms_out_at_its_limit():
    model, tree = slider()
    found = simulate(model, TreeRelease(tree, [0.0], [2.0]))
    assert found.crushed[-1, 0] == pytest.approx(0.2, abs=1e-6)
    # 100 J come, 80 J are crushed: the spring takes the rest, less what its damper takes.
    left = np.sqrt(2.0 * (100.0 - 80.0) * 4e6)
    assert 0.8 * left < found.crush_force.max() < left + 400.0


def test_a_crushable_remembers_its_stroke():
    """Hit twice, it crushes on from where it was: strokes add."""
    once, tree = slider()
    first = simulate(once, TreeRelease(tree, [0.0], [1.0]))
    before = float(first.crushed[-1, 0])
    again, tree = slider(part={"crushed": before})
    second = simulate(again, TreeRelease(tree, [before], [1.0]))
    assert second.crushed[0, 0] == before
    assert second.crushed[-1, 0] - before == pytest.approx(before, rel=1e-6)


def test_thrusters_push_as_long_as_they_are_on():
    pulse = Thruster(5.0, (0, 3, 4), schedule=Schedule((1.0, 3.0), (1.0, 0.0)), body="ball")
    turn = Thruster(0.5, (0, 0, 1), (1, 0, 0), Schedule.between(2.0, 4.0), "turn", "ball")
    model = ball(Hertz(1e5), devices=[pulse, turn], stop={"max_time": 6.0})
    found = simulate(model, TreeRelease.of(BALL, (0, 0, 100.0)))
    at = [np.searchsorted(found.time, t) for t in (1.0, 2.0, 3.0, 4.0)]
    assert found.time[at].tolist() == [1.0, 2.0, 3.0, 4.0]  # steps end where levels change
    np.testing.assert_allclose(found.velocity[at[1]], [0.0, 0.3, 0.4], atol=1e-9)
    assert found.v[-1, 4] == pytest.approx(-0.5 * 1.0 * 2.0 / 1.0, rel=1e-7)
    assert found.levels[at[1], 0] == 1.0
    assert found.levels[-1].tolist() == [0.0, 0.0]


def test_hold_down_thrusters_wait_for_the_first_touch():
    hold = Thruster(1.0, (0, 0, -1), schedule=Schedule.after_touch(0.25, 0.5), body="ball")
    model = ball(Hertz(1e6), devices=[hold], stop={"max_time": 3.0})
    found = simulate(model, TreeRelease.of(BALL, (0, 0, 0.1), (0, 0, -0.1)))
    touch = found.events["start"][0]
    assert touch == pytest.approx(1.0, abs=1e-4)
    switched = found.time[1:][np.diff(found.levels[:, 0]) != 0.0]
    assert switched.tolist() == [touch + 0.25, touch + 0.75]
    pushed = found.velocity[found.time >= touch + 0.75][0, 2]
    assert pushed == pytest.approx(0.1 - 1.0 * 0.5 / 10.0, abs=1e-5)


def test_a_wheel_turns_the_body_the_other_way_until_its_brake_stops_both():
    wheel = flywheel(
        *("wheel", "bus", (0.1, 0.0, 0.0), (0, 0, 1)),
        mass=2.0,
        inertia=0.02,
        torque=0.01,
        schedule=Schedule((0.0, 10.0), (1.0, 0.0)),
        brake=0.05,
        brake_schedule=Schedule((20.0,), (1.0,)),
    )
    bus = Branch([TreeBody("bus", 30.0, (3, 3, 3))], [Joint("bus", "free")], [Pad("bus")])
    made = assemble("spinner", [bus, wheel])
    assert [type(d) for d in made.devices] == [Pad, Motor, Brake]
    model = TreeModel(
        *(made.tree, made.devices, Uniform((0, 0, 0)), Plane(), Hertz(1e5)),
        stop=TreeStop(max_time=40.0, tip_angle=np.pi),
    )
    found = simulate(model, TreeRelease.of(made.tree, (0, 0, 50.0)))
    L = made.tree.momentum(found.q, found.v, device="cpu").angular
    np.testing.assert_allclose(L, 0.0, atol=1e-6)
    spin = found.v[:, 6]
    at = np.searchsorted(found.time, 15.0)
    # Seen from the body: torque over the inertia that the wheel and the rest have in series.
    rest = 3.0 + 30.0 * 2.0 / 32.0 * 0.1**2
    assert spin[at] == pytest.approx(0.01 * 10.0 * (1.0 / 0.02 + 1.0 / rest), rel=1e-6)
    assert abs(spin[-1]) < 1e-3 * spin[at]
    np.testing.assert_allclose(found.bodies.rate[-1, 0], 0.0, atol=1e-5)


def test_a_telescopic_leg_damps_as_a_spring_and_damper_do():
    """The leg alone, far from the ground: m x'' + c x' + k x = 0 with the bus all but fixed."""
    leg = telescopic_leg(
        *("leg", "bus", (0, 0, 0)),
        mass=4.0,
        length=0.5,
        damping=8.0,
        stiffness=100.0,
        stroke=0.3,
    )
    bus = Branch([TreeBody("bus", 1e9, (1e9, 1e9, 1e9))], [Joint("bus", "free")])
    made = assemble("t", [bus, leg])
    model = TreeModel(
        *(made.tree, made.devices, Uniform((0, 0, 0)), Plane(), Hertz(1e5)),
        stop=TreeStop(max_time=0.3, tip_angle=np.pi),
    )
    q = np.append(TreeRelease.of(made.tree, (0, 0, 50.0)).q[0, :7], 0.25)
    found = simulate(model, TreeRelease(made.tree, q, np.zeros(7)))
    zeta, w = 1.0, np.sqrt(25.0 - 1.0)
    t = found.time
    exact = 0.25 * np.exp(-zeta * t) * (np.cos(w * t) + zeta / w * np.sin(w * t))
    np.testing.assert_allclose(found.q[:, 7], exact, atol=1e-6)
