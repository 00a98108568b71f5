"""Writing the page of a comparison: as reports are, in one file with its figures inside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from alight.core.compile_notice import reported
from alight.core.progress import Progress, progress
from alight.core.stages import stage
from alight.views.compare.sections import sections
from alight.views.report.files import Report, not_written, page_file, write_page
from alight.views.report.page import Page, render
from alight.views.report.section import named
from alight.views.report.writing import Drawing

if TYPE_CHECKING:
    from alight.views.compare.findings import Comparison

#: Name of the page where a folder is given.
PAGE = "comparison.html"


def comparison_file(out: Path) -> Path:
    """The page that a file or a folder stands for."""
    is_page = out.suffix.lower() in (".html", ".htm") and not out.is_dir()
    return page_file(out if is_page else out / PAGE)


def write(found: Comparison, out: Path, show: str | Progress = "auto") -> Report:
    """Write the page and its figures."""
    page = comparison_file(out)
    with reported(show), stage("Comparing"), progress(show) as bar:
        return _written(found, page, bar)


def _written(found: Comparison, page: Path, bar: Progress) -> Report:
    made = sections(found)
    figures = sum(len(one.figures) for one in made)
    answers = [pair for one in made for pair in one.answers]
    warnings = [line for one in made for line in one.warnings]
    try:
        drawn = Drawing(page.parent, figures, bar)
        body = drawn.all([one for one in made if one.parts])
        names = named([side.name for side in found.sides])
        title, subtitle = f"Comparison: {names}", _subtitle(found)
        told = Page(title, subtitle, body, warnings=warnings, answers=answers)
        write_page(page, render(told, drawn.svg_of))
    except OSError as error:
        raise not_written(page, error) from None
    return Report(page, drawn.files, dict(made[0].numbers), answers, warnings, {})


def _subtitle(found: Comparison) -> str:
    titles = list(dict.fromkeys(side.found.data.title for side in found.sides))
    runs = ", ".join(f"{side.runs}" for side in found.sides)
    return f"{'; '.join(titles)}: {runs} {found.first.found.things}"
