"""Which files a test rests on, found from import statements alone.

A name imported from a room leads to the file that defines it, not to all that the room's
``__init__`` loads: a test of the rigid engine does not rest on captures. Imports inside functions
count. What is no Python (scenarios, catalogues) belongs to the modules of its room that name its
folder; an example belongs to the tests that name it. So the answer may hold a file too many, and
lacks none unless a module is loaded by a name made up at run time.
"""

from __future__ import annotations

import ast
import functools
import pathlib
import re
from collections.abc import Iterable, Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"

#: What every door runs to load its names late.
LAZY = SOURCE / "alight" / "core" / "lazy.py"


@functools.cache
def tree_of(path: pathlib.Path) -> ast.Module:
    """A file, parsed."""
    return ast.parse(path.read_text("utf-8"))


@functools.cache
def closure(path: pathlib.Path) -> frozenset[pathlib.Path]:
    """The file itself and all that it rests on."""
    seen, left = {path}, [path]
    while left:
        for further in direct(left.pop()):
            if further not in seen:
                seen.add(further)
                # A room's door is a list of names: what they lead to is followed by name.
                if further.suffix == ".py" and further.name != "__init__.py":
                    left.append(further)
    doors = {door for file in seen for door in _doors(file)}
    return frozenset(seen | doors | ({LAZY} if doors else set()))


def _doors(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """The ``__init__`` of every package that a module is in: Python runs them before it."""
    for folder in path.parents:
        if folder == SOURCE or SOURCE not in folder.parents:
            return
        yield folder / "__init__.py"


@functools.cache
def direct(path: pathlib.Path) -> frozenset[pathlib.Path]:
    """Files that a file names itself."""
    found = set(_imported(path))
    if SOURCE in path.parents:
        found.update(_data(path))
    else:
        found.update(_examples(path))
        found.update(_quoted(path))
        found.update(conftest for conftest in _conftests(path) if conftest != path)
    return frozenset(found)


def _imported(path: pathlib.Path) -> Iterator[pathlib.Path]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield from _named(path, node.module, alias)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    yield from _module(path, alias.name, alias.asname)
                else:  # import alight.engine.batch: the name bound is that of the first package
                    top = alias.name.partition(".")[0]
                    yield from _module(path, top, top)
                    yield from _dotted(top, alias.name.split(".")[1:])


def _named(path: pathlib.Path, module: str, alias: ast.alias) -> Iterator[pathlib.Path]:
    """``from module import name``."""
    if file_of(f"{module}.{alias.name}"):
        yield from _module(path, f"{module}.{alias.name}", alias.asname or alias.name)
    else:
        yield from resolve(module, alias.name)


def _module(path: pathlib.Path, module: str, bound: str) -> Iterator[pathlib.Path]:
    """A module by its name; of a room, what is taken from it as ``room.name``."""
    file = file_of(module)
    if file is None:
        return
    yield file
    if file.name == "__init__.py":
        chains, alone = _names(path)
        for chain in chains:
            if chain.startswith(f"{bound}."):
                yield from _dotted(module, chain.split(".")[1:])
        if bound in alone:
            yield from _imported(file)  # handed on as a whole: anything may be taken from it


@functools.cache
def _names(path: pathlib.Path) -> tuple[frozenset[str], frozenset[str]]:
    """Every ``a.b.c`` of a file that is made of names alone, and every name that stands alone."""
    chains, alone, used = set(), {}, set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Name):
            alone[id(node)] = node.id
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        if names and isinstance(node, ast.Name):
            chains.add(".".join([node.id, *reversed(names)]))
            used.add(id(node))
    return frozenset(chains), frozenset(name for key, name in alone.items() if key not in used)


def _dotted(module: str, names: list[str]) -> Iterator[pathlib.Path]:
    """``room.module.name`` or ``room.name``."""
    while names and file_of(f"{module}.{names[0]}"):
        module, *names = f"{module}.{names[0]}", *names[1:]
    file = file_of(module)
    if file is None:
        return
    if file.name == "__init__.py" and names:
        yield from resolve(module, names[0])
    else:
        yield file


def resolve(module: str, name: str) -> Iterator[pathlib.Path]:
    """The file that defines what ``from module import name`` gives, and the doors on the way."""
    file = file_of(module)
    if file is None:
        return
    yield file
    if file.name == "__init__.py":
        origin = _exported(file).get(name)
        if origin is None:
            yield from _imported(file)  # defined in the door itself: with all that this uses
        elif origin[0] != module:
            yield from resolve(*origin)
        elif member := file_of(f"{module}.{origin[1]}"):
            yield member


@functools.cache
def _exported(door: pathlib.Path) -> dict[str, tuple[str, str]]:
    """Module and name behind every name that a room's door imports."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree_of(door))
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


@functools.cache
def file_of(module: str) -> pathlib.Path | None:
    """The file of a module of the project (tests use benchmarks and tools too), None for others."""
    for root in (SOURCE, ROOT):
        base = root.joinpath(*module.split("."))
        for file in (base.with_suffix(".py"), base / "__init__.py"):
            if file.is_file():
                return file
    return _helpers().get(module)


@functools.cache
def _helpers() -> dict[str, pathlib.Path]:
    """Modules that tests share: found by their names, in whatever folder of tests they are."""
    files = (ROOT / "tests").rglob("*.py")
    return {f.stem: f for f in files if not f.stem.startswith("test_") and f.stem != "conftest"}


def _data(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Catalogues and scenarios in folders of the room that the module names."""
    text = path.read_text("utf-8")
    for folder in path.parent.iterdir():
        if folder.is_dir() and f'"{folder.name}"' in text:
            yield from (file for file in folder.rglob("*") if file.suffix in (".toml", ".json"))


def _quoted(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Modules named in text: programs that a test hands to another process."""
    text = path.read_text("utf-8")
    if '"-m", "alight"' in text:
        yield SOURCE / "alight" / "__main__.py"
    for module, names in re.findall(r"from (alight[\w.]*) import ([\w, ]+)", text):
        for name in names.replace(",", " ").split():
            yield from _dotted(module, [name])


def _examples(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Examples whose name stands in a test or in another example."""
    words = set(re.findall(r"\w+", path.read_text("utf-8")))
    yield from (file for file in (ROOT / "examples").glob("*.py") if file.stem in words)


def _conftests(path: pathlib.Path) -> Iterator[pathlib.Path]:
    for folder in path.parents:
        if (folder / "conftest.py").is_file():
            yield folder / "conftest.py"
        if folder == ROOT:
            return


def resting_on(
    changed: Iterable[pathlib.Path], tests: Iterable[pathlib.Path]
) -> list[pathlib.Path]:
    """Those of the test files that rest on any of the changed ones."""
    wanted = set(changed)
    return [test for test in tests if wanted & closure(test)]
