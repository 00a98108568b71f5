"""What sets the runs of one kind of motion apart for people: a noun, and how they end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from alight.core.outcomes import OF_STOPS, AnyEnding, Ending, Endings, Outcome, ending_of


@dataclass(frozen=True)
class RunKind:
    """One kind of runs."""

    word: str
    """What scenario files call it under ``kind``."""
    noun: str
    """What a bar calls them."""
    words: Endings
    """What the codes of seals and tables mean where they are no ``Outcome``, or in its words."""
    shown: Mapping[str, AnyEnding]
    """Ends that a bar always counts, by the word for them."""
    seldom: Mapping[str, AnyEnding] = field(default_factory=dict)
    """Ends that it counts where there are any; other failures are counted together."""

    def having(self, own: Mapping[int, Ending]) -> RunKind:
        """The same with the endings of a campaign's stops."""
        if not own:
            return self
        named = {ending.name.lower(): ending for ending in own.values()}
        return replace(self, words={**self.words, **own}, seldom={**self.seldom, **named})

    def ending(self, code: int) -> AnyEnding:
        """What a code means."""
        return ending_of(code, self.words)

    def facts(self, outcomes: Mapping[int, int]) -> dict[str, int]:
        """Numbers of ends as a bar shows them."""
        told = {word: outcomes.get(int(code), 0) for word, code in self.shown.items()}
        few = {word: outcomes.get(int(code), 0) for word, code in self.seldom.items()}
        named = {int(code) for code in (*self.shown.values(), *self.seldom.values())}
        few["failed"] = sum(
            n for code, n in outcomes.items() if self.ending(code).failed and code not in named
        )
        return told | {word: n for word, n in few.items() if n}


#: Ends of stops that are shipped, which any run may have.
STOPPED: dict[str, AnyEnding] = {outcome.name.lower(): outcome for outcome in OF_STOPS}

LANDINGS = RunKind(
    "landing",
    "Landings",
    {},
    {"settled": Outcome.SETTLED, "escaped": Outcome.ESCAPED},
    {
        "tipped": Outcome.TIPPED_OVER,
        "timed_out": Outcome.TIMED_OUT,
        "out_of_steps": Outcome.OUT_OF_STEPS,
        **STOPPED,
    },
)
