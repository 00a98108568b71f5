"""Controllers that are functions of Python: the same law as a Warp function gives the same run.

A wheel that turns a box by u = clip(-(kp phi + kd w)) about its axis, phi the angle about z from
the quaternion. All tests share two kernels.
"""

import numpy as np
import pytest
import warp as wp

from alight import contact, engine, gravity, motions, surfaces, vehicles
from alight.actuators import Controller, PythonController, Schedule, Thruster, Wheel
from alight.core.errors import InputError
from alight.core.types import scalar
from alight.engine.fleet import Fleet
from alight.engine.scene import Scene

BOX = vehicles.RigidLander.box((0.2, 0.25, 0.35), 5.0)
KP, KD, PERIOD = 0.4, 1.5, 0.7


@wp.struct
class Gains:
    """Of the angle and of the rate."""

    kp: scalar
    kd: scalar


@wp.func
def proportional(data: Gains, scene: Scene, level: scalar):
    """A level between -1 and 1 that brings angle and rate to 0."""
    wanted = data.kp * (scalar(2.0) * scene.q[2]) + data.kd * scene.w[2]
    return wp.clamp(wanted, scalar(-1.0), scalar(1.0))


class Warped(Controller):
    """The law as a Warp function."""

    Data, command = Gains, proportional

    def data(self, device):
        data = Gains()
        data.kp, data.kd = KP, KD
        return data


def model(control):
    wheel = Wheel((0, 0, 1), 2e-3, torque=1e-3, motor=control)
    jet = Thruster(0.02, (0, 0, 1), schedule=Schedule.never())
    return motions.Model(
        gravity.Uniform((0.0, 0.0, -2e-3)),
        surfaces.Plane(),
        BOX,
        contact.Impulse(restitution=0.4, friction=0.5),
        stop=engine.Stop(max_time=80.0),
        actuators=(wheel, jet),
    )


def law(seen):
    wanted = KP * (2.0 * seen.attitude[2]) + KD * seen.rate[2]
    return min(max(wanted, -1.0), 1.0)


RELEASE = motions.Release((0.0, 0.0, 3.0), (0.01, 0.0, 0.0), rate=(0.02, -0.01, 0.08))


@pytest.mark.validate  # a kernel of its own
def test_a_function_of_python_flies_as_a_warp_function_does():
    """Through the first touch of the ground, some 50 s after the release, and bounces."""
    calls = []

    def told(seen):
        calls.append((seen.time, seen.wheel_speed[0], seen.level, seen.touching, seen.contacts))
        return law(seen)

    one = engine.simulate(model(PythonController(told, PERIOD)), RELEASE)
    other = engine.simulate(model(Warped(PERIOD)), RELEASE)
    assert len(one.events) > 1
    assert one.steps == other.steps
    for name in ("time", "position", "velocity", "attitude", "rate", "wheel_speed"):
        a, b = getattr(one, name), getattr(other, name)
        assert np.abs(a - b).max() <= 1e-12 * max(1.0, np.abs(b).max()), name
    times = np.array([call[0] for call in calls])
    assert times == pytest.approx(PERIOD * np.arange(len(times)), rel=1e-12)
    assert len(times) == int(80.0 / PERIOD) + 1
    # What it sees is the run then, and what it said last.
    k = 20
    line = np.flatnonzero(one.time == times[k])[0]
    assert calls[k][1] == pytest.approx(one.wheel_speed[line, 0], rel=1e-12)
    assert calls[k][2] == pytest.approx(
        law(_Line(one, np.flatnonzero(one.time == times[k - 1])[0])), rel=1e-12
    )
    assert calls[0][3:] == (False, 0)
    assert calls[-1][4] >= 1
    assert np.abs(one.rate[line, 2]) < 0.02, "it does what it is for"


class _Line:
    def __init__(self, solution, at):
        self.attitude, self.rate = solution.attitude[at], solution.rate[at]


def test_heights_are_seen():
    """Over a plane z; and a wheel that is driven below 2 m alone."""
    off = []

    def low(seen):
        off.append(seen.height - seen.position[2])
        return 1.0 if seen.height < 2.0 else 0.0

    flown = engine.simulate(model(PythonController(low, PERIOD)), RELEASE)
    assert np.abs(off).max() < 1e-12
    first = np.flatnonzero(flown.wheel_speed[:, 0] != 0.0)[0]
    assert 1.8 < flown.position[first, 2] < 2.0
    assert flown.result.work_each[0, 0] == pytest.approx(flown.actuator_work[-1], rel=1e-12)
    assert flown.result.wheel_max_speed[0, 0] == np.abs(flown.wheel_speed).max()


def test_many_runs_refuse_it_and_name_the_other_form():
    hosted = model(PythonController(law, PERIOD))
    for run in (
        lambda: engine.run_batch(hosted, RELEASE),
        lambda: Fleet([hosted, hosted], [[0], [1]]),
    ):
        with pytest.raises(InputError, match="Warp function"):
            run()


@pytest.mark.parametrize(("said", "words"), [(np.nan, "finite"), ("on", "finite"), ([1, 2], "one")])
def test_levels_must_be_numbers(said, words):
    with pytest.raises(InputError, match=words):
        engine.simulate(model(PythonController(lambda seen: said, PERIOD)), RELEASE)


def test_it_must_be_a_function():
    with pytest.raises(InputError, match="function"):
        PythonController(0.5, 1.0)
