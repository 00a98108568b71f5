"""Energy of articulated landers that are driven: E_J less the work of what drives them.

- A sled under a thruster, friction mu: E_J - F s falls by mu m g s, s = (F / m - mu g) t^2 / 2.
- A lander that bounces without losses, under a thruster or with a wheel that is spun up and braked:
  E_J less their work stays what it was.
- The lander of paper 002 under its hold-down thrusters: kinetic energy, weight, and what springs of
  joints, crushables, pads (2/5 k d^(5/2)) and grip (k_t z^2 / 2) hold, less the sum of F . u dt.

What pushes from outside and a target that turns unevenly do is in ``test_tree_frames``.
"""

import pathlib

import numpy as np
import pytest

from alight.campaign.dispersions.sampling import sample
from alight.contact.hertz import Hertz
from alight.core import frames
from alight.core.outcomes import Outcome
from alight.engine import run_batch, simulate
from alight.gravity import Uniform
from alight.motions import TreeModel, TreeRelease, TreeSteps, TreeStop
from alight.scenario import load, prepare
from alight.surfaces import Plane
from alight.vehicles import (
    Branch,
    Joint,
    Pad,
    Schedule,
    Thruster,
    TreeBody,
    assemble,
    flywheel,
)

SCENARIOS = pathlib.Path(__file__).resolve().parents[2] / "scenarios"


def standing(devices=(), branches=(), g=0.0, law=None, tolerance=1e-7, **stop):
    """10 kg on six points, three below and three above its middle."""
    turns = np.radians([0.0, 120.0, 240.0])
    points = [(0.3 * np.cos(a), 0.3 * np.sin(a), z) for z in (-0.2, 0.2) for a in turns]
    pads = [Pad("bus", point, name=f"pad {k}") for k, point in enumerate(points)]
    bus = Branch([TreeBody("bus", 10.0, (0.4, 0.4, 0.4))], [Joint("bus", "free")])
    made = assemble("bus", [Branch(bus.bodies, bus.joints, [*pads, *devices]), *branches])
    return TreeModel(
        *(made.tree, made.devices, Uniform((0.0, 0.0, -g)), Plane(), law),
        stop=TreeStop(tip_angle=np.pi, **stop),
        steps=TreeSteps(tolerance=tolerance),
    )


def test_a_sled_loses_what_friction_takes_however_long_it_is_pushed():
    m, g, mu, force, time = 10.0, 0.05, 0.2, 0.4, 30.0
    # Pushed so much below its middle that it does not tilt: F h = mu m g 0.2 m.
    push = Thruster(force, (1.0, 0.0, 0.0), (0.0, 0.0, -0.2 * mu * m * g / force), body="bus")
    model = standing([push], g=g, law=Hertz(1e4, 500.0, mu), max_time=time)
    depth = (m * g / 3.0 / 1e4) ** (2.0 / 3.0)
    found = run_batch(model, TreeRelease.of(model.tree, (0.0, 0.0, 0.2 + 1e-9)), device="cpu")
    assert found.outcome[0] == Outcome.TIMED_OUT
    slid = 0.5 * (force / m - mu * g) * time**2
    assert found.position[0, 0] == pytest.approx(slid, rel=1e-2)
    # Dropped to its depth it also loses, in the dashpots, 3/5 of what its weight gave.
    lost = mu * m * g * found.position[0, 0] + 0.6 * m * g * depth
    whole = found.touches["energy_in"][0] - found.touches["energy_out"][-1]
    assert whole == pytest.approx(lost, rel=1e-3)


def wheel():
    """A wheel that is spun up for 40 s to 8 rad/s, and braked from 80 s on; and its energy [J]."""
    branch = flywheel(
        *("wheel", "bus", (0.0, 0.0, 0.1), (1.0, 0.0, 0.0)),
        mass=1.0,
        inertia=0.005,
        torque=1e-3,
        schedule=Schedule.between(20.0, 60.0),
        brake=5e-3,
        brake_schedule=Schedule.between(80.0),
    )
    model = standing(branches=[branch], g=1e-3, law=Hertz(1e4), tolerance=1e-9, max_time=120.0)
    return model, 0.5 * 0.005 * 8.0**2


