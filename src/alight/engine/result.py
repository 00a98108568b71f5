"""How the runs of a batch ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.core.checks import Array
from alight.core.outcomes import Outcome, outcome_of


@dataclass(frozen=True, eq=False)
class BatchResult:
    """How the runs of a batch ended; row i is run i."""

    final: Any
    """Structured array of last states and tallies: the fields of a motion's run and notes."""
    touches: Any
    """Structured array of all contacts, by run and then by time (see ``engine.records.Touch``)."""

    @property
    def outcome(self) -> Any:
        """(n,) codes of ``core.outcomes.Outcome``."""
        return self.final["outcome"]

    @property
    def time(self) -> Array:
        """(n,) when each run ended [s]."""
        return np.asarray(self.final["t"])

    @property
    def position(self) -> Array:
        """(n, 3) where, in target axes [m]."""
        return np.asarray(self.final["x"])

    @property
    def attitude(self) -> Array:
        """(n, 4) how turned, xyzw, body to target axes."""
        return np.asarray(self.final["q"])

    @property
    def bounces(self) -> Any:
        """(n,) contacts of each run, the last included."""
        return self.final["touches"]

    @property
    def settled(self) -> Any:
        """(n,) whether each run came to rest."""
        return self.outcome == Outcome.SETTLED

    @property
    def touched(self) -> Any:
        """(n,) whether each run touched anything."""
        return self.final["touches"] > 0

    def count(self) -> dict[Outcome, int]:
        """How many runs ended in each way."""
        codes, counts = np.unique(self.outcome, return_counts=True)
        return {outcome_of(c): int(n) for c, n in zip(codes, counts, strict=True)}

    def __len__(self) -> int:
        return len(self.final)
