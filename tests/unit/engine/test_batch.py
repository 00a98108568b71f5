"""Batches: the same bits however the work is cut up, and every way in which runs end."""

import dataclasses

import numpy as np
import pytest
import warp as wp

from alight import contact, engine, flight, gravity, motions, surfaces, vehicles
from alight.core import devices
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.core.progress import Silent
from alight.engine import batch as batch_module
from alight.engine import deck, grouping
from alight.engine.long_runs import LongRuns


def bits(table):
    """Every field of a structured array, and of the structs in it, without what lies between."""
    if table.dtype.names is None:
        return table.tobytes()
    return b"".join(bits(table[name]) for name in table.dtype.names)


def same_bits(one, other):
    """Equal to the last bit, in every field."""
    return bits(one.final) == bits(other.final) and bits(one.touches) == bits(other.touches)


@pytest.mark.parametrize("slots", [1, 3, 64])
def test_slots_do_not_change_bits(world, tumbled, slots, device):
    model, release = world(), tumbled(12)
    whole = engine.run_batch(model, release, device=device)
    assert len(whole.touches) > 12
    assert same_bits(engine.Batch(model, release, device=device, slots=slots).run(), whole)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_do_not_change_bits(world, tumbled, threads):
    model, release = world(), tumbled(12)
    whole = engine.run_batch(model, release, device="cpu")
    assert same_bits(engine.run_batch(model, release, device="cpu", threads=threads), whole)


def test_chunks_do_not_change_bits(world, tumbled, monkeypatch, paced, device):
    model, release = world(), tumbled(8)
    whole = engine.run_batch(model, release, device=device)
    paced(motions.Model, steps=37, touches=1, gpu_steps=41)
    monkeypatch.setattr(deck, "GPU_ROUNDS", 3)
    assert same_bits(engine.run_batch(model, release, device=device), whole)


@pytest.fixture
def as_on_a_gpu(monkeypatch):
    """A CPU goes about its runs as a GPU does: phases apart, decks, long runs handed over."""

    def like_a_gpu(decks=3):
        monkeypatch.setattr(deck, "many_at_once", lambda device: True)
        monkeypatch.setattr(batch_module, "many_at_once", lambda device: True)
        monkeypatch.setattr(batch_module, "GPU_DECKS", decks)

    return like_a_gpu


@pytest.mark.parametrize(("decks", "slots"), [(1, 40), (3, 7), (2, 40)])
def test_phases_apart_in_several_decks_do_not_change_bits(
    world, tumbled, monkeypatch, as_on_a_gpu, decks, slots
):
    model, release = world(), tumbled(40)
    together = engine.run_batch(model, release, device="cpu")
    as_on_a_gpu(decks)
    apart = engine.Batch(model, release, device="cpu", slots=slots, hands_over=False)
    assert len(apart._decks) == decks
    assert same_bits(apart.run(), together)


def handing_over(monkeypatch, steps):
    pace = motions.Model.pace
    monkeypatch.setattr(
        motions.Model, "pace", lambda *a: dataclasses.replace(pace(*a), hand_over=steps)
    )


@pytest.mark.parametrize("steps", [1, 150, 600])
def test_long_runs_go_on_elsewhere_as_if_nothing_had_happened(
    world, tumbled, monkeypatch, as_on_a_gpu, steps
):
    """Between two CPUs not even rounding differs, wherever a run changes over."""
    model, release = world(), tumbled(20)
    whole = engine.run_batch(model, release, device="cpu")
    as_on_a_gpu()
    handing_over(monkeypatch, steps)
    given = []
    give = LongRuns.give
    monkeypatch.setattr(
        LongRuns, "give", lambda own, lot, rows, carried=None: (
            given.extend(zip(rows.tolist(), lot.states.runs["steps"][rows].tolist(), strict=True)),
            give(own, lot, rows, carried),
        )
    )  # fmt: skip
    assert same_bits(engine.run_batch(model, release, device="cpu"), whole)
    longer = np.flatnonzero(whole.final["steps"] > steps)
    assert len(longer) > 0
    assert sorted(row for row, _ in given) == longer.tolist()
    assert {taken for _, taken in given} == {steps}, "by its own number of steps, exactly"


def test_rigid_contact_is_the_same_in_launches_of_its_own(world, tumbled, monkeypatch, as_on_a_gpu):
    """What held the lander in the step before lies in memory, not in its state."""
    model, release = world(contact.Impulse(restitution=0.4, friction=0.5)), tumbled(12)
    whole = engine.run_batch(model, release, device="cpu")
    as_on_a_gpu()
    assert same_bits(engine.Batch(model, release, device="cpu", hands_over=False).run(), whole)
    for steps in (40, 90):
        handing_over(monkeypatch, steps)
        assert same_bits(engine.run_batch(model, release, device="cpu"), whole)