def thruster():
    """One off the middle, on for 40 s; and what it gives to a mass of 10 kg alone [J]."""
    push = Thruster(
        1e-2, (1.0, 2.0, -1.0), (0.3, 0.1, 0.0), Schedule.between(20.0, 60.0), body="bus"
    )
    model = standing([push], g=1e-3, law=Hertz(1e4), tolerance=1e-9, max_time=120.0)
    return model, 0.5 * (1e-2 * 40.0) ** 2 / 10.0


@pytest.mark.parametrize("made", [wheel, thruster])
def test_bounces_without_losses_give_a_driven_lander_nothing(made):
    model, driven = made()
    release = TreeRelease.of(model.tree, (0.0, 0.0, 0.2), (0.0, 0.0, -5e-3))
    found = run_batch(model, release, device="cpu")
    touches = found.touches
    assert np.count_nonzero((touches["start"] > 20.0) & (touches["start"] < 60.0)) > 5
    level = np.concatenate([touches["energy_in"], touches["energy_out"]])
    # Work is summed by the trapezoidal rule: (w h)^2 / 12 of it is missed, 1.5e-4 on an average
    # over the time of the thruster, at rates of up to 0.2 rad/s and in steps of up to 0.8 s.
    np.testing.assert_allclose(level, level[0], rtol=0.0, atol=2e-4 * driven)


# -- the lander of paper 002 -----------------------------------------------------------------------


def energy_of(model, solution):
    """(n,) E_J [J] on a plane in uniform gravity, from the states alone."""
    _, (pull,), _ = model.gravity.evaluate([(0.0, 0.0, 0.0)], device="cpu")
    normal = np.asarray(model.surface.normal)
    total = np.array(model.tree.energy(solution.q, solution.v, pull, device="cpu").total)
    for i, part in enumerate(model.fitted.crushables):
        stroke = solution.q[:, model.tree.q_slices[part.body].start]
        total += 0.5 * part.stiffness * (stroke - solution.crushed[:, i]) ** 2
    law, poses = model.contact_rows()[0], solution.bodies
    for i, pad in enumerate(model.fitted.touching):
        body = model.tree.index(pad.body)
        place = poses.position[:, body] + frames.quat_rotate(poses.attitude[:, body], pad.place)
        depth = np.maximum(0.0, -place @ normal)
        total += 0.4 * law["stiffness"] * depth**2.5
        total += 0.5 * law["grip"] * (solution.strain[:, i] ** 2).sum(axis=1)
    return total


def work_of(model, solution):
    """(n,) work [J] of thrusters so far: F . u dt, each at the level of the step."""
    poses, work = solution.bodies, np.zeros(len(solution.time))
    for i, part in enumerate(model.fitted.actuators):
        body = model.tree.index(part.body)
        q, rate = poses.attitude[:, body], poses.rate[:, body]
        turning = np.cross(rate, part.place)  # in body axes
        u = poses.velocity[:, body] + frames.quat_rotate(q, turning)
        power = part.force * np.sum(frames.quat_rotate(q, part.direction) * u, axis=1)
        share = 0.5 * np.diff(solution.time) * solution.levels[:-1, i]
        work[1:] += np.cumsum(share * (power[1:] + power[:-1]))
    return work


def test_thrusters_that_push_a_lander_over_are_not_a_contact_that_gains_energy():
    """Run 2388 of a campaign of 4000: it is pushed along and over for 12 s, with 108 J."""
    scenario = load(SCENARIOS / "paper002_dispersed.toml")
    (group,) = prepare(scenario, "cpu").groups(sample(scenario, [2388], total=4000))
    model = group.model
    solution = simulate(model, group.release, device="cpu")
    assert solution.outcome is Outcome.TIPPED_OVER
    work, touches = work_of(model, solution), solution.events
    level = energy_of(model, solution) - work
    first = np.searchsorted(solution.time, touches["start"])
    assert solution.time[first].tolist() == touches["start"].tolist()
    np.testing.assert_allclose(touches["energy_in"], level[first], rtol=0.0, atol=1e-9 * level[0])
    last = touches[-1]
    assert last["energy_out"] == pytest.approx(level[-1], abs=1e-9 * level[0])
    assert work[-1] - work[first[-1]] > 100.0
    # No step raises it: what is allowed as error, 1e-7 m/s, at 1 m/s and 362 kg.
    assert np.diff(level).max() < 362.0 * 1e-7
    assert solution.result.final["gain"][0] == 0.0
