"""Where public classes and functions are used: the pages, tutorials and examples that show them.

The API reference links to them, and a test reads this to see that no public name is without an
example: one in its docstring, or one that is run elsewhere.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tools.public_names import ROOMS, public_names

ROOT = Path(__file__).resolve().parents[1]
_CODE = re.compile(r"^ *```(?:python|\{code-cell\}[^\n]*)\n(.*?)^ *```", re.M | re.S)
#: An example in a docstring: a block of code (where nothing else follows it loses its indent).
_BLOCK = re.compile(r"::\n\n|>>> ")


def own_example(thing: Any) -> bool:
    """Whether the docstring of a class or function, or of a method of it, has an example."""
    texts = [inspect.getdoc(thing) or ""]
    if inspect.isclass(thing):
        texts += [inspect.getdoc(one) or "" for one in vars(thing).values() if callable(one)]
    return any(_BLOCK.search(text) for text in texts)


@cache
def _programs() -> dict[str, str]:
    """Code by where it stands: tutorials first, then pages, then files of examples."""
    docs = ROOT / "docs"
    made = ("project", "reference/api")
    pages = [p for p in sorted(docs.rglob("*.md")) if not str(p.relative_to(docs)).startswith(made)]
    pages.sort(key=lambda page: "tutorials" not in page.parts)
    found = {
        page.relative_to(ROOT).as_posix(): "\n".join(_CODE.findall(page.read_text("utf-8")))
        for page in pages
    }
    for file in sorted((ROOT / "examples").rglob("*.py")):
        found[file.relative_to(ROOT).as_posix()] = file.read_text("utf-8")
    return found


def uses(name: str) -> list[str]:
    """Pages and examples whose code has a name, tutorials first."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    return [place for place, code in _programs().items() if word.search(code)]


def without_example() -> Iterator[str]:
    """Public classes and functions that nothing shows in use."""
    for room in ROOMS:
        for name, thing in public_names(room).items():
            if not (inspect.isclass(thing) or inspect.isfunction(thing)):
                continue
            if not own_example(thing) and not uses(name):
                yield f"{room}.{name}"
