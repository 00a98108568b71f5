"""[[lander.wheel]], [[lander.thruster]] and [[lander.spring]] of rigid landers."""

import pathlib
from typing import Annotated

import numpy as np
import pytest

from alight.actuators import Arm, Spring, Thruster, Wheel
from alight.core.errors import AlightError
from alight.core.registry import registry
from alight.scenario import load, loads, prepare
from alight.scenario.keys import Measure, Section

HOP = pathlib.Path(__file__).resolve().parents[4] / "scenarios" / "wheel_hop_phobos.toml"
MORE = """
[[lander.thruster]]
name = "up"
direction = [0.0, 0.0, 2.0]
force = "20 mN"
after = "touch"
times = ["5 s", "15 s"]
levels = [1.0, 0.0]

[[lander.spring]]
name = "foot"
direction = [0.0, 0.0, 1.0]
energy = "100 mJ"
after = "rest"
times = ["1 min"]
levels = [1.0]

[release]"""


def text(old="[release]", new="[release]"):
    said = HOP.read_text(encoding="utf-8")
    assert said.count(old) == 1
    return said.replace(old, new)


def test_each_becomes_the_actuator_it_describes():
    model = prepare(loads(text(new=MORE))).nominal().model
    wheel, thruster, spring = model.actuators
    assert isinstance(wheel, Wheel)
    assert (wheel.inertia, wheel.torque, wheel.brake) == pytest.approx((2.7e-3, 3e-3, 2.7))
    assert (wheel.motor.after, wheel.motor.times, wheel.motor.repeats) == ("rest", (10, 100), 2)
    assert (wheel.braking.times, wheel.braking.levels) == ((110.0,), (1.0,))
    assert isinstance(thruster, Thruster)
    assert thruster.force * thruster.direction == pytest.approx([0.0, 0.0, 0.02])
    assert thruster.schedule.after == "touch"
    assert isinstance(spring, Spring)
    assert spring.energy == pytest.approx(0.1)


def test_the_resolved_scenario_reads_back():
    scenario = loads(text(new=MORE))
    assert loads(scenario.to_toml()) == scenario


def test_numbers_vary_from_run_to_run():
    prepared = prepare(load(HOP))
    groups = prepared.groups({"lander.wheel.y.brake": np.array([[2.6], [2.8], [2.6]])})
    assert [group.model.actuators[0].brake for group in groups] == [2.6, 2.8]
    assert [group.rows.tolist() for group in groups] == [[0, 2], [1]]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('brake = "2.7 N*m"\n', "", "no brake torque"),
        ('inertia = "2.7e-3 kg*m^2"', 'inertia = "1 kg*m^2"', "more inertia"),
        ("[release]", MORE.replace('"foot"', '"a b"'), "letters"),
        ("[release]", MORE.replace('name = "up"', 'name = "up"\nbody = "bus"'), "leave it out"),
        ("[release]", MORE.replace('name = "up"\n', ""), "no name"),
        ('brake_after = "rest"', 'brake_after = "landing"', "brake_after"),
        ("[release]", '[[lander.pad]]\nbody = "leg"\n\n[release]', "tree"),
        ('law = "impulse"', 'law = "sliding"', "sliding|Sliding|point"),
    ],
)
def test_what_does_not_fit_is_told(old, new, words):
    with pytest.raises(AlightError, match=words):
        prepare(loads(text(old, new))).nominal()


OWN = """
[[lander.actuator]]
kind = "jets"
name = "left"
gain = "5 mN*m"
after = "touch"
times = ["1 s"]
levels = [0.5]

[release]"""


class JetsKeys(Section):
    """Keys of an actuator of another package."""

    gain: Annotated[float, Measure(dimension="torque", above=0)]


class Jets(Thruster):
    """One of another package."""

    def __init__(self, gain, schedule, name="jets"):
        super().__init__(gain, (0, 0, 1), schedule=schedule, name=name)


@pytest.fixture
def jets():
    registry.add("actuator", "jets", Jets, keys=JetsKeys)
    yield
    registry.drop("actuator", "jets")


def test_one_of_another_package_has_its_own_keys(jets):
    scenario = loads(text(new=OWN))
    made = prepare(scenario).nominal().model.actuators[1]
    assert isinstance(made, Jets)
    assert (made.force, made.name, made.schedule.after) == (5e-3, "left", "touch")
    assert loads(scenario.to_toml()) == scenario
    groups = prepare(scenario).groups({"lander.actuator.left.gain": np.array([[1e-3], [2e-3]])})
    assert [group.model.actuators[1].force for group in groups] == [1e-3, 2e-3]


REGISTERED = """
[[lander.actuator]]
kind = "wheel"
name = "x"
axis = [1.0, 0.0, 0.0]
inertia = "1e-3 kg*m^2"
torque = "2 mN*m"
times = ["5 s"]
levels = [0.5]
brake = "1 N*m"
brake_after = "rest"
brake_times = ["7 s"]
brake_levels = [1.0]

[[lander.actuator]]
kind = "arm"
axis = [0.0, 1.0, 0.0]
mass = "300 g"
reach = ["0 m", "0 m", "5 cm"]
pivot = ["1 cm", "0 m", "0 m"]
rate = "30 rpm"
acceleration = "90 deg/s^2"
after = "rest"
times = ["10 s", "12 s"]
levels = [1.0, 0.0]
repeats = 3

[release]"""


def test_wheels_and_arms_are_registered_like_those_of_other_packages():
    scenario = loads(text(new=REGISTERED))
    listed, wheel, arm = prepare(scenario).nominal().model.actuators
    assert (type(listed), type(wheel), type(arm)) == (Wheel, Wheel, Arm)
    assert (wheel.name, wheel.torque, wheel.brake) == ("x", 2e-3, 1.0)
    assert (wheel.motor.times, wheel.motor.levels, wheel.motor.after) == ((5.0,), (0.5,), "release")
    assert (wheel.braking.times, wheel.braking.after) == ((7.0,), "rest")
    assert (arm.name, arm.mass, arm.rate) == ("arm", 0.3, pytest.approx(np.pi))
    assert arm.acceleration == pytest.approx(np.pi / 2.0)
    assert arm.place == pytest.approx([0.01, 0.0, 0.05])
    assert (arm.schedule.after, arm.schedule.repeats) == ("rest", 3)
    assert loads(scenario.to_toml()) == scenario
    groups = prepare(scenario).groups({"lander.actuator.x.brake": np.array([[1.0], [2.0]])})
    assert [group.model.actuators[1].brake for group in groups] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('mass = "300 g"', 'mass = "6 kg"', "more mass"),
        ('reach = ["0 m", "0 m", "5 cm"]', 'reach = ["0 m", "5 cm", "0 m"]', "perpendicular"),
        ("[release]", MORE, "arms and foot"),
        ('brake = "1 N*m"\n', "", "no brake torque"),
    ],
)
def test_what_does_not_fit_a_registered_one_is_told(old, new, words):
    with pytest.raises(AlightError, match=words):
        prepare(loads(text(new=REGISTERED.replace(old, new)))).nominal()


def test_a_name_that_nobody_registered_is_told():
    with pytest.raises(AlightError, match="jets"):
        loads(text(new=OWN))
