"""How a run ended: an integer in kernels and tables, a name and a sentence for a person.

All motions share one set of outcomes. A motion may say some of them in its own words (a capture at
rest is at rest against its asteroid), and a user's stop brings an ``Ending`` of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any, Self, cast

from alight.core.errors import InputError

#: Codes from here up are failures; kernels compare with it.
FIRST_FAILURE = 16
#: Codes from here up are those of users' stops, and no failures.
FIRST_OWN = 64
#: Largest code: an integer of 32 bits.
_MOST = 2**31 - 1
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,59}")


class _Way:
    """What an outcome and an ending have in common."""

    message: str

    @property
    def finished(self) -> bool:
        """True when the run will not be advanced any further."""
        return int(cast(int, self)) != 0

    @property
    def failed(self) -> bool:
        """True when the run ended for a numerical or set-up reason, not a physical one."""
        return FIRST_FAILURE <= int(cast(int, self)) < FIRST_OWN

    def __str__(self) -> str:
        """The sentence a person reads."""
        return self.message


class Ending(_Way, int):
    """A way for runs to end that is no ``Outcome``, or an outcome in a motion's own words.

    ``Ending(64, "in_pond", "came into the pond")``: the code that tables store, the word for it,
    and the sentence for a person. It equals its code.
    """

    name: str

    def __new__(cls, code: int, name: str, message: str) -> Self:
        """Checked: codes and words go into tables."""
        if isinstance(code, bool) or not isinstance(code, int) or not 0 <= code <= _MOST:
            raise InputError(
                f"code of an ending is {code!r}; it must be a whole number, from {FIRST_OWN} up "
                "for your own."
            )
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InputError(
                f"name of an ending is {name!r}; it must be a word of letters, digits, - and _ "
                'that begins with a letter, such as "in_pond".'
            )
        if not isinstance(message, str) or not message.strip() or not message.isprintable():
            raise InputError(
                f"sentence of an ending is {message!r}; it must say in one line how the run ended, "
                'such as "came into the pond".'
            )
        member = super().__new__(cls, code)
        member.name, member.message = name, message
        return member

    def __getnewargs__(self) -> Any:
        return int(self), self.name, self.message

    def __repr__(self) -> str:
        return f"Ending({int(self)}, {self.name!r}, {self.message!r})"


class Outcome(_Way, IntEnum):
    """The end of one run; a failed run is a row of the result, never a crash of the batch.

    The integer codes are stored in files and written by kernels: they never change meaning, codes
    from ``FIRST_FAILURE`` (16) up are failures, and those from ``FIRST_OWN`` (64) up are left to
    users' stops (``Ending``).
    """

    def __new__(cls, code: int, message: str) -> Self:
        """Build a member from its code and the sentence a person reads."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.message = message
        return member

    RUNNING = 0, "still running"
    SETTLED = 1, "came to rest on the surface"
    ESCAPED = 2, "left the neighbourhood of the body for good"
    TIMED_OUT = 3, "was still moving at the end of the simulated time"
    TIPPED_OVER = 4, "tipped over"
    OUT_OF_STEPS = 5, "was still moving when the allowed number of steps was used up"
    BELOW_HEIGHT = 6, "came below the height at which it was to end"
    # Of captures and drops on membranes.
    MISSED = 7, "never touched what it was to catch"
    LOST = 8, "left the membrane again"
    STRUCK = 9, "reached the bus through the membrane"
    HELD = 10, "was held at rest, with no drift that would end it"
    # Of stops that are shipped.
    IN_REGION = 11, "came into the region in which it was to end"
    OUT_OF_REGION = 12, "came outside the region in which it was to stay"
    HIT_COMPANION = 13, "hit the companion"
    SPIN_ABOVE = 14, "turned faster than the rate at which it was to end"
    STEP_FLOOR = 16, "failed: the step shrank to its floor without meeting the tolerance"
    # No longer given: a run that needs more steps than it may is OUT_OF_STEPS.
    STEP_LIMIT = 17, "failed: the allowed number of steps was used up"
    NOT_FINITE = 18, "failed: the state is no longer finite"
    STARTED_INSIDE = 19, "failed: the release point lies inside the body or the ground"
    SANK = 20, "failed: the lander got through the ground"
    GAINED_ENERGY = 21, "failed: contact gave more energy than it received"
    RIM = 24, "failed: reached past the rim of the membrane"

    @classmethod
    def of(cls, code: int) -> Self:
        """The member that an integer of a table or kernel stands for."""
        return cast(Self, cls._value2member_map_[int(code)])


#: Any way for a run to end.
AnyEnding = Outcome | Ending
#: Endings by code: a motion's own words, or those of stops.
Endings = Mapping[int, AnyEnding]

#: Cut short while still moving: by the simulated time, or by the allowed number of steps.
STILL_MOVING = (Outcome.TIMED_OUT, Outcome.OUT_OF_STEPS)
#: Those of stops that are shipped.
OF_STOPS = (
    Outcome.BELOW_HEIGHT,
    Outcome.IN_REGION,
    Outcome.OUT_OF_REGION,
    Outcome.HIT_COMPANION,
    Outcome.SPIN_ABOVE,
)


def outcome_of(code: int) -> Outcome:
    """The outcome that an integer of a table or kernel stands for."""
    return Outcome.of(code)


def ending_of(code: int, own: Endings | None = None) -> AnyEnding:
    """The ending that an integer of a table or kernel stands for: one of ``own``, or an outcome.

    A code that nobody has named, such as of a table without its plan, is an ending all the same.
    """
    number = int(code)
    if own is not None and number in own:
        return own[number]
    if number >= FIRST_OWN:
        return Ending(number, f"ending_{number}", f"ended with code {number}")
    return Outcome.of(number)


def counted(codes: Iterable[Any], own: Endings | None = None) -> dict[Any, int]:
    """How many of ``codes`` there are of each ending, in the order of codes."""
    found: dict[int, int] = {}
    for code in codes:
        found[int(code)] = found.get(int(code), 0) + 1
    return {ending_of(code, own): found[code] for code in sorted(found)}


def words(*endings: tuple[Outcome, str, str]) -> dict[int, Ending]:
    """A motion's own words for some outcomes: (outcome, name, sentence)."""
    return {int(code): Ending(int(code), name, said) for code, name, said in endings}


def own_endings(endings: Iterable[AnyEnding]) -> dict[int, Ending]:
    """Those of ``endings`` that are no ``Outcome``, by code; two of one code or name must agree."""
    found: dict[int, Ending] = {}
    names = {outcome.name.lower(): int(outcome) for outcome in Outcome}
    for one in endings:
        if isinstance(one, Outcome):
            continue
        code, word = int(one), one.name.lower()
        if code < FIRST_OWN:
            raise InputError(
                f'the ending "{one.name}" has the code {code}; codes below {FIRST_OWN} are those '
                f"of Alight. Take {FIRST_OWN} or more."
            )
        if names.setdefault(word, code) != code:
            raise InputError(
                f'two endings are called "{one.name}", of the codes {names[word]} and {code}; give '
                "one of them another name."
            )
        other = found.setdefault(code, one)
        if (other.name, other.message) != (one.name, one.message):
            raise InputError(
                f'the endings "{other.name}" and "{one.name}" have the same code, {code}; give one '
                "of them another."
            )
    return found
