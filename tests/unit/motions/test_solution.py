"""One run in detail: its lines, its contacts, and what lies between them."""

import numpy as np
import pytest

from alight import contact, engine, motions, vehicles
from alight.core import frames
from alight.core.errors import InputError
from alight.core.outcomes import Outcome


@pytest.fixture(scope="module")
def solution(world, tumbled):
    return engine.simulate(world(max_time=120.0), tumbled(1))


def test_lines_begin_at_the_release_and_go_forward(solution, tumbled):
    release = tumbled(1)
    assert solution.time[0] == 0.0
    assert (solution.position[0] == release.position[0]).all()
    assert (solution.velocity[0] == release.velocity[0]).all()
    assert (solution.attitude[0] == release.attitude[0]).all()
    assert (solution.rate[0] == release.rate[0]).all()
    assert (np.diff(solution.time) >= 0.0).all()
    assert not solution.in_contact[0]
    assert solution.in_contact.any()
    assert np.linalg.norm(solution.attitude, axis=1) == pytest.approx(1.0, abs=1e-14)


def test_the_same_end_as_in_a_batch(solution, world, tumbled):
    result = engine.run_batch(world(max_time=120.0), tumbled(1), device="cpu")
    assert solution.position[-1].tobytes() == result.position[0].tobytes()
    for name in result.touches.dtype.names:
        assert solution.events[name].tobytes() == result.touches[name].tobytes(), name
    assert solution.outcome == result.outcome[0]


def test_energy_has_its_parts(solution):
    e = solution.energy
    parts = e.linear + e.angular + e.centrifugal + e.gravity + e.elastic
    assert e.total == pytest.approx(parts, rel=1e-14)
    assert (e.elastic >= 0.0).all()
    speed2 = (solution.velocity**2).sum(axis=1)
    assert e.linear == pytest.approx(0.5 * speed2, rel=1e-13)
    assert e.gravity == pytest.approx(5.7e-3 * solution.position[:, 2], rel=1e-13)


def test_sample_is_exact_at_the_lines(solution):
    distinct = np.flatnonzero(np.diff(solution.time, prepend=-1.0) > 0.0)
    place, attitude = solution.sample(solution.time[distinct])
    assert np.abs(place - solution.position[distinct]).max() < 1e-14
    overlap = np.abs((attitude * solution.attitude[distinct]).sum(axis=1))
    assert overlap.min() > 1.0 - 1e-13


def test_sample_between_lines_agrees_with_smaller_steps(world, tumbled):
    """In flight: a parabola and the free rotation of a brick, whatever the steps."""
    release = tumbled(1)
    brick = vehicles.RigidLander.box((0.1, 0.2, 0.3), 1.0)
    long = engine.simulate(world(lander=brick, max_time=8.0), release)
    steps = motions.Steps(longest=0.05)
    short = engine.simulate(world(lander=brick, steps=steps, max_time=8.0), release)
    assert not short.in_contact.any()
    assert len(short.time) > 5 * len(long.time)
    place, attitude = long.sample(short.time)
    assert np.abs(place - short.position).max() < 1e-9
    overlap = np.abs((attitude * short.attitude).sum(axis=1))
    assert overlap.min() > 1.0 - 1e-12


def test_sample_in_contact_stays_between_the_lines(solution):
    """Midway between two lines of contact, neither place nor turn leaves their neighbourhood."""
    rows = np.flatnonzero(solution.in_contact[1:] & (np.diff(solution.time) > 0.0))
    middle = 0.5 * (solution.time[rows] + solution.time[rows + 1])
    place, attitude = solution.sample(middle)
    mean = 0.5 * (solution.position[rows] + solution.position[rows + 1])
    step = np.linalg.norm(np.diff(solution.position, axis=0)[rows], axis=1)
    pace = np.linalg.norm(solution.velocity[rows], axis=1)
    bound = step + pace * np.diff(solution.time)[rows] + 1e-12
    assert (np.linalg.norm(place - mean, axis=1) <= bound).all()
    turn = np.abs((attitude * solution.attitude[rows]).sum(axis=1))
    assert turn.min() > 0.999


def test_turns_in_contact_meet_the_lines_at_the_rates_of_the_lines(solution):
    """Just before a line the attitude is that of the line, and it got there by the line's rate."""
    rows = np.flatnonzero(solution.in_contact[1:] & (np.diff(solution.time) > 0.0)) + 1
    when, step = solution.time[rows], solution.time[rows] - solution.time[rows - 1]
    _, last = solution.sample(np.nextafter(when, -np.inf))
    back = frames.quat_multiply(frames.quat_conjugate(last), solution.attitude[rows])
    assert np.linalg.norm(frames.rotation_vector(back), axis=1).max() < 1e-10
    part = 1e-3
    _, near = solution.sample(when - part * step)
    turn = frames.quat_multiply(frames.quat_conjugate(near), solution.attitude[rows])
    rate = frames.rotation_vector(turn) / (part * step)[:, None]
    change = np.linalg.norm(solution.rate[rows] - solution.rate[rows - 1], axis=1)
    off = np.linalg.norm(rate - solution.rate[rows], axis=1)
    # An even torque over the step leaves a small part of the change of the rate.
    assert np.median(off / change) < 0.2
    # Rounding of attitudes and of times, over the time in which the rate is taken.
    speed = np.linalg.norm(solution.rate[rows], axis=1)
    rounding = 4.0 * (np.finfo(float).eps + speed * np.spacing(when)) / (part * step)
    assert (off <= change + rounding).all()


@pytest.mark.parametrize("time", [-1e-3, 1e4])
def test_sample_outside_the_run_is_refused(solution, time):
    with pytest.raises(InputError, match="within the run"):
        solution.sample([0.0, time])


def test_one_run_only(world, tumbled):
    with pytest.raises(InputError, match="the release has 3"):
        engine.simulate(world(), tumbled(3))


def test_release_inside_the_ground(world):
    with pytest.raises(InputError, match=r"released inside the ground: position .*-0\.3"):
        engine.simulate(world(), motions.Release((0.0, 0.0, -0.3)))


def test_release_with_one_corner_inside(world):
    """The centre is 0.15 m up, a corner reaches 0.173 m down."""
    q = frames.quat_multiply(
        frames.quat_from_axis_angle(np.array([1.0, 0.0, 0.0]), np.arctan(np.sqrt(2.0))),
        frames.quat_from_axis_angle(np.array([0.0, 0.0, 1.0]), np.pi / 4),
    )
    with pytest.raises(InputError, match="inside the ground"):
        engine.simulate(world(), motions.Release((0.0, 0.0, 0.15), attitude=q))


def test_it_says_how_it_went(solution):
    assert "contacts" in str(solution)
    assert str(solution.outcome) in str(solution)


def test_flight_alone_has_no_events(world):
    """Thrown up and not yet down again."""
    model = world(contact.Compliant(restitution=1.0), max_time=5.0)
    solution = engine.simulate(model, motions.Release((0.0, 0.0, 1.0), (0.0, 0.0, 0.1)))
    assert solution.outcome is Outcome.TIMED_OUT
    assert len(solution.events) == 0
    height = 1.0 + 0.1 * 5.0 - 0.5 * 5.7e-3 * 25.0
    assert solution.position[-1, 2] == pytest.approx(height, rel=1e-13)
