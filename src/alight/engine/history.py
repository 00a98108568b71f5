"""The history of one run in bounded memory: lines are thinned as it grows, by a rule of numbers.

A run of ten million steps would take gigabytes. Kept are the first line, the last one, and

- each line whose number is divisible by ``every``,
- the lines on both sides of each change of phase (the last of flight, the first of contact, and so
  on) of each contact whose number is divisible by ``contacts``.

Both are powers of two, the smallest with which the lines fit, and depend on nothing but how many
lines and changes there were: not on when or in which portions lines came.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.checks import checked_whole

#: Lines that are kept of one run if nothing else is asked for: 14 MB of a rigid lander, some ten
#: times that of an articulated one.
MAX_LINES = 100_000

#: Fewest lines that can be asked for: room for a contact, for both ends, and for some between.
FEWEST = 16

# More than any number has factors of two.
_ALWAYS = 62

Ranks = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Thinning:
    """Which lines of a run are kept."""

    steps: int
    """Steps of the run, all of them."""
    every: int = 1
    """One line in this number is kept; 1 where all are."""
    contacts: int = 1
    """Of one contact in this number the first and last lines are kept; 1 where those of all are."""

    def __str__(self) -> str:
        if self.every == 1:
            return f"{self.steps} steps"
        which = "each contact" if self.contacts == 1 else f"one contact in {self.contacts}"
        return (
            f"{self.steps} steps (kept: one in {self.every}, and the first and last of {which}; "
            "max_lines allows more)"
        )


def line_limit(max_lines: int | None) -> int:
    """How many lines a user asks for; None is ``MAX_LINES``."""
    return MAX_LINES if max_lines is None else checked_whole("max_lines", max_lines, FEWEST)


class History:
    """Lines of one run in order, at most ``most`` of them at any time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._total = self._changes = 0
        self._parts: list[tuple[Any, Ranks, Ranks]] = []
        # The last line so far: kept for now, whatever becomes of it when the next ones come.
        self._last: Any = None
        self._last_edge, self._last_phase = -1, 0

    def add(self, lines: Any, phases: npt.NDArray[Any]) -> None:
        """Take further lines, with the phase of each; they are copied."""
        n = len(lines)
        if n == 0:
            return
        start = phases[0] if self._last is None else self._last_phase
        change = np.flatnonzero(np.diff(phases, prepend=start))
        # Place 0 is the last line before these.
        edges = np.full(n + 1, -1, dtype=np.int8)
        rank = _twos((self._changes + np.arange(len(change))) // 2)
        for place in (change, change + 1):
            np.maximum.at(edges, place, rank)
        edges[0] = max(edges[0], self._last_edge)
        ranks = _twos(self._total - 1 + np.arange(n + 1))
        if self._last is not None:
            self._keep(self._last, ranks[:1], edges[:1])
        self._keep(lines[:-1], ranks[1:-1], edges[1:-1])
        self._last, self._last_edge, self._last_phase = lines[-1:].copy(), edges[-1], phases[-1]
        before = self._levels()
        self._total, self._changes = self._total + n, self._changes + len(change)
        if self._levels() != before:
            held, self._parts = self._parts, []
            for part in held:
                self._keep(*part)

    def _keep(self, lines: Any, ranks: Ranks, edges: Ranks) -> None:
        line_level, edge_level = self._levels()
        kept = (ranks >= line_level) | (edges >= edge_level)
        if kept.any():
            self._parts.append((lines[kept], ranks[kept], edges[kept]))

    def _levels(self) -> tuple[int, int]:
        """Factors of two that the number of a line, and that of a contact, must have."""
        half, contacts = self._most // 2, -(-self._changes // 2)
        room = self._most - min(4 * contacts, half) - 1
        return _level(self._total, room), _level(contacts, half // 4)

    @property
    def parts(self) -> list[Any]:
        """What is kept, in order."""
        last = [] if self._last is None else [self._last]
        return [lines for lines, _, _ in self._parts] + last

    def thinning(self, releases: int) -> Thinning:
        """Which lines are kept; ``releases`` of those that came are of no step."""
        line_level, edge_level = self._levels()
        return Thinning(self._total - releases, 1 << line_level, 1 << edge_level)


def _level(count: int, room: int) -> int:
    """Smallest power of two by which ``count`` numbers from 0 on are thinned to ``room``."""
    level = 0
    while -(-count >> level) > room:
        level += 1
    return level


def _twos(numbers: npt.NDArray[np.int64]) -> Ranks:
    """How often two divides each number; ``_ALWAYS`` for 0."""
    lowest = (numbers & -numbers).astype(np.float64)
    return np.where(numbers == 0, _ALWAYS, np.frexp(lowest)[1] - 1).astype(np.int8)
