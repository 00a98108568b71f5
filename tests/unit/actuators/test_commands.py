"""Schedules, and what actuators refuse."""

import math

import numpy as np
import pytest
import warp as wp

from alight import contact, gravity, motions, surfaces, vehicles
from alight.actuators import Arm, Schedule, Spring, Thruster, Wheel
from alight.actuators.arm import without_arms
from alight.actuators.programme_kernel import (
    Begun,
    Programmes,
    first_after_rest,
    level_at,
    next_switch,
    next_tick,
    programmes,
)
from alight.actuators.wheel import WheelData, spin_at_rest
from alight.core import devices
from alight.core.errors import InputError
from alight.core.types import scalar

CUBE = vehicles.RigidLander.cube(0.25, 5.0)


@wp.kernel(module="unique", enable_backward=False)
def look(
    all: Programmes,
    begun: Begun,
    t: wp.array(dtype=scalar),
    level_out: wp.array2d(dtype=scalar),
    next_out: wp.array2d(dtype=scalar),
):
    i = wp.tid()
    for k in range(all.each.shape[0]):
        level_out[i, k] = level_at(all, k, t[i], begun)
    next_out[i, 0] = next_switch(all, t[i], begun)
    next_out[i, 1] = first_after_rest(all, 2)
    next_out[i, 2] = next_tick(scalar(0.1), t[i])


def looked(times, touched=1e30, rested=1e30, rests=0):
    commands = (
        Schedule((1.0, 3.0), (0.5, -1.0)),
        Schedule.after_touch(2.0, 5.0),
        Schedule((0.0, 4.0), (1.0, 0.25), "rest", repeats=2),
    )
    begun = Begun()
    begun.touched, begun.rested, begun.rests = touched, rested, rests
    t = wp.array(np.asarray(times, dtype=np.float64), dtype=scalar, device="cpu")
    level = wp.zeros((len(times), 3), dtype=scalar, device="cpu")
    later = wp.zeros((len(times), 3), dtype=scalar, device="cpu")
    made = programmes(commands, devices.resolve("cpu"))
    wp.launch(look, len(times), inputs=[made, begun, t, level, later], device="cpu")
    return level.numpy(), later.numpy()


def test_levels_hold_from_their_times_on():
    level, later = looked([0.0, 1.0, 2.9, 3.0, 1e6])
    assert level[:, 0].tolist() == [0.0, 0.5, 0.5, -1.0, -1.0]
    assert (level[:, 1:] == 0.0).all(), "neither touched nor at rest"
    assert later[:, 0].tolist() == [1.0, 3.0, 3.0, 1e30, 1e30]


def test_times_count_from_touch_and_from_rest():
    level, later = looked([11.9, 12.0, 16.9, 17.0], touched=10.0)
    assert level[:, 1].tolist() == [0.0, 1.0, 1.0, 0.0]
    assert later[:, 0].tolist() == [12.0, 17.0, 17.0, 1e30]
    level, later = looked([100.0, 103.9, 104.0], rested=100.0, rests=1)
    assert level[:, 2].tolist() == [1.0, 1.0, 0.25]
    assert later[0, 0] == 104.0
    assert later[0, 1] == 0.0, "it goes on at once from its second rest"


def test_a_programme_that_has_run_as_often_as_it_repeats_is_over():
    level, later = looked([100.0, 104.0], rested=100.0, rests=3)
    assert level[:, 2].tolist() == [0.25, 0.25]
    assert (later[:, 0] == 1e30).all()


def test_controllers_look_at_whole_periods():
    ticks = np.arange(50) * 0.1
    later = looked(ticks)[1][:, 2]
    assert later == pytest.approx(ticks + 0.1, rel=1e-12)


@wp.kernel(module="unique", enable_backward=False)
def spun(
    wheel: wp.array(dtype=WheelData),
    motor: scalar,
    brake: scalar,
    start: scalar,
    dt: wp.array(dtype=scalar),
    out: wp.array(dtype=scalar),
    held_out: wp.array(dtype=int),
):
    i = wp.tid()
    found = spin_at_rest(wheel[0], motor, brake, start, dt[i])
    out[i] = found.speed
    held_out[i] = int(found.held)


