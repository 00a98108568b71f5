"""Batches of articulated landers: bits, interruption, outcomes, what tables need, bad input."""

import dataclasses

import numpy as np
import pytest

from alight.campaign.tables.arrow import table_from
from alight.contact.hertz import Hertz
from alight.core import frames
from alight.core.errors import InputError
from alight.core.outcomes import Ending, Outcome, outcome_of
from alight.core.progress import Progress
from alight.engine import Batch, run_batch, simulate
from alight.engine.columns import Source
from alight.engine.lift import TOLERANCE
from alight.engine.stops import BelowHeight, SpinAbove
from alight.gravity import Uniform
from alight.motions import TreeModel, TreeRelease, TreeSteps, TreeStop
from alight.surfaces import Plane
from alight.vehicles import (
    Branch,
    Joint,
    Pad,
    Schedule,
    Thruster,
    Tree,
    TreeBody,
    assemble,
    crushable_leg,
    slosh_pendulum,
)

G = 0.02


@pytest.fixture(scope="module")
def lander():
    """40 kg on four crushable legs, liquid, a hold-down thruster; z is up."""
    turn = np.array([1.0, 0.0, 0.0, 1.0]) / np.sqrt(2.0)  # legs go down the lander's -z
    legs = [
        crushable_leg(
            *(f"leg {k}", "bus", (np.cos(a), np.sin(a), -0.2)),
            turn=turn,
            mass=1.5,
            length=0.4,
            force=40.0,
            limit=0.15,
        )
        for k, a in enumerate(np.radians([45, 135, 225, 315]))
    ]
    hold = Thruster(2.0, (0, 0, -1), (0, 0, 0.5), Schedule.after_touch(0.1, 3.0), body="bus")
    bus = Branch([TreeBody("bus", 40.0, (12, 12, 15))], [Joint("bus", "free")], [hold])
    liquid = slosh_pendulum(
        *("liquid", "bus", (0, 0, 0.2)), mass=3.0, arm=(0, 0, -0.2), stiffness=3.0, damping=0.3
    )
    return assemble("lander", [bus, *legs, liquid])


@pytest.fixture(scope="module")
def make(lander):
    """``make(**options)``: the model; options of its stop by name, and steps."""

    def made(contact=None, steps=None, pull=(0.0, 0.0, -G), **stop):
        stop.setdefault("max_time", 30.0)
        return TreeModel(
            *(lander.tree, lander.devices, Uniform(pull), Plane()),
            contact or Hertz(2e4, 100.0, 0.5),
            stop=TreeStop(**stop),
            steps=steps or TreeSteps(tolerance=1e-6),
        )

    return made


def thrown(tree, count, seed=1, sideways=0.15):
    """Releases 1 m up, at some 0.4 m/s."""
    rng = np.random.default_rng(seed)
    velocity = np.stack([*rng.uniform(-sideways, sideways, (2, count)), np.full(count, -0.4)], 1)
    turn = np.concatenate([rng.uniform(-0.08, 0.08, (count, 3)), np.ones((count, 1))], 1)
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    return TreeRelease.of(tree, (0, 0, 1.0), velocity, turn, rng.uniform(-0.1, 0.1, (count, 3)))


def same_bits(a, b):
    """Whether two results agree to the last bit."""
    names = ("outcome", "t", "x", "v", "q", "w", "touches", "path", "steps", "peak_force", "energy")
    pairs = [(a.final[n], b.final[n]) for n in names] + [(a.q, b.q), (a.v, b.v)]
    pairs += list(zip(a.peaks, b.peaks, strict=True)) + [
        (a.touches[n], b.touches[n]) for n in ("run", "start", "end", "impulse")
    ]
    return all(np.asarray(x).tobytes() == np.asarray(y).tobytes() for x, y in pairs)


class Interrupted(Progress):
    """Interrupts at the n-th report."""

    def __init__(self, after):
        self.left = after

    def start(self, title, total=None):
        pass

    def advance(self, n=1, **facts):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


# -- what a run does depends on nothing but itself -------------------------------------------------


