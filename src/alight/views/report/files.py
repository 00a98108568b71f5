"""What every report writes: a page that needs nothing else, and its figures beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from alight.core.errors import FileError

#: Name of the page, and of the folder beside it for figures, where none is given.
PAGE, FIGURES = "report.html", "figures"


@dataclass(frozen=True, eq=False)
class Report:
    """What was written."""

    page: Path
    figures: list[Path]
    """PNG and SVG files."""
    numbers: dict[str, object]
    """Key numbers, in SI units and degrees, or in the units that their names end in."""
    answers: list[tuple[str, str]]
    """The questions and what the page says to them."""
    warnings: list[str]
    files: dict[str, Path]
    """Tables beside the page, by their keys in ``--json``."""

    @property
    def light_table(self) -> Path | None:
        """Light at each place that was looked at, as Parquet; None where none was asked for."""
        return self.files.get("light_table")


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
    """What a user reads who named a place that cannot be written."""
    if isinstance(error, FileError):
        return error
    why = error.strerror or error
    return FileError(
        f'cannot write the report to "{page}": {why}. Name another place for it with --out.'
    )
