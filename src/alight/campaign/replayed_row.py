"""Rows and contacts of one run as stored and as computed again: value by value, bit by bit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Difference:
    """A value that differs."""

    table: str
    """``"runs"``, ``"contacts"`` or ``"hops"``."""
    column: str
    stored: Any
    """None where it is empty."""
    found: Any
    number: int = 0
    """Of the contact or hop."""

    @property
    def relative(self) -> float:
        """Size of the difference over that of the larger value; inf where one is empty or text."""
        if not all(isinstance(x, int | float) for x in (self.stored, self.found)):
            return math.inf
        size = max(abs(self.stored), abs(self.found))
        apart = abs(self.found - self.stored)
        return float(apart / size) if size > 0.0 and math.isfinite(apart) else math.inf

    def __str__(self) -> str:
        where = "" if self.table == "runs" else f"{self.table.rstrip('s')} {self.number}, "
        shown = ["empty" if x is None else f"{x!r}" for x in (self.stored, self.found)]
        size = f" (relative {self.relative:.2g})" if math.isfinite(self.relative) else ""
        return f"{where}{self.column}: stored {shown[0]}, now {shown[1]}{size}"


def unlike(table: str, stored: Any, found: Any) -> Iterator[Difference]:
    """Where two ``pyarrow`` tables of one run differ; nothing where none is stored.

    A column that one of them lacks is a difference too: tables of other versions may have others.
    """
    if stored is None:
        return
    names = [*stored.column_names, *(n for n in found.column_names if n not in stored.column_names)]
    for name in names:
        there, here = (
            t[name].to_pylist() if name in t.column_names else [] for t in (stored, found)
        )
        for number in range(max(len(there), len(here))):
            old, new = (x[number] if number < len(x) else None for x in (there, here))
            if not same_bits(old, new):
                yield Difference(table, name, old, new, number)


def same_bits(one: Any, other: Any) -> bool:
    """Whether two values of a table are the same, to the last bit: 0 is not -0, nan is nan."""
    if isinstance(one, float) and isinstance(other, float):
        return np.float64(one).tobytes() == np.float64(other).tobytes() or (
            math.isnan(one) and math.isnan(other)
        )
    return type(one) is type(other) and bool(one == other)
