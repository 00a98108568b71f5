"""What every report writes: a page that needs nothing else, and its figures beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alight.core.errors import FileError
from alight.views import report_page as html

#: Name of the page, and of the folder beside it for figures, where none is given.
PAGE, FIGURES = "report.html", "figures"

Draw = Callable[..., None]


@dataclass(frozen=True, eq=False)
class Report:
    """What was written."""

    page: Path
    figures: list[Path]
    """PNG and SVG files."""
    numbers: dict[str, object]
    """Key numbers, SI and degrees."""
    answers: list[tuple[str, str]]
    """The questions and what the page says to them."""
    warnings: list[str]
    light_table: Path | None = None
    """Light at each place that was looked at, as Parquet; None where light was not asked for."""


class Shelf:
    """Draws figures of what was found and remembers their files."""

    def __init__(self, found: Any, page: Path, on_figure: Callable[[], None] | None) -> None:
        self.found, self.folder, self.on_figure = found, page.parent / FIGURES, on_figure
        self.files: list[Path] = []

    def draw(self, stem: str, draw: Draw, alt: str, caption: str) -> str:
        """Draw a figure as PNG and SVG; the HTML that shows the SVG."""
        made = [self.folder / f"{stem}.png", self.folder / f"{stem}.svg"]
        draw(self.found, *made)
        self.files += made
        if self.on_figure is not None:
            self.on_figure()
        return html.picture(html.Picture(made[1], alt, caption))


def page_file(out: Path) -> Path:
    """The page that a file or a folder stands for; at most its folder is not there yet."""
    page = out if out.suffix.lower() in (".html", ".htm") and not out.is_dir() else out / PAGE
    if not page.parent.is_dir() and not page.parent.parent.is_dir():
        raise FileError(
            f'cannot write the report to "{page}": there is no folder {page.parent.parent}. A '
            "report makes one folder at most, in one that is there. Make it first, or name another "
            "place with --out."
        )
    return page


def write_page(page: Path, text: str) -> None:
    """Write the page; its folder is made where it is absent, and none above it."""
    page.parent.mkdir(exist_ok=True)
    page.write_text(text, encoding="utf-8", newline="\n")


def not_written(page: Path, error: OSError) -> FileError:
    """What a user is told who named a place that cannot be written."""
    if isinstance(error, FileError):
        return error
    why = error.strerror or error
    return FileError(
        f'cannot write the report to "{page}": {why}. Name another place for it with --out.'
    )
