"""What a report is made of: sections, and the words, tables and figures in them.

A section is written once and serves the page, the screen and ``--json``: what it answers in the
lead, what it warns of, its numbers, and its parts. A section without parts has no place of its own
on the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

#: Writes a figure into the files that it is given, or a table into one.
Writer = Callable[..., object]


@dataclass(frozen=True)
class Paragraph:
    """Words."""

    kind: ClassVar[str] = "paragraph"
    text: str


@dataclass(frozen=True)
class Heading:
    """A title within a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Listing:
    """Sentences, one below the other."""

    kind: ClassVar[str] = "listing"
    lines: Sequence[str]


@dataclass(frozen=True)
class Table:
    """Rows of words; columns whose places are in ``numbers`` are set to the right."""

    kind: ClassVar[str] = "table"
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[int] = ()


@dataclass(frozen=True)
class Verdicts:
    """Requirements in a box: a headline, and rows that begin with a verdict."""

    kind: ClassVar[str] = "verdicts"
    headline: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    marks: Sequence[str]
    """``pass``, ``fail`` or ``open`` of each row."""

    @property
    def mark(self) -> str:
        """Of the whole box: the worst."""
        return next((m for m in ("fail", "open") if m in self.marks), "pass")


@dataclass(frozen=True)
class Facts:
    """Names and values."""

    kind: ClassVar[str] = "facts"
    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Text of a file."""

    kind: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True)
class Figure:
    """A figure, drawn when the page is made."""

    kind: ClassVar[str] = "figure"
    stem: str
    """Name of its files, without their endings."""
    draw: Writer
    """``draw(*files)`` draws it into each of these files, a PNG and an SVG."""
    alt: str
    """What it shows, for who cannot see it."""
    caption: str


@dataclass(frozen=True)
class Viewer:
    """Runs in three dimensions, as ``views.viewer.fragment`` writes them."""

    kind: ClassVar[str] = "viewer"
    html: str


Part = Paragraph | Heading | Listing | Table | Verdicts | Facts | Code | Figure | Viewer


@dataclass(frozen=True)
class Section:
    """One story of a report."""

    title: str = ""
    parts: Sequence[Part] = ()
    """In their order; none where there is nothing to show."""
    answers: Sequence[tuple[str, str]] = ()
    """Questions that it answers in the lead of the page and on the screen, and the answers."""
    warnings: Sequence[str] = ()
    """What a reader must know before trusting the numbers."""
    numbers: Mapping[str, object] = field(default_factory=dict)
    """For scripts, in the types that JSON has."""
    files: Mapping[str, tuple[str, Writer]] = field(default_factory=dict)
    """Tables beside the page: key in ``--json``, name of the file, and what writes it."""

    opening: Sequence[Part] = ()
    """What stands before all else on the page."""

    @property
    def anchor(self) -> str:
        """What links within the page call it."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-") or "section"

    @property
    def figures(self) -> list[Figure]:
        """Its figures."""
        return [part for part in self.parts if isinstance(part, Figure)]


def named(items: Iterable[str]) -> str:
    """``a, b and c``."""
    told = list(items)
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
