"""The page of a report: HTML in one file, made from templates, with its style and images inside.

It loads nothing: no script, no font, no image from elsewhere. The script of viewers is on the page
where there is one. It reads on a telephone and prints
on A4 or letter paper. Templates escape whatever they are given.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from alight.views.report.section import Figure, Part, Section, Viewer

#: Where templates lie.
TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Page:
    """What stands on a page, in its order."""

    title: str
    subtitle: str
    sections: Sequence[Section]
    opening: Sequence[Part] = ()
    """Before all else."""
    warnings: Sequence[str] = ()
    answers: Sequence[tuple[str, str]] = ()
    note: str = ""
    """Below the answers: what their intervals are."""


@cache
def _template(name: str) -> Any:
    import jinja2  # only those who write a page wait for it

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return made.get_template(name)


def render(page: Page, svg_of: Callable[[Figure], Path]) -> str:
    """The whole page as text; ``svg_of`` says where the image of a figure lies."""

    def image(part: Figure) -> str:
        return base64.b64encode(svg_of(part).read_bytes()).decode("ascii")

    text: str = _template("page.html").render(**vars(page), image=image, **_viewers(page))
    return text.lstrip()


def _viewers(page: Page) -> dict[str, str]:
    """Style and script of viewers, where there is one."""
    parts = [part for section in page.sections for part in section.parts]
    if not any(isinstance(part, Viewer) for part in parts):
        return {"viewer_style": "", "viewer_script": ""}
    from alight.views.viewer.page import script_text, style_text

    return {"viewer_style": style_text(), "viewer_script": script_text()}
