"""The words of a sheet: facts in rows, and sentences below them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from alight.views import style


@dataclass(frozen=True)
class Words:
    """What is written beside the pictures of a sheet."""

    title: str
    subtitle: str
    facts: Sequence[tuple[str, str]]
    """(name, value with unit) rows."""
    notes: Sequence[str] = ()
    """Sentences below them."""
    source: str = ""
    """Where the shape comes from."""
    method: str = ""
    """How the field was computed."""


def draw_facts(axes: Axes, facts: Iterable[tuple[str, str]], step: float) -> float:
    """Names on the left, values on the right, thin lines between; returns where they end."""
    axes.set_axis_off()
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.0)
    y = 1.0 - 0.5 * step
    for name, value in facts:
        axes.text(0.0, y, name, va="center", color=style.GREY)
        axes.text(1.0, y, value, va="center", ha="right")
        axes.plot([0.0, 1.0], [y - 0.5 * step] * 2, color=style.LINE, linewidth=0.5)
        y -= step
    return y


def draw_notes(
    axes: Axes, y: float, notes: Iterable[str], wrap: int, line: float, gap: float, **look: Any
) -> float:
    """Sentences from ``y`` down, in lines of ``wrap`` letters; returns where they end."""
    for note in notes:
        lines = textwrap.wrap(note, wrap)
        axes.text(0.0, y, "\n".join(lines), va="top", **look)
        y -= line * len(lines) + gap
    return y
