"""The viewer as HTML: a part of a report, a page of its own, or inline in a notebook."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from alight.core.errors import FileError, InputError
from alight.views.playback import Playback
from alight.views.viewer.scene import Encoded, encoded
from alight.views.viewer.still import still_png

TEMPLATES = Path(__file__).parent / "templates"
#: In the order in which they need each other.
SCRIPTS = (
    *("decode.js", "algebra.js", "shaders.js", "drawing.js", "motion.js", "camera.js"),
    *("panel.js", "viewer.js", "hands.js"),
)
#: Height of a viewer in a notebook [CSS pixels].
INLINE = 760


@cache
def _templates() -> Any:
    import jinja2  # only those who write a page wait for it

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def style_text() -> str:
    """The style sheet of viewers, once a page."""
    return (TEMPLATES / "viewer.css").read_text(encoding="utf-8")


def script_text() -> str:
    """The script of viewers, once a page, after all of them."""
    parts = [(TEMPLATES / name).read_text(encoding="utf-8") for name in SCRIPTS]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "\n})();\n"


def fragment(playback: Playback, made: Encoded | None = None) -> str:
    """A viewer, without style and script."""
    made = made or encoded(playback)
    text: str = _templates().get_template("viewer.html").render(**_given(playback, made))
    return text


def page_text(playback: Playback, made: Encoded | None = None) -> str:
    """A page that shows a playback and nothing else; it loads nothing."""
    import markupsafe  # a part of jinja2

    own = {"style": markupsafe.Markup(style_text()), "script": markupsafe.Markup(script_text())}
    given = _given(playback, made or encoded(playback))
    text: str = _templates().get_template("standalone.html").render(**own, **given)
    return text


def _given(playback: Playback, made: Encoded) -> dict[str, Any]:
    return {"title": playback.title, "data": made.text, "still": still_png(playback)}


@dataclass(frozen=True, eq=False)
class View:
    """A playback as people look at it: a page, shown inline where a notebook shows it."""

    playback: Playback

    @property
    def text(self) -> str:
        """The page."""
        return page_text(self.playback)

    def save(self, out: str | os.PathLike[str]) -> Path:
        """Write the page to a file."""
        path = Path(out)
        if path.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"{path} is no name of a page; it must end in .html.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.text, encoding="utf-8")
        except OSError as cause:
            raise FileError(f"{path} could not be written: {cause.strerror or cause}.") from None
        return path

    def _repr_html_(self) -> str:
        inside = html.escape(self.text, quote=True)
        return (
            f'<iframe srcdoc="{inside}" style="width:100%;height:{INLINE}px;border:0" '
            'title="Alight viewer" allowfullscreen></iframe>'
        )

    def __repr__(self) -> str:
        return f"<View: {self.playback.title}, {len(self.playback.tracks)} runs>"
