"""A page that would fetch something from elsewhere stops the build: fonts, scripts, pictures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*\b(?:src|data)=[\"']?"
    r"((?:https?:)?//[^\"'\s>]+)"
    r"|<link\b(?=[^>]*\brel=[\"']?(?:stylesheet|preload|icon))[^>]*\bhref=[\"']?"
    r"((?:https?:)?//[^\"'\s>]+)"
)
_IMPORTED = re.compile(r"(?:@import\s+|url\()[\"']?((?:https?:)?//[^\"')\s]+)")


def loaded_from_elsewhere(text: str, suffix: str) -> list[str]:
    """Addresses that a browser would fetch by itself to show an HTML or CSS file."""
    pattern = _IMPORTED if suffix == ".css" else _LOADED
    return [next(filter(None, match.groups())) for match in pattern.finditer(text)]


def look(app: Sphinx, failed: Exception | None) -> None:
    """Look through all files of the site."""
    if failed or app.builder.format != "html":
        return
    for file in sorted(Path(app.outdir).rglob("*")):
        if file.suffix in (".html", ".css"):
            for address in loaded_from_elsewhere(file.read_text("utf-8"), file.suffix):
                logging.getLogger(__name__).warning("%s would load %s", file.name, address)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("build-finished", look)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