@pytest.mark.parametrize("start", [0.0, 30.0, -30.0])
@pytest.mark.parametrize("motor", [0.0, 1.0, -0.5])
@pytest.mark.parametrize("brake", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("top", [math.inf, 100.0])
def test_spinning_at_rest_is_what_small_steps_give(start, motor, brake, top):
    """Against Euler's steps of dt: J Om' = motor - slowing Om - sign(Om) against, held at 0."""
    inertia, torque, against = 2e-3, 4e-3, 6e-3
    wheel = Wheel((0, 0, 1), inertia, torque=torque, brake=against, top_speed=top)
    rows = np.zeros(1, dtype=WheelData.numpy_dtype())
    for name, value in zip(rows.dtype.names, wheel.row(), strict=True):
        rows[0][name] = value
    dt, n = 1e-3, 40_000
    speed, held, course = start, False, []
    for _ in range(n):
        stall, b = motor * torque, brake * against
        if speed == 0.0 and abs(stall) <= b:
            held = b > 0.0
        else:
            way = math.copysign(1.0, speed) if speed else math.copysign(1.0, stall) * (stall != 0)
            u = stall - abs(motor) * torque / top * speed - way * b
            new = speed + dt * u / inertia
            speed = 0.0 if speed * new < 0.0 and b > 0.0 else new
        course.append((speed, held))
    times = np.arange(1, n + 1) * dt
    pick = np.arange(99, n, 400)
    out = wp.zeros(len(pick), dtype=scalar, device="cpu")
    flags = wp.zeros(len(pick), dtype=int, device="cpu")
    given = [wp.array(rows, dtype=WheelData, device="cpu"), motor, brake, start]
    given += [wp.array(times[pick], dtype=scalar, device="cpu"), out, flags]
    wp.launch(spun, len(pick), inputs=given, device="cpu")
    expected = np.array([course[i][0] for i in pick])
    # One step of the reference, and its first order.
    assert out.numpy() == pytest.approx(expected, abs=2.0 * dt * 1e-2 / inertia + 1e-3 * 60.0)
    assert bool(flags.numpy()[-1]) == course[-1][1]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Schedule(after="landing"), "trigger"),
        (lambda: Schedule(repeats=2), "repeats"),
        (lambda: Schedule.after_rest(repeats=0), "whole number"),
        (lambda: Wheel((0, 0, 0), 1e-3), "axis"),
        (lambda: Wheel((0, 0, 1), -1.0), "inertia"),
        (lambda: Wheel((0, 0, 1), 1e-3, motor=Schedule()), "no torque"),
        (lambda: Wheel((0, 0, 1), 1e-3, braking=Schedule()), "no brake torque"),
        (lambda: Wheel((0, 0, 1), 1e-3, brake=1.0, braking="now"), "must be a Schedule"),
        (lambda: Wheel((0, 0, 1), 1e-3, brake=1.0, braking=Schedule((0,), (-1,))), "not drive"),
        (lambda: Wheel((0, 0, 1), 1e-3, top_speed=0.0), "top speed"),
        (lambda: Thruster(-1.0, (0, 0, 1)), "force"),
        (lambda: Spring(0.0, (0, 0, 1)), "energy"),
        (lambda: Arm(0.1, (0, 0, 1), (0.1, 0, 0.01), 1.0, 1.0), "perpendicular"),
        (lambda: Arm(0.1, (0, 0, 1), (0, 0, 0), 1.0, 1.0), "not 0"),
        (lambda: Arm(0.0, (0, 0, 1), (0.1, 0, 0), 1.0, 1.0), "mass"),
        (lambda: Arm(0.1, (0, 0, 1), (0.1, 0, 0), 1.0, 0.0), "acceleration"),
        (lambda: Arm(0.1, (0, 0, 1), (0.1, 0, 0), 1.0, 1.0, schedule=1), "must be a Schedule"),
    ],
)
def test_what_makes_no_sense_is_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize(
    ("lander", "law", "actuator", "words"),
    [
        (CUBE, contact.Impulse(restitution=0.4), Wheel((0, 0, 1), 1.0), "more inertia"),
        (CUBE, contact.Impulse(restitution=0.4), "wheel", "among the actuators"),
        (CUBE, contact.Impulse(restitution=0.4), Thruster(1.0, (0, 0, 1), body="bus"), "one body"),
        (
            CUBE,
            contact.Impulse(restitution=0.4),
            Arm(5.0, (0, 0, 1), (0.1, 0, 0), 1.0, 1.0),
            "more mass or inertia",
        ),
        (
            CUBE,
            contact.Impulse(restitution=0.4),
            Arm(1.0, (0, 0, 1), (0.4, 0, 0), 1.0, 1.0),
            "more mass or inertia",
        ),
        (
            vehicles.RigidLander.point(1.0),
            contact.Sliding(restitution=0.4, friction=0.5),
            Thruster(1.0, (0, 0, 1)),
            "nothing turns a point",
        ),
    ],
)
def test_models_refuse_what_does_not_fit(lander, law, actuator, words):
    with pytest.raises(InputError, match=words):
        motions.Model(
            gravity.Uniform((0, 0, -1e-3)), surfaces.Plane(), lander, law, actuators=(actuator,)
        )


def test_there_is_one_thruster():
    assert vehicles.Thruster is Thruster
    assert (Thruster(1.0, (0, 0, 1)).name, Thruster(1.0, (0, 0, 1), body="bus").name) == (
        "thruster",
        "bus",
    )


def test_columns_are_those_of_the_actuators():
    """By their names, and none where there are no actuators."""
    law = contact.Impulse(restitution=0.4)
    parts = gravity.Uniform((0, 0, -1e-3)), surfaces.Plane(), CUBE, law
    plain = [c.full_name for c in motions.Model(*parts).columns.runs]
    fitted = motions.Model(
        *parts,
        actuators=(
            Thruster(1.0, (0, 0, 1), name="jet 1"),
            Arm(0.1, (0, 0, 1), (0.1, 0, 0), 1.0, 1.0),
            Wheel((0, 0, 1), 1e-3, name="z"),
        ),
    )
    assert [c.full_name for c in fitted.columns.runs] == [
        *plain,
        "hops",
        "wheel_max_speed_z_rad_per_s",
        "actuator_work_z_J",
        "actuator_work_arm_J",
        "actuator_work_jet_1_J",
    ]


def test_an_arm_and_the_rest_make_up_the_lander():
    """Put back where it was, at any place, the arm gives the lander's mass and inertia again."""
    arm = Arm(0.7, (0, 1, 1), (0.1, 0, 0), 1.0, 1.0, pivot=(0.02, -0.03, 0.01), inertia=3e-4)
    mass, rest = without_arms([arm], CUBE.mass, CUBE.inertia)
    center = -arm.mass * arm.place / mass
    whole = rest + arm.inertia * np.outer(arm.axis, arm.axis)
    for m, s in ((mass, center), (arm.mass, arm.place)):
        whole = whole + m * ((s @ s) * np.eye(3) - np.outer(s, s))
    assert mass + arm.mass == pytest.approx(CUBE.mass, rel=1e-15)
    assert whole == pytest.approx(CUBE.inertia, rel=1e-13, abs=1e-16)