def test_a_fault_among_long_runs_is_raised(world, tumbled, monkeypatch, as_on_a_gpu):
    as_on_a_gpu()
    handing_over(monkeypatch, 100)
    monkeypatch.setattr(LongRuns, "_carry_on", lambda own: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        engine.run_batch(world(), tumbled(5), device="cpu")


@pytest.mark.parametrize("count", [1, 264, 265, 5000, 60_000])
def test_few_runs_are_spread_over_all_groups(count):
    busy = np.random.default_rng(1).permutation(100_000)[:count]
    index = grouping.spread(busy).reshape(-1, 32)
    assert np.array_equal(np.sort(index[index >= 0]), np.sort(busy))
    in_each = (index >= 0).sum(axis=1)
    assert (in_each[:-1] == in_each[0]).all()
    assert 0 < in_each[-1] <= in_each[0]
    assert len(index) <= max(grouping.GPU_GROUPS, -(-count // 32))


@wp.kernel(enable_backward=False)
def _listed(
    offset: int,
    index: wp.array2d(dtype=int),
    counts: wp.array(dtype=int),
    first: int,
    last: int,
    slot_out: wp.array(dtype=int),
) -> None:
    i = wp.tid() + offset
    slot_out[i] = grouping.listed_slot(index, counts, first, last, i)


@pytest.mark.parametrize("counts", [(0, 0, 0), (1, 0, 0), (300, 5, 7), (9000, 4000, 20_000)])
@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 1), (1, 2)])
def test_each_listed_run_has_one_thread(counts, first, last, device):
    where = devices.resolve(device)
    room = 40_000
    index = np.arange(3 * room).reshape(3, room)
    inputs = [
        *(devices.array(index, int, where), devices.array(counts, int, where)),
        *(first, last),
    ]
    threads = max(grouping.GPU_THREADS, room)
    (found,) = devices.computed(_listed, threads, inputs, [int], where)
    wanted = np.concatenate([index[g, : counts[g]] for g in range(first, last + 1)])
    assert np.sort(found[found >= 0]).tolist() == wanted.tolist()
    in_each = (found.reshape(-1, 32) >= 0).sum(axis=1)
    assert in_each.max() <= max(1, -(-len(wanted) // grouping.GPU_GROUPS)), "spread over groups"


def test_a_run_does_not_depend_on_its_batch(world, tumbled, device):
    """Each run alone, with its number aside, is what it was among others."""
    model, release = world(), tumbled(6)
    whole = engine.run_batch(model, release, device=device)
    names = [n for n in whole.final.dtype.names if n not in ("number", "touch")]
    for i in range(6):
        alone = engine.run_batch(model, release[i], device=device)
        for name in names:
            assert bits(alone.final[name]) == bits(whole.final[name][i : i + 1]), name


class Interrupted(Silent):
    """Ctrl-C at the n-th report."""

    def __init__(self, after):
        self.left = after

    def advance(self, n=1, **facts):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("after", [2, 3, 7])
def test_interrupted_and_continued_is_as_if_never_interrupted(world, tumbled, paced, after):
    paced(motions.Model, steps=100)
    model, release = world(), tumbled(10)
    whole = engine.run_batch(model, release, device="cpu")
    under_way = engine.Batch(model, release, device="cpu", slots=4)
    with pytest.raises(KeyboardInterrupt):
        under_way.run(Interrupted(after))
    part = under_way.result()
    assert (part.outcome == Outcome.RUNNING).any()
    assert len(part.touches) < len(whole.touches)
    assert same_bits(under_way.run(), whole)


def test_contact_parameters_for_each_run_are_separate_runs(world, tumbled, device):
    e, mu = np.array([0.3, 0.6, 0.9]), np.array([0.1, 0.5, 0.9])
    crr = np.array([0.0, 1e-3, 4e-3])
    release = tumbled(3)
    law = contact.Compliant(restitution=e, friction=mu, rolling_resistance=crr)
    together = engine.run_batch(world(law), release, device=device)
    for i in range(3):
        law = contact.Compliant(restitution=e[i], friction=mu[i], rolling_resistance=crr[i])
        alone = engine.run_batch(world(law), release[i], device=device)
        for name in ("x", "v", "q", "w", "t", "steps", "outcome"):
            assert alone.final[name][0].tobytes() == together.final[name][i].tobytes(), name


def test_contact_parameters_of_another_number_are_refused(world, tumbled):
    law = contact.Compliant(restitution=[0.3, 0.6, 0.9])
    with pytest.raises(InputError, match="given for 3 runs and the release for 2"):
        engine.Batch(world(law), tumbled(2))


@pytest.mark.parametrize("slots", [-1, 2.5])
def test_slots_are_a_whole_number(world, tumbled, slots):
    with pytest.raises(InputError, match="slots"):
        engine.Batch(world(), tumbled(2), slots=slots)


def test_touches_are_sorted_and_counted(world, tumbled, device):
    result = engine.Batch(world(), tumbled(20), device=device, slots=3).run()
    run, start = result.touches["run"], result.touches["start"]
    assert (np.diff(run) >= 0).all()
    assert (np.diff(start)[np.diff(run) == 0] > 0.0).all()
    assert (np.bincount(run, minlength=20) == result.bounces).all()
    assert (result.touches["end"] > start).all()
    first = np.unique(run, return_index=True)[1]
    assert (result.final["first_time"] == start[first]).all()
    assert result.final["first_place"] == pytest.approx(result.touches["place"][first])
    hardest = [-result.touches["normal_speed_in"][run == i].min() for i in range(20)]
    assert (result.final["hardest"] == hardest).all()


def test_what_a_result_says(world, tumbled):
    result = engine.run_batch(world(), tumbled(5))
    assert len(result) == 5
    assert sum(result.count().values()) == 5
    assert result.position.shape == (5, 3)
    assert result.attitude.shape == (5, 4)
    assert (result.time > 0.0).all()
    assert np.linalg.norm(result.attitude, axis=1) == pytest.approx(np.ones(5), abs=1e-14)


# -- how runs end ---------------------------------------------------------------------------------


def test_timed_out_exactly_on_time(world, tumbled, device):
    result = engine.run_batch(world(max_time=7.0), tumbled(4), device=device)
    assert (result.outcome == Outcome.TIMED_OUT).all()
    assert (result.time == 7.0).all()


def test_settled(world, tumbled, device):
    result = engine.run_batch(world(max_time=1e4), tumbled(4), device=device)
    assert (result.outcome == Outcome.SETTLED).all()
    assert not result.final["v"].any()
    assert not result.final["w"].any()


def test_escaped(device):
    """Faster than sqrt(2 GM/r); a slow one beside it falls back."""
    model = motions.Model(
        gravity.PointMass(1.0),
        surfaces.Sphere(radius=10.0),
        vehicles.RigidLander.sphere(0.2, 1.0),
        contact.Compliant(restitution=0.5),
        flight.UniformRotation(0.0),
        stop=engine.Stop(max_time=1e5, escape_radius=500.0),
    )
    velocity = np.array([[0.5, 0.0, 0.0], [0.05, 0.0, 0.0]])
    result = engine.run_batch(model, motions.Release((20.0, 0.0, 0.0), velocity), device=device)
    assert result.outcome.tolist() == [Outcome.ESCAPED, Outcome.SETTLED]
    assert np.linalg.norm(result.position[0]) > 500.0


def test_step_limit(world, tumbled, device):
    result = engine.run_batch(world(max_steps=25), tumbled(3), device=device)
    assert (result.outcome == Outcome.OUT_OF_STEPS).all()
    assert (result.final["steps"] == 25).all()
    assert not any(outcome.failed for outcome in result.count())  # slow physics is no failure


def test_started_inside_is_a_row_and_not_a_crash(world, tumbled, device):
    release = tumbled(3)
    place = release.position.copy()
    place[1, 2] = -0.5
    moved = motions.Release(place, release.velocity, release.attitude, release.rate)
    result = engine.run_batch(world(), moved, device=device)
    assert result.outcome[1] == Outcome.STARTED_INSIDE
    assert result.time[1] == 0.0
    assert (result.outcome[[0, 2]] != Outcome.STARTED_INSIDE).all()
    assert not (result.touches["run"] == 1).any()


def test_placed_on_the_ground_is_not_inside(world):
    """It may be a millimetre below, and no deeper."""
    places = [[0.0, 0.0, 0.1], [0.0, 0.0, 0.1 - 0.9e-3], [0.0, 0.0, 0.1 - 1.1e-3]]
    result = engine.run_batch(world(max_time=1.0), motions.Release(places))
    assert (result.outcome == Outcome.STARTED_INSIDE).tolist() == [False, False, True]
