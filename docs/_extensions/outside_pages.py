"""Pages of the repository that lie outside ``docs`` as pages of the site, and links to the rest.

They are written into ``docs/project`` when the site is built: there is no second copy to keep.
Links between them and the pages of ``docs`` are rewritten both ways; a link to any other file of
the repository (code, an example) becomes its name, as the site has no copy of it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Files of the repository, and their pages.
PAGES = {
    "ARCHITECTURE.md": "architecture",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "benchmarks/RESULTS.md": "benchmarks",
}
_LINK = re.compile(r"(?<!!)\[([^]]*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"(^```.*?^```)", re.M | re.S)


def rewritten(text: str, file: Path, page: Path, docs: Path) -> str:
    """The text of a file as its page has it: links lead where the site has something."""

    def one(match: re.Match[str]) -> str:
        words, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match.group(0)
        name, mark, anchor = target.partition("#")
        aim = Path(os.path.normpath(file.parent / name))
        within = _page_of(aim, docs)
        if within is None:
            return words
        return f"[{words}]({os.path.relpath(within, page.parent)}{mark}{anchor})"

    return "".join(
        part if part.startswith("```") else _LINK.sub(one, part) for part in _FENCE.split(text)
    )


def _page_of(aim: Path, docs: Path) -> Path | None:
    """The file of the site that stands for a file of the repository; None if there is none."""
    if aim.is_relative_to(docs):
        return aim
    name = aim.relative_to(docs.parent).as_posix() if aim.is_relative_to(docs.parent) else ""
    if name == "README.md":
        return docs / "index.md"
    return docs / "project" / f"{PAGES[name]}.md" if name in PAGES else None


def write_pages(app: Sphinx) -> None:
    """Write the pages, those that have changed alone: Sphinx reads what is newer."""
    docs = Path(app.srcdir)
    for name, page in PAGES.items():
        file, out = docs.parent / name, docs / "project" / f"{page}.md"
        out.parent.mkdir(exist_ok=True)
        text = rewritten(file.read_text("utf-8"), file, out, docs)
        if not out.is_file() or out.read_text("utf-8") != text:
            out.write_text(text, encoding="utf-8")


def read_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Links of pages of ``docs`` that lead outside."""
    page = Path(app.env.doc2path(name))
    if page.suffix == ".md" and page.parent.name != "project":
        source[0] = rewritten(source[0], page, page, Path(app.srcdir))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("source-read", read_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
