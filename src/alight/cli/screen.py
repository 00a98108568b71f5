"""What is written to the terminal: titles, keys and names of files may hold anything at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer

from alight.core.text import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.segment import Segment
    from rich.table import Table


def echo(text: str, err: bool = False) -> None:
    """Print a line, on standard error if ``err``."""
    typer.echo(printable(text), err=err)


def echo_json(told: Any) -> None:
    """Print for scripts: JSON in plain ASCII, which every terminal and file can hold."""
    echo(json.dumps(told, indent=2, allow_nan=False))


def console(stderr: bool = False) -> Console:
    """A console that writes out control characters of what it shows; its own remain."""
    from rich.console import Console
    from rich.segment import Segment

    class Screen(Console):
        def render(
            self, renderable: Any, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for piece in super().render(renderable, options):
                own = piece.control is not None or piece.text.isprintable()
                yield piece if own else Segment(printable(piece.text), piece.style)

    return Screen(stderr=stderr)


def lines(console: Console, told: Iterable[str], style: str = "") -> None:
    """Print lines as they stand: brackets are no markup, and nothing breaks them."""
    from rich.text import Text

    for line in told:
        console.print(Text(line, style=style), soft_wrap=True)


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str | None = None,
    right: Iterable[int] = (),
    styles: Sequence[str] = (),
) -> Table:
    """Rows of plain texts below ``heads``, if these have any; columns ``right`` stand right."""
    from rich.box import ROUNDED
    from rich.table import Table
    from rich.text import Text

    made = Table(title=title, title_justify="left", show_header=any(heads), box=ROUNDED)
    numbers = set(right)
    for k, head in enumerate(heads):
        justify: Any = "right" if k in numbers else "left"
        style = styles[k] if styles else ""
        made.add_column(Text(head), style=style, justify=justify, overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made
