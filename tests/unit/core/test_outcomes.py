"""Outcomes: stable codes for kernels and files, sentences for people."""

import pickle

import pytest
import warp as wp

from alight.core.devices import launch, resolve
from alight.core.errors import InputError
from alight.core.outcomes import FIRST_FAILURE, FIRST_OWN, Ending, Outcome, ending_of, own_endings


def test_codes_never_change():
    """Stored results hold these integers."""
    assert {o.name: int(o) for o in Outcome} == {
        "RUNNING": 0,
        "SETTLED": 1,
        "ESCAPED": 2,
        "TIMED_OUT": 3,
        "TIPPED_OVER": 4,
        "OUT_OF_STEPS": 5,
        "BELOW_HEIGHT": 6,
        "MISSED": 7,
        "LOST": 8,
        "STRUCK": 9,
        "HELD": 10,
        "IN_REGION": 11,
        "OUT_OF_REGION": 12,
        "HIT_COMPANION": 13,
        "SPIN_ABOVE": 14,
        "STEP_FLOOR": 16,
        "STEP_LIMIT": 17,
        "NOT_FINITE": 18,
        "STARTED_INSIDE": 19,
        "SANK": 20,
        "GAINED_ENERGY": 21,
        "RIM": 24,
    }


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_failure_says_so(outcome):
    assert outcome.failed == (int(outcome) >= FIRST_FAILURE)
    assert outcome.failed == outcome.message.startswith("failed: ")
    assert str(outcome) == outcome.message
    assert Outcome(int(outcome)) is outcome


def test_messages_differ():
    assert len({o.message for o in Outcome}) == len(Outcome)


def test_only_running_is_unfinished():
    assert [o for o in Outcome if not o.finished] == [Outcome.RUNNING]


@wp.kernel
def _end(offset: int, outcome_out: wp.array(dtype=int)):
    i = wp.tid() + offset
    outcome_out[i] = Outcome.RUNNING
    if i == 1:
        outcome_out[i] = Outcome.NOT_FINITE


def test_kernels_write_outcomes():
    ends = wp.empty(2, dtype=int, device="cpu")
    launch(_end, 2, [], resolve("cpu"), outputs=[ends])
    assert [Outcome(code) for code in ends.numpy()] == [Outcome.RUNNING, Outcome.NOT_FINITE]


# -- endings of one's own ------------------------------------------------------------------------


POND = Ending(64, "in_pond", "came into the pond")


def test_an_ending_is_its_code_with_a_name_and_a_sentence():
    assert (POND, POND.name, str(POND), f"{POND}") == (64, "in_pond", POND.message, POND.message)
    assert {POND: 1}[64] == 1
    assert (POND.finished, POND.failed) == (True, False)
    again = pickle.loads(pickle.dumps(POND))
    assert (again, again.name, again.message) == (64, "in_pond", "came into the pond")


def test_codes_are_read_in_the_words_of_whoever_has_some():
    assert ending_of(64, {64: POND}) is POND
    assert ending_of(1, {64: POND}) is Outcome.SETTLED
    assert ending_of(70).name == "ending_70"  # of a table whose plan is gone
    with pytest.raises(KeyError):
        ending_of(15)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((-1, "a", "b"), "whole number"),
        ((2.5, "a", "b"), "whole number"),
        ((64, "two words", "b"), "a word of letters"),
        ((64, "a", " "), "in one line"),
        ((64, "a", "two\nlines"), "in one line"),
    ],
)
def test_an_ending_that_no_table_could_hold_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        Ending(*given)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (Ending(FIRST_OWN - 1, "low", "low"), "codes below 64"),
        (Ending(65, "IN_POND", "came into the pond"), 'two endings are called "IN_POND"'),
        (Ending(65, "settled", "settled"), 'two endings are called "settled"'),
        (Ending(64, "in_lake", "came into the lake"), "have the same code, 64"),
    ],
)
def test_endings_that_cannot_be_told_apart_are_refused(other, said):
    assert own_endings([POND, Outcome.SETTLED, Ending(64, POND.name, POND.message)]) == {64: POND}
    with pytest.raises(InputError, match=said):
        own_endings([POND, other])
