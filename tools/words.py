"""Words that users should not meet, as docs/reference/words.md lists them, and where they stand.

``python -m tools.words`` prints every place. Read are pages, shipped scenarios, templates of pages,
and strings of the package: messages, screens, docstrings. Left out are docstrings inside kernels (a
change there makes every user compile them again) and strings without a blank, which are names.
"""

from __future__ import annotations

import ast
import pathlib
import re
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "words.md"
#: Pages that are records of what was run, named by tests: they change when it is run again.
RECORDS = (PAGE, ROOT / "docs" / "reference" / "validation.md")
#: Decorators of what becomes part of a kernel.
OF_KERNELS = ("wp.func", "wp.kernel", "wp.struct", "out_of_line")


def unwanted() -> list[str]:
    """The words of the right column, from the page."""
    table = PAGE.read_text("utf-8").partition("## Words that are not used")[2]
    rows = [line.split("|")[2] for line in table.splitlines() if line.startswith("| ")]
    return [word for row in rows for word in re.findall(r'"([^"]+)"', row)]


def pattern(words: list[str]) -> re.Pattern[str]:
    """Finds any of the words, also over the end of a line."""
    ordered = sorted(words, key=len, reverse=True)
    parts = [r"\s+".join(map(re.escape, word.split())) for word in ordered]
    return re.compile(rf"\b(?:{'|'.join(parts)})\b", re.I)


def found(text: str, finder: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Lines of a text, from 0, and the words in them; ``of course`` is English."""
    for hit in finder.finditer(text):
        if text[: hit.start()].lower().endswith("of ") and hit.group().lower() == "course":
            continue
        yield text[: hit.start()].count("\n"), hit.group()


def prose(page: str) -> str:
    """A page without code in a line and targets of links; lines stay where they are."""
    return re.sub(r"``[^`]+``|`[^`\n]*`|\]\([^)\n]*\)", "", page)


def strings(source: str) -> Iterator[tuple[int, str]]:
    """Strings of a module that a user may read, with the lines they begin in."""
    yield from _strings(ast.parse(source))


def _strings(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        marks = [ast.unparse(mark) for mark in node.decorator_list]
        if any(mark.startswith(OF_KERNELS) for mark in marks):
            return
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
        yield node.lineno, prose(node.value)
    for child in ast.iter_child_nodes(node):
        yield from _strings(child)


def texts() -> Iterator[tuple[pathlib.Path, int, str]]:
    """All that users read: file, line where it begins, text."""
    pages = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "benchmarks").glob("*.md"),
    ]
    made = (ROOT / "docs" / "project", ROOT / "docs" / "reference" / "api")
    for page in sorted(set(pages) - set(RECORDS)):
        if not any(page.is_relative_to(folder) for folder in made):
            yield page, 1, prose(page.read_text("utf-8"))
    package = ROOT / "src" / "alight"
    for kind in ("**/*.toml", "**/templates/*"):
        for file in sorted(package.glob(kind)):
            yield file, 1, file.read_text("utf-8")
    for file in sorted([*package.rglob("*.py"), *(ROOT / "examples").rglob("*.py")]):
        for line, text in strings(file.read_text("utf-8")):
            yield file, line, text


def places() -> list[str]:
    """``file:line: word`` for every unwanted word."""
    finder = pattern(unwanted())
    return [
        f"{file.relative_to(ROOT)}:{line + more}: {word}"
        for file, line, text in texts()
        for more, word in found(text, finder)
    ]


if __name__ == "__main__":
    print("\n".join(places()) or "none")