def test_slots_chunks_and_threads_change_no_bit(make, lander, paced):
    model, release = make(), thrown(lander.tree, 9)
    whole = run_batch(model, release, device="cpu")
    few = Batch(model, release, device="cpu", slots=2, threads=1).run()
    assert same_bits(whole, few)
    paced(TreeModel, steps=37)
    assert same_bits(whole, Batch(model, release, device="cpu", slots=4).run())
    alone = run_batch(model, release[3], device="cpu")
    assert alone.q.tobytes() == whole.q[3].tobytes()


def test_interrupted_and_continued_is_as_if_never_interrupted(make, lander, paced):
    paced(TreeModel, steps=200)
    model, release = make(), thrown(lander.tree, 6)
    whole = run_batch(model, release, device="cpu")
    under_way = Batch(model, release, device="cpu", slots=3)
    with pytest.raises(KeyboardInterrupt):
        under_way.run(Interrupted(4))
    part = under_way.result()
    assert (part.outcome == Outcome.RUNNING).any()
    assert under_way.left > 0
    assert same_bits(under_way.run(), whole)
    assert under_way.left == 0


def test_contact_parameters_for_each_run_are_separate_runs(make, lander):
    mu = [0.1, 0.4, 0.8]
    release = thrown(lander.tree, 3)
    together = run_batch(make(Hertz(2e4, 100.0, mu)), release, device="cpu")
    for i in range(3):
        alone = run_batch(make(Hertz(2e4, 100.0, mu[i])), release[i], device="cpu")
        assert alone.q.tobytes() == together.q[i].tobytes()


def test_devices_agree(make, lander, device):
    """A GPU rounds otherwise; two seconds of landing magnify that by little."""
    model, release = make(max_time=4.0), thrown(lander.tree, 40)
    here, there = (run_batch(model, release, device=d) for d in ("cpu", device))
    assert (here.outcome == there.outcome).all()
    np.testing.assert_allclose(there.q, here.q, atol=1e-4)
    np.testing.assert_allclose(there.peaks.stroke, here.peaks.stroke, atol=1e-5)


# -- how runs end ----------------------------------------------------------------------------------


def test_a_gentle_landing_settles_and_a_fast_one_sideways_tips_over(make, lander):
    tree = lander.tree
    release = TreeRelease.of(tree, (0, 0, 0.8), [(0, 0, -0.3), (3.0, 0, -0.3)])
    rough = make(Hertz(2e4, 100.0, 1.0), max_time=200.0)
    found = run_batch(rough, release, device="cpu")
    ends = [outcome_of(code) for code in found.outcome]
    assert ends == [Outcome.SETTLED, Outcome.TIPPED_OVER]
    assert found.peaks.tilt[0] < 0.1
    assert found.peaks.tilt[1] > np.pi / 3
    assert str(ends[1]) == "tipped over"
    assert not ends[1].failed


@pytest.mark.parametrize(
    ("stop", "place", "velocity", "outcome"),
    [
        ({"max_time": 0.5}, (0, 0, 5.0), (0, 0, 0), Outcome.TIMED_OUT),
        ({"escape_radius": 10.0}, (0, 0, 9.0), (0, 0, 1.0), Outcome.ESCAPED),
        ({}, (0, 0, 0.5), (0, 0, 0), Outcome.STARTED_INSIDE),
        ({"max_steps": 30}, (0, 0, 0.8), (0, 0, -0.3), Outcome.OUT_OF_STEPS),
    ],
)
def test_every_end_has_its_outcome(make, lander, stop, place, velocity, outcome):
    found = run_batch(make(**stop), TreeRelease.of(lander.tree, place, velocity), device="cpu")
    assert outcome_of(found.outcome[0]) is outcome
    if outcome is Outcome.TIMED_OUT:
        assert found.time[0] == 0.5


