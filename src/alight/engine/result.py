"""How the runs of a batch ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from alight.core.checks import Array
from alight.core.outcomes import AnyEnding, Endings, Outcome, counted, ending_of


@dataclass(frozen=True, eq=False)
class BatchResult:
    """How the runs of a batch ended; row i is run i."""

    final: Any
    """Structured array of last states and tallies: the fields of a motion's run and notes."""
    touches: Any
    """Structured array of all contacts, by run and then by time (see ``engine.records.Touch``)."""
    endings: Endings = field(default_factory=dict, kw_only=True)
    """What codes mean beside those of ``core.outcomes.Outcome``, or in the motion's own words."""

    @property
    def outcome(self) -> Any:
        """(n,) codes of ``core.outcomes.Outcome``, or of ``endings``."""
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

    def ending(self, code: int) -> AnyEnding:
        """What a code means: its name, and the sentence that a person reads."""
        return ending_of(code, self.endings)

    def count(self) -> dict[AnyEnding, int]:
        """How many runs ended in each way."""
        return counted(self.outcome, self.endings)

    def __len__(self) -> int:
        return len(self.final)
