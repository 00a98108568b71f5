"""How a run ended: an integer in kernels and tables, a sentence for a person."""

from __future__ import annotations

from enum import IntEnum
from typing import Self, cast


class Ending(IntEnum):
    """An integer in kernels and tables with the sentence that a person reads: (code, message)."""

    message: str

    def __new__(cls, code: int, message: str) -> Self:
        """Build a member from its code and the sentence a person reads."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.message = message
        return member

    @classmethod
    def of(cls, code: int) -> Self:
        """The member that an integer of a table or kernel stands for."""
        return cast(Self, cls._value2member_map_[int(code)])

    def __str__(self) -> str:
        """The sentence a person reads."""
        return self.message


class Outcome(Ending):
    """The end of one run; a failed run is a row of the result, never a crash of the batch.

    The integer codes are stored in files and written by kernels: they never change meaning, and
    codes from ``FIRST_FAILURE`` (16) up are failures.
    """

    RUNNING = 0, "still running"
    SETTLED = 1, "came to rest on the surface"
    ESCAPED = 2, "left the neighbourhood of the body for good"
    TIMED_OUT = 3, "was still moving at the end of the simulated time"
    TIPPED_OVER = 4, "tipped over"
    OUT_OF_STEPS = 5, "was still moving when the allowed number of steps was used up"
    STEP_FLOOR = 16, "failed: the step shrank to its floor without meeting the tolerance"
    # Of integrators alone: a run that needs more steps than it may is OUT_OF_STEPS since.
    STEP_LIMIT = 17, "failed: the allowed number of steps was used up"
    NOT_FINITE = 18, "failed: the state is no longer finite"
    STARTED_INSIDE = 19, "failed: the release point lies inside the body or the ground"
    SANK = 20, "failed: the lander got through the ground"
    GAINED_ENERGY = 21, "failed: contact gave more energy than it received"

    @property
    def finished(self) -> bool:
        """True when the run will not be advanced any further."""
        return self is not Outcome.RUNNING

    @property
    def failed(self) -> bool:
        """True when the run ended for a numerical or set-up reason, not a physical one."""
        return self >= FIRST_FAILURE


#: Cut short while still moving: by the simulated time, or by the allowed number of steps.
STILL_MOVING = (Outcome.TIMED_OUT, Outcome.OUT_OF_STEPS)


def outcome_of(code: int) -> Outcome:
    """The outcome that an integer of a table or kernel stands for."""
    return Outcome.of(code)


#: Codes from here up are failures; kernels compare with it.
FIRST_FAILURE = 16
