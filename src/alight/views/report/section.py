"""What a report is made of: sections, and the words, tables and figures in them.

A section is told once and serves the page, the screen and ``--json``: what it answers in the lead,
what it warns of, its numbers, and its parts. A section without parts has no place of its own on the
page.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

#: Writes a figure into the files that it is given, or a table into one.
Writer = Callable[..., object]


@dataclass(frozen=True)
class Paragraph:
    """Words."""

    text: str

    def html(self) -> str:
        """As it stands on the page."""
        return f"<p>{escape(self.text)}</p>"


@dataclass(frozen=True)
class Listing:
    """Sentences, one below the other."""

    lines: Sequence[str]

    def html(self) -> str:
        """As it stands on the page."""
        return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in self.lines) + "</ul>"


@dataclass(frozen=True)
class Table:
    """Rows of words; columns whose places are in ``numbers`` are set to the right."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[int] = ()

    def html(self) -> str:
        """As it stands on the page."""
        top = f"<thead><tr>{self._cells(self.head, 'th')}</tr></thead>\n" if self.head else ""
        body = "\n".join(f"<tr>{self._cells(row, 'td')}</tr>" for row in self.rows)
        return f'<div class="scroll"><table>\n{top}<tbody>\n{body}\n</tbody>\n</table></div>'

    def _cells(self, row: Sequence[str], tag: str) -> str:
        marks = (' class="n"' if k in self.numbers else "" for k in range(len(row)))
        found = zip(row, marks, strict=True)
        return "".join(f"<{tag}{mark}>{escape(text)}</{tag}>" for text, mark in found)


@dataclass(frozen=True)
class Facts:
    """Names and values."""

    rows: Sequence[tuple[str, str]]

    def html(self) -> str:
        """As it stands on the page."""
        body = "\n".join(
            f'<tr><td>{escape(name)}</td><td class="long">{escape(value)}</td></tr>'
            for name, value in self.rows
        )
        return f'<div class="scroll"><table><tbody>\n{body}\n</tbody></table></div>'


@dataclass(frozen=True)
class Code:
    """Text of a file."""

    text: str

    def html(self) -> str:
        """As it stands on the page."""
        return f"<pre>{escape(self.text)}</pre>"


@dataclass(frozen=True)
class Figure:
    """A figure, drawn when the page is made."""

    stem: str
    """Name of its files, without their endings."""
    draw: Writer
    """``draw(*files)`` draws it into each of these files, a PNG and an SVG."""
    alt: str
    """What it shows, for who cannot see it."""
    caption: str

    def html(self, svg: Path) -> str:
        """With the image inside the page."""
        data = base64.b64encode(svg.read_bytes()).decode("ascii")
        image = f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(self.alt)}">'
        return (
            f"<figure><div>{image}</div>\n<figcaption>{escape(self.caption)}</figcaption></figure>"
        )


Part = Paragraph | Listing | Table | Facts | Code | Figure


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

    @property
    def figures(self) -> list[Figure]:
        """Its figures."""
        return [part for part in self.parts if isinstance(part, Figure)]


def named(items: Iterable[str]) -> str:
    """``a, b and c``."""
    told = list(items)
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
