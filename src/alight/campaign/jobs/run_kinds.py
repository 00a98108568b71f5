"""What sets the runs of one kind of scenario apart: how they end, and which tables they fill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from alight.core.outcomes import FIRST_FAILURE, Ending, Outcome
from alight.motions.capture.result import CaptureOutcome
from alight.motions.membrane.result import MembraneOutcome


@dataclass(frozen=True)
class RunKind:
    """One kind of runs."""

    noun: str
    """What a bar calls them."""
    endings: type[Ending]
    """What the codes of seals and tables mean."""
    shown: dict[str, Ending]
    """Ends that a bar always counts, by the word for them."""
    seldom: dict[str, Ending] = field(default_factory=dict)
    """Ends that it counts where there are any; other failures are counted together."""
    tables: tuple[str, ...] = ("runs",)
    """Tables that each shard has."""

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
    "Landings",
    Outcome,
    {"settled": Outcome.SETTLED, "escaped": Outcome.ESCAPED},
    {
        "tipped": Outcome.TIPPED_OVER,
        "timed_out": Outcome.TIMED_OUT,
        "out_of_steps": Outcome.OUT_OF_STEPS,
    },
    ("runs", "contacts"),
)
CAPTURES = RunKind(
    "Captures",
    CaptureOutcome,
    {
        "held": CaptureOutcome.HELD,
        "at_rest": CaptureOutcome.AT_REST,
        "moving": CaptureOutcome.UNSETTLED,
    },
    {
        "rim": CaptureOutcome.RIM,
        "lost": CaptureOutcome.LOST,
        "missed": CaptureOutcome.MISSED,
        "struck": CaptureOutcome.STRUCK,
    },
)
DROPS = RunKind(
    "Drops",
    MembraneOutcome,
    {"done": MembraneOutcome.TIMED_OUT, "released": MembraneOutcome.RELEASED},
    {"rim": MembraneOutcome.RIM},
)

#: By what scenario files say under ``kind``.
RUN_KINDS = {"landing": LANDINGS, "capture": CAPTURES, "drop": DROPS}


def run_kind(scenario: Mapping[str, Any]) -> RunKind:
    """The kind of runs of a resolved scenario; one that does not say is a landing."""
    return RUN_KINDS[scenario.get("kind", "landing")]
