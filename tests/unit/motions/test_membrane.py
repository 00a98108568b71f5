"""Runs on a membrane: what they are given, how they end, batches, thrusters of the craft."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import warp as wp

from alight import contact
from alight.actuators import Actuator, Controller, Effort, Schedule, Spring, Thruster, Wheel
from alight.core import devices
from alight.core.errors import InputError
from alight.core.outcomes import Ending, Outcome
from alight.core.types import scalar, vec3
from alight.engine.stops import BelowHeight, InRegion, SpinAbove
from alight.membrane import Captive, Membrane, hexagon
from alight.motions.membrane.model import Craft, MembraneMotion
from alight.vehicles import RigidLander

DEVICES = [device.name for device in devices.available()]
DOWN = (0.0, 0.0, -9.80665)
BOX = RigidLander.box((2.0, 1.5, 1.0), 100.0)
POINT = Captive(100.0, np.eye(3), np.zeros((1, 3)))
CRAFT = Craft(15e3, (5e4, 5e4, 3e4))
Z = (0.0, 0.0, 1.0)
AFTER_TOUCH = Thruster(475.0, Z, schedule=Schedule.after_touch())

pytestmark = pytest.mark.parametrize("device", DEVICES)


def trampoline(**options):
    return Membrane(
        **{
            "stiffness": 30.0,
            "damping": 1.5,
            "friction": 0.2,
            "suspension": hexagon(7.5),
            **options,
        }
    )


def test_a_lander_bounces(device):
    motion = MembraneMotion(trampoline(), BOX, gravity=DOWN)
    flight = motion.run(
        (0, 0, 5), rate=(0.5, 1.0, -0.2), duration=2.5, step=0.01, every=0.1, device=device
    )
    assert flight.outcome == [Outcome.TIMED_OUT]
    assert str(flight.outcome[0]) == "reached the end of the simulated time"
    assert flight.records[0] == len(flight.time) == 26
    np.testing.assert_allclose(flight.time[-1], 2.5, rtol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(flight.attitude, axis=-1), 1.0, rtol=1e-14)
    assert flight.notes["contacts"][0] == 1
    assert flight.position[0, 0, 2] == 5.0
    assert flight.end[0] == 2.5


def test_batch_is_its_runs_one_by_one(device):
    # Bits do not depend on neighbours, nor on threads.
    rng = np.random.default_rng(1)
    x = rng.uniform((-1, -1, 3), (1, 1, 5), (5, 3))
    rate = rng.normal(size=(5, 3))
    friction, mass = np.linspace(0.1, 1.0, 5), np.linspace(50.0, 150.0, 5)
    given = {"duration": 1.5, "step": 0.02, "device": device}
    motion = MembraneMotion(trampoline(friction=friction), BOX, gravity=DOWN)
    together = motion.run(x, rate=rate, mass=mass, **given)
    threads = motion.run(x, rate=rate, mass=mass, threads=2, **given)
    np.testing.assert_array_equal(together.last, threads.last)
    for i in range(5):
        alone = MembraneMotion(trampoline(friction=friction[i]), BOX, gravity=DOWN)
        one = alone.run(x[i], rate=rate[i], mass=mass[i : i + 1], **given)
        np.testing.assert_array_equal(one.last[0], together.last[i])


def test_records_do_not_change_fixed_steps(device):
    motion = MembraneMotion(trampoline(friction=0.0), BOX, gravity=DOWN)
    given = {"rate": (0.5, 1.0, -0.2), "duration": 1.5, "step": 0.01, "method": "rk4"}
    plain = motion.run((0, 0, 3), **given, device=device).last
    kept = motion.run((0, 0, 3), every=0.05, **given, device=device).last
    np.testing.assert_allclose(kept, plain, rtol=1e-9, atol=1e-9)


def test_body_past_the_rim(device):
    motion = MembraneMotion(trampoline(), BOX, gravity=DOWN)
    flight = motion.run([(6.4, 0, 2), (0, 0, 2)], duration=1.0, step=0.01, device=device)
    assert flight.outcome == [Outcome.RIM, Outcome.TIMED_OUT]
    assert flight.end[0] < 1.0
    # A single point has no edges that could cross the rim.
    missed = MembraneMotion(trampoline(), POINT, gravity=DOWN)
    flight = missed.run((8.0, 0, 2), duration=1.0, step=0.01, device=device)
    assert flight.outcome == [Outcome.RIM]


def test_until_release(device):
    motion = MembraneMotion(trampoline(), BOX, gravity=DOWN)
    flight = motion.run((0, 0, 9), duration=9.0, step=0.01, until_release=True, device=device)
    assert flight.outcome == [Outcome.LOST]
    assert flight.end[0] == pytest.approx(flight.notes["release_s"][0], abs=0.011)


def test_state_that_is_not_finite(device):
    motion = MembraneMotion(trampoline(stiffness=1e300), POINT, gravity=DOWN)
    flight = motion.run((0, 0, 0.1), duration=2.0, step=0.1, device=device)
    assert flight.outcome[0] is Outcome.NOT_FINITE


def test_fabric_that_gives_energy(device):
    """Steps far too long for the spring throw the body higher than it fell from."""
    motion = MembraneMotion(trampoline(stiffness=3e6, damping=0.0), POINT, gravity=DOWN)
    flight = motion.run((0, 0, 0.5), duration=2.0, step=0.1, method="rk4", device=device)
    assert flight.outcome[0] is Outcome.GAINED_ENERGY
    assert flight.outcome[0].message.startswith("failed")


def test_suspension_points_that_move(device):
    # A membrane that comes up at 2 m/s hits as hard as a body that comes down at that speed.
    motion = MembraneMotion(trampoline(friction=0.0), POINT)
    given = {"duration": 3.0, "step": 0.01, "device": device}
    up = motion.run((0, 0, 1), craft_velocity=(0, 0, 2.0), **given)
    down = motion.run((0, 0, 1), (0, 0, -2.0), **given)
    assert up.notes["depth_m"][0] == pytest.approx(down.notes["depth_m"][0], rel=1e-9)
    np.testing.assert_allclose(up.last[0, 13:16], (0.0, 0.0, 6.0), atol=1e-12)


def test_thrust_waits_for_contact(device):
    motion = MembraneMotion(trampoline(), POINT, CRAFT, actuators=(AFTER_TOUCH,))
    far = motion.run((0, 0, 9), duration=2.0, device=device)
    assert (far.last[0, 13:26] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]).all()
    early = Thruster(475.0, Z, (0.1, 0.0, 0.0))
    pushed = MembraneMotion(trampoline(), POINT, CRAFT, actuators=(early,)).run(
        (0, 0, 9), duration=2.0, device=device
    )
    assert pushed.last[0, 29] == pytest.approx(950.0, rel=1e-12)
    assert pushed.last[0, 24] == pytest.approx(-47.5 * 2.0 / 5e4, rel=1e-5)


def test_thrust_begins_with_the_step_after_contact(device):
    motion = MembraneMotion(trampoline(), POINT, CRAFT, actuators=(AFTER_TOUCH,))
    given = {"duration": 4.0, "step": 0.125, "method": "rk4", "device": device}
    flight = motion.run((0, 0, 0.55), (0, 0, -0.5), **given)
    touched = flight.notes["first_contact_s"][0]
    assert touched == pytest.approx(1.1, abs=1e-9)
    begins = np.ceil(touched / 0.125) * 0.125
    assert flight.last[0, 29] == pytest.approx(475.0 * (4.0 - begins), rel=1e-12)


def test_no_step_passes_over_a_switch(device):
    """Steps of 0.125 s: thrust from 0.3 s to 0.8 s after the release gives all of its impulse, and
    a second thruster its own, from 0.2 s after contact for 0.5 s."""
    early = Thruster(475.0, Z, schedule=Schedule.between(0.3, 0.8), name="early")
    late = Thruster(200.0, Z, schedule=Schedule.after_touch(0.2, 0.5), name="late")
    motion = MembraneMotion(trampoline(), POINT, CRAFT, actuators=(early, late))
    for method in ("rk4", "rk45"):
        given = {"duration": 4.0, "step": 0.125, "method": method, "device": device}
        far = motion.run((0, 0, 60.0), **given)
        assert far.last[0, 18] == pytest.approx(475.0 * 0.5 / 15e3, rel=1e-12)
        assert far.last[0, 29] == pytest.approx(475.0 * 0.5, rel=1e-12)
        near = motion.run((0, 0, 0.55), (0, 0, -0.5), **given)
        assert near.last[0, 29] == pytest.approx(475.0 * 0.5 + 200.0 * 0.5, rel=1e-12)


@wp.struct
class ChaseData:
    gain: scalar


@wp.func
def chase(data: ChaseData, scene: Any, level: scalar):
    out = Effort()
    wanted = vec3(scalar(0.0), scalar(0.0), scalar(1.0)) - scene.v
    out.force = level * data.gain * wp.quat_rotate_inv(scene.q, wanted)
    return out


class Chase(Actuator):
    """Brings the craft to 1 m/s along z."""

    Data = ChaseData
    act = chase
    name = "chase"
    schedule = Schedule()

    def data(self, device):
        data = ChaseData()
        data.gain = 3000.0
        return data


@pytest.mark.validate
def test_an_actuator_of_your_own(device):
    motion = MembraneMotion(trampoline(), POINT, CRAFT, actuators=(Chase(),))
    given = {"duration": 5.0, "step": 0.05, "device": device}
    flight = motion.run((0, 0, 60), (0, 0, 1.0), craft_attitude=(0.6, 0, 0, 0.8), **given)
    assert flight.last[0, 18] == pytest.approx(1.0 - np.exp(-1.0), rel=1e-6)


@pytest.mark.parametrize(
    ("actuator", "words"),
    [
        (Spring(1.0, Z), "Wheels and springs are for landers"),
        (Wheel(Z, 1.0), "Wheels and springs are for landers"),
        ("jet", "among the actuators of a craft"),
        (Thruster(1.0, Z, body="bus"), "leave body out"),
        (Thruster(1.0, Z, schedule=Schedule.after_rest()), "comes to landers"),
        (Thruster(1.0, Z, schedule=Controller(1.0)), "have a Schedule"),
    ],
)
def test_actuators_that_a_craft_cannot_have(device, actuator, words):
    with pytest.raises(InputError, match=words):
        MembraneMotion(trampoline(), POINT, CRAFT, actuators=(actuator,))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"position": (0, 0, 0.4)}, "starts through the membrane: it reaches 0.1 m below"),
        ({"position": (0, 0, -4.0)}, "starts through the membrane"),
        ({"method": "euler"}, "method"),
        ({"step": -0.1}, "step"),
        ({"duration": 0.0}, "duration"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"every": -1.0}, "every"),
        ({"velocity": (0, 0)}, "velocity"),
        ({"velocity": np.zeros((2, 3)), "rate": np.zeros((3, 3))}, "one row for all"),
        ({"mass": -1.0}, "must be above 0"),
    ],
)
def test_bad_input(device, options, words):
    motion = MembraneMotion(trampoline(), BOX, gravity=DOWN)
    with pytest.raises(InputError) as caught:
        motion.run(**{"position": (0, 0, 5), "duration": 1.0, **options}, device=device)
    assert words in str(caught.value)


def test_start_in_contact_if_asked(device):
    motion = MembraneMotion(trampoline(), BOX, gravity=DOWN)
    flight = motion.run((0, 0, 0.4), duration=0.1, step=0.01, in_contact=True, device=device)
    assert flight.notes["first_contact_s"][0] == 0.0


def test_thrust_without_a_craft(device):
    with pytest.raises(InputError, match="there is none"):
        MembraneMotion(trampoline(), BOX, actuators=(AFTER_TOUCH,))
    with pytest.raises(InputError, match="in 2D"):
        MembraneMotion(trampoline(suspension=[[-5, 0], [5, 0]]), BOX)
    with pytest.raises(InputError, match="mass"):
        Craft(-1.0, (1.0, 1.0, 1.0))


def test_stops_end_a_drop(device):
    """At a depth, in the step in which it is reached; or by a rate that lasts."""
    deep = Ending(64, "deep", "pressed the fabric in by 0.5 m")
    spin = SpinAbove(1e9, hold=0.4)
    motion = MembraneMotion(trampoline(), BOX, gravity=DOWN)
    given = {"duration": 2.5, "step": 0.01, "every": 0.001, "device": device}
    free = motion.run((0, 0, 5), rate=(0.5, 1.0, -0.2), **given)
    stopped = dataclasses.replace(motion, stops=(BelowHeight(-0.5, ending=deep), spin))
    found = stopped.run((0, 0, 5), rate=(0.5, 1.0, -0.2), **given)
    assert (found.outcome, found.outcome[0].name) == ([64], "deep")
    first = np.flatnonzero(free.loads["lowest"][0] < -0.5)[0]
    assert 0.0 <= found.end[0] - free.time[first - 1] < 2e-3
    n = found.records[0]
    assert np.array_equal(found.states[0, :n], free.states[0, :n])
    assert len(found.events) == 1  # the contact under way is told
    assert found.events["end"][0] == found.end[0]
    fast = dataclasses.replace(motion, stops=(BelowHeight(-1e9), SpinAbove(0.3, hold=0.4)))
    spun = fast.run((0, 0, 5), rate=(0.5, 1.0, -0.2), **given)
    assert spun.outcome == [Outcome.SPIN_ABOVE]
    assert 0.4 <= spun.end[0] <= 0.4 + 2e-3
    pond = contact.Ball((0, 0, 0), 1.0)
    with pytest.raises(InputError, match="InRegion is one of places about a target"):
        dataclasses.replace(motion, stops=(InRegion(pond),))
