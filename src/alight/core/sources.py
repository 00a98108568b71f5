"""Which code a stored result depends on: a module and all that it imports, as one digest.

Imports are found in the text of the modules, those inside functions too, and followed within the
package. So nothing has to be listed by hand, and nothing can be forgotten there.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import pathlib
import re
from collections.abc import Iterator

#: The package's root folder, and its name.
_ROOT = pathlib.Path(__file__).resolve().parents[1]
_PACKAGE = _ROOT.name

# ``from alight.room import (name, other)`` and ``import alight.room``.
_IMPORT = re.compile(
    rf"^[ \t]*(?:from ({_PACKAGE}(?:\.\w+)*) import (\([^()]*\)|[^\n]+)|import ([\w.]+[^\n;]*))",
    re.MULTILINE,
)
_COMMENT = re.compile(r"#[^\n]*")

#: Packages whose versions decide numbers too.
LIBRARIES = ("numpy", "scipy", "warp-lang")


@functools.cache
def code_digest(module: str) -> str:
    """Of the text of ``module`` and all that it imports, and of the versions of libraries."""
    whole = hashlib.sha256()
    for library in LIBRARIES:
        whole.update(f"{library} {importlib.metadata.version(library)}\0".encode())
    for name, path in sorted(modules_behind(module).items()):
        whole.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def modules_behind(module: str) -> dict[str, pathlib.Path]:
    """Modules of the package that ``module`` imports, directly or not, and itself, with files."""
    first = _file_of(module)
    if first is None:
        raise ValueError(f"there is no module {module} in {_ROOT}")
    found, waiting = {module: first}, [module]
    while waiting:
        for name in _imports(found[waiting.pop()].read_text("utf-8")):
            path = None if name in found else _file_of(name)
            if path is not None:
                found[name] = path
                waiting.append(name)
    return found


def _imports(text: str) -> Iterator[str]:
    """Modules of the package that a text imports: what is imported from one may be one itself.

    They are found by their form, as parsing all the files takes a tenth of a second at each start;
    a test holds that Python's own parser finds no other.
    """
    # Comments go first: one among the names may hold a bracket.
    for found in _IMPORT.finditer(_COMMENT.sub("", text)):
        module, names, modules = found.groups()
        if module is None:
            yield from (one.split()[0] for one in modules.split(","))
            continue
        for name in names.strip("()").split(","):
            if name.strip():
                inner = f"{module}.{name.split()[0]}"
                yield module if _file_of(inner) is None else inner


@functools.cache
def _file_of(module: str) -> pathlib.Path | None:
    """The file of a module of the package, or None where the name is none of one."""
    first, *parts = module.split(".")
    if first != _PACKAGE:
        return None
    path = _ROOT.joinpath(*parts)
    return next((p for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file()), None)
