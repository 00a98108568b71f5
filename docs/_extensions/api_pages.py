"""Pages of the API reference, one a room, from what rooms export (``__all__``) and docstrings.

Lists of ``autoclass`` and ``autofunction`` in ``docs/reference/api``, written when the site is
built: the docstrings are their only source.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.public_names import ROOMS, public_names
from tools.uses_of_names import uses

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_INDEX = """# Classes and functions

What can be imported: `import alight`, and each room of the package by its name, `alight.gravity`.
Names that are not here may change without notice.

```{{toctree}}
:maxdepth: 1

{}
```
"""
_MOST_LINKS = 3
_CLASS = "   :members:\n   :show-inheritance:\n"


def page(room: str) -> str:
    """The page of a room: its own words, then each name."""
    title = "`alight`: the front door" if room == "alight" else f"`{room}`"
    lines = [f"# {title}\n", "```{eval-rst}", f".. currentmodule:: {room}\n"]
    lines += [inspect.cleandoc(__import__(room, fromlist=["_"]).__doc__ or ""), "```\n"]
    for name, thing in sorted(public_names(room).items(), key=lambda item: item[0].lower()):
        lines += [f"## {name}\n", "```{eval-rst}", _directive(room, name, thing), "```\n"]
    return "\n".join(lines)


def home(name: str, thing: Any) -> str:
    """The room whose page has it: the one that defines it, else the first that exports it."""
    exporting = [room for room in ROOMS if public_names(room).get(name) is thing]
    defining = [room for room in exporting if _module(thing).startswith(f"{room}.")]
    return max(defining or exporting, key=len) if defining else exporting[0]


def _module(thing: Any) -> str:
    return str(getattr(thing, "__module__", ""))


def _directive(room: str, name: str, thing: Any) -> str:
    if home(name, thing) != room:
        kind = "class" if inspect.isclass(thing) else "func"
        return f"The same as :py:{kind}:`{home(name, thing)}.{name}`.\n"
    if inspect.isclass(thing):
        return f".. autoclass:: {room}.{name}\n{_CLASS}{_shown(name)}"
    if inspect.isfunction(thing):
        return f".. autofunction:: {room}.{name}\n{_shown(name)}"
    return f".. autodata:: {room}.{name}\n   :no-value:\n"


def _shown(name: str) -> str:
    """Links to the first pages and files of examples that use a name."""
    found = [
        f":doc:`/{place.removeprefix('docs/').removesuffix('.md')}`"
        if place.startswith("docs/")
        else f"``{place}``"
        for place in uses(name)[:_MOST_LINKS]
    ]
    return f"\nIn use: {', '.join(found)}\n" if found else ""


def write_pages(app: Sphinx) -> None:
    """Write the pages, those that have changed alone: Sphinx reads what is newer."""
    folder = Path(app.srcdir) / "reference" / "api"
    folder.mkdir(parents=True, exist_ok=True)
    texts = {room.replace(".", "_"): page(room) for room in ROOMS}
    for name, text in {**texts, "index": _INDEX.format("\n".join(texts))}.items():
        file = folder / f"{name}.md"
        if not file.is_file() or file.read_text("utf-8") != text:
            file.write_text(text, encoding="utf-8")


def skip(_app: Sphinx, _what: str, _name: str, thing: Any, skipped: bool, _options: Any) -> bool:
    """Leave out classes that a class only names as its own, such as ``Model.Release``."""
    return skipped or (inspect.isclass(thing) and "." not in thing.__qualname__)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
