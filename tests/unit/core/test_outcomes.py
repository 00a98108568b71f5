"""Outcomes: stable codes for kernels and files, sentences for people."""

import pytest
import warp as wp

from alight.core.devices import launch, resolve
from alight.core.outcomes import FIRST_FAILURE, Outcome


def test_codes_never_change():
    """Stored results hold these integers."""
    assert {o.name: int(o) for o in Outcome} == {
        "RUNNING": 0,
        "SETTLED": 1,
        "ESCAPED": 2,
        "TIMED_OUT": 3,
        "TIPPED_OVER": 4,
        "OUT_OF_STEPS": 5,
        "STEP_FLOOR": 16,
        "STEP_LIMIT": 17,
        "NOT_FINITE": 18,
        "STARTED_INSIDE": 19,
        "SANK": 20,
        "GAINED_ENERGY": 21,
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
