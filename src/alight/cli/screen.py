"""What is written to the terminal: titles, keys and names of files may hold anything at all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import typer

from alight.core.text import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.segment import Segment


def echo(text: str, err: bool = False) -> None:
    """Print a line, on standard error if ``err``."""
    typer.echo(printable(text), err=err)


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