def test_released_a_little_below_ground_it_is_lifted_and_deeper_refused(make, lander):
    """As rigid landers are (tests/properties/test_release_below_ground.py): T <= m g d."""
    poses = lander.tree.kinematics(lander.tree.neutral(), np.zeros(lander.tree.n_v), device="cpu")
    pads = [d for d in lander.devices if isinstance(d, Pad)]
    at = [poses.position[lander.tree.index(p.body)] for p in pads]
    turn = [poses.attitude[lander.tree.index(p.body)] for p in pads]
    foot = min(
        (x + frames.quat_rotate(q, p.place))[2] - p.radius
        for x, q, p in zip(at, turn, pads, strict=True)
    )
    depth = 0.9 * TOLERANCE
    model = make(Hertz(2e5, 100.0, 0.5), max_time=2.0)
    run = simulate(model, TreeRelease.of(lander.tree, (0, 0, -depth - foot)))
    assert run.position[0, 2] - run.position[:, 2].min() < 1.1 * depth
    assert np.sum(run.velocity**2, axis=1).max() < 2.0 * G * depth
    deeper = [(0, 0, -depth - foot), (0, 0, -2.0 * TOLERANCE - foot)]
    found = run_batch(model, TreeRelease.of(lander.tree, deeper), device="cpu")
    assert (found.outcome == Outcome.STARTED_INSIDE).tolist() == [False, True]


def test_a_step_that_cannot_be_short_enough_fails_the_run_alone(make, lander):
    steps = TreeSteps(tolerance=1e-9, shortest=1e-4)
    release = TreeRelease.of(lander.tree, [(0, 0, 0.8), (0, 0, 500.0)], (0, 0, -0.3))
    found = run_batch(make(steps=steps, max_time=2.0), release, device="cpu")
    assert outcome_of(found.outcome[0]) is Outcome.STEP_FLOOR


# -- what comes of it ------------------------------------------------------------------------------


def test_tables_of_campaigns_take_the_result(make, lander):
    found = run_batch(make(), thrown(lander.tree, 5), device="cpu")
    runs = np.arange(5)
    table = table_from(found.model.columns.runs, Source(found, runs, found.model))
    assert table.num_rows == 5
    assert np.isfinite(table["end_time_s"].to_numpy()).all()
    assert (table["peak_force_N"].to_numpy() > 0.0).all()
    source = Source(found.touches, runs[found.touches["run"]])
    contacts = table_from(found.model.columns.contacts, source)
    assert contacts.num_rows == len(found.touches) == found.bounces.sum()
    first = contacts["start_time_s"].to_numpy()[found.touches["run"] == 0][0]
    assert first == found.final["first_time"][0]


def test_the_solution_is_the_run_of_the_batch(make, lander):
    release = thrown(lander.tree, 3)
    batch = run_batch(make(), release, device="cpu")
    solution = simulate(make(), release[1])
    assert solution.q[-1].tobytes() == batch.q[1].tobytes()
    assert solution.time[0] == 0.0
    assert len(solution.time) == batch.final["steps"][1] - batch.final["rejected"][1] + 1
    assert (np.diff(solution.time) > 0.0).all()
    np.testing.assert_allclose(solution.step[1:], np.diff(solution.time), rtol=1e-6)
    assert solution.order.max() > 3
    assert solution.peaks.slosh[0, 0] == solution.slosh.max()
    assert solution.bodies.position.shape == (len(solution.time), lander.tree.count, 3)
    assert len(solution.events) == batch.bounces[1]


def test_a_run_in_few_lines(make, lander):
    release = thrown(lander.tree, 2)[1]
    whole, thin = (simulate(make(), release, max_lines=n) for n in (None, 60))
    assert len(thin.lines) <= 60 < len(whole.lines)
    assert thin.steps == whole.steps == len(whole.lines) - 1
    place = np.searchsorted(whole.time, thin.time)
    assert np.array_equal(thin.lines, whole.lines[place])
    assert (place[0], place[-1]) == (0, len(whole.lines) - 1)
    assert np.array_equal(thin.events, whole.events)
    assert "kept: one in" in str(thin)


@pytest.mark.validate
def test_steps_of_one_size_reach_the_same_end(make, lander):
    release = thrown(lander.tree, 2)
    fine = run_batch(make(max_time=5.0, steps=TreeSteps(tolerance=1e-9)), release, device="cpu")
    even = TreeSteps(integrator="rk4", step=5e-4)
    other = run_batch(make(max_time=5.0, steps=even), release, device="cpu")
    # Forces jump by c v = 40 N on 1.5 kg at a touch: a step is off by 13 m/s^2 h^2 or so.
    np.testing.assert_allclose(other.q, fine.q, atol=1e-3)
    assert not np.array_equal(other.q, fine.q)


# -- bad input -------------------------------------------------------------------------------------


