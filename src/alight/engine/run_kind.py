"""What sets the runs of one kind of motion apart for people: a noun, and how they end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from alight.core.outcomes import FIRST_FAILURE, Ending, Outcome


@dataclass(frozen=True)
class RunKind:
    """One kind of runs."""

    word: str
    """What scenario files call it under ``kind``."""
    noun: str
    """What a bar calls them."""
    endings: type[Ending]
    """What the codes of seals and tables mean."""
    shown: Mapping[str, Ending]
    """Ends that a bar always counts, by the word for them."""
    seldom: Mapping[str, Ending] = field(default_factory=dict)
    """Ends that it counts where there are any; other failures are counted together."""

    def facts(self, outcomes: Mapping[int, int]) -> dict[str, int]:
        """Numbers of ends as a bar shows them."""
        told = {word: outcomes.get(int(code), 0) for word, code in self.shown.items()}
        few = {word: outcomes.get(int(code), 0) for word, code in self.seldom.items()}
        named = {int(code) for code in (*self.shown.values(), *self.seldom.values())}
        few["failed"] = sum(
            n for code, n in outcomes.items() if code >= FIRST_FAILURE and code not in named
        )
        return told | {word: n for word, n in few.items() if n}


LANDINGS = RunKind(
    "landing",
    "Landings",
    Outcome,
    {"settled": Outcome.SETTLED, "escaped": Outcome.ESCAPED},
    {
        "tipped": Outcome.TIPPED_OVER,
        "timed_out": Outcome.TIMED_OUT,
        "out_of_steps": Outcome.OUT_OF_STEPS,
    },
)