def test_what_does_not_fit_is_refused(make, lander):
    tree = lander.tree
    with pytest.raises(InputError, match="2 runs and the release for 3"):
        run_batch(make(Hertz(1e4, friction=[0.1, 0.2])), thrown(tree, 3), device="cpu")
    other = Tree("other", [TreeBody("b", 1.0, (1, 1, 1))], [Joint("b", "free")])
    with pytest.raises(InputError, match="own tree"):
        run_batch(make(), TreeRelease.of(other, (0, 0, 1)), device="cpu")
    with pytest.raises(InputError, match="follows one run"):
        simulate(make(), thrown(tree, 2))
    with pytest.raises(InputError, match="inside the ground"):
        simulate(make(), TreeRelease.of(tree, (0, 0, 0.3)))
    with pytest.raises(InputError, match="no pads"):
        TreeModel(other, [], Uniform((0, 0, 0)), Plane(), Hertz(1e4))
    with pytest.raises(InputError, match="contact law"):
        TreeModel(other, [Pad("b")], Uniform((0, 0, 0)), Plane(), "hard")
    with pytest.raises(InputError, match="up is zero"):
        TreeModel(other, [Pad("b")], Uniform((0, 0, 0)), Plane(), Hertz(1e4), up=(0, 0, 0))
    fixed = Tree("fixed", [TreeBody("b", 1.0)], [Joint("b", "prismatic", axis=(1, 0, 0))])
    with pytest.raises(InputError, match="needs a free one"):
        TreeRelease.of(fixed, (0, 0, 1))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: TreeStop(tip_angle=60.0), "Degrees"),
        (lambda: TreeStop(settle_time=-1.0), "settle_time"),
        (lambda: TreeSteps(integrator="euler"), "integrator"),
        (lambda: TreeSteps(tolerance=0.0), "tolerance"),
        (lambda: TreeSteps(contact_step=-1.0), "contact_step"),
    ],
)
def test_bad_limits_are_refused(make, said):
    with pytest.raises(InputError, match=said):
        make()


# -- stops ---------------------------------------------------------------------------------------


PRESSED = Ending(64, "pressed", "stood on the ground")


def ended(model, height=-1e9, rate=1e9, hold=1.0):
    """A model that ends at a height, or when it turns in contact for some time."""
    spin = SpinAbove(rate, hold=hold, when="contact", ending=PRESSED)
    return dataclasses.replace(model, stops=(BelowHeight(height), spin))


@pytest.mark.validate
def test_a_stop_cuts_a_run_off(make, lander):
    model, release = make(), thrown(lander.tree, 1)
    free = simulate(model, release, device="cpu")
    found = simulate(ended(model, height=0.9), release, device="cpu")
    assert found.outcome is Outcome.BELOW_HEIGHT
    n = len(found.lines)
    assert np.array_equal(found.lines, free.lines[:n])
    assert n - 1 == np.flatnonzero(free.position[:, 2] < 0.9)[0]


def test_a_contact_ends_with_its_run(make, lander):
    """After 0.2 s of contact, in the same contact: its record is whole, as far as it went."""
    model, release = make(), thrown(lander.tree, 1)
    free = simulate(model, release, device="cpu")
    found = simulate(ended(model, rate=0.0, hold=0.2), release, device="cpu")
    assert (found.outcome, found.outcome.name) == (64, "pressed")
    first = free.events[0]
    assert len(found.events) == 1
    told = found.events[0]
    assert told["start"] == first["start"]
    assert told["energy_out"] != 0.0
    assert told["end"] <= found.time[-1] < first["end"]
    steps = np.flatnonzero(free.time == found.time[-1])
    assert free.time[steps[0] - 1] - first["start"] < 0.2 <= found.time[-1] - first["start"]
    # A rejected step has no state to be judged by.
    assert np.array_equal(found.lines, free.lines[: steps[0] + 1])


def test_stops_in_any_slot(make, lander):
    model, release = ended(make(), height=0.45, rate=0.1, hold=0.3), thrown(lander.tree, 6)
    whole = run_batch(model, release, device="cpu")
    assert len(whole.count()) > 1
    assert same_bits(whole, Batch(model, release, device="cpu", slots=2).run())
