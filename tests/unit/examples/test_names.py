"""Names of Alight that examples, benchmarks, tools and pages use are there.

Many examples run only with ``make validate``; that a name has moved is found here, without running
them.
"""

import ast
import importlib
import pathlib
import re
import textwrap
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
CODE = [
    file for room in ("examples", "benchmarks", "tools") for file in (ROOT / room).rglob("*.py")
]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *(ROOT / "docs").glob("**/*.md")]


def programs(file):
    """The Python that stands in a file, whole or in the fences of a page."""
    text = file.read_text("utf-8")
    if file.suffix == ".py":
        return [text]
    return [textwrap.dedent(block) for block in re.findall(r"```python\n(.*?)```", text, re.S)]


def module_of(name):
    """The module of that name; None where there is none."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def has(module, name):
    """Whether a module has it: a name, or a module inside."""
    return hasattr(module, name) or module_of(f"{module.__name__}.{name}") is not None


def imported(tree):
    """Modules of Alight by the names they are used under, and what is imported but not there."""
    modules, missing = {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.name.partition(".")[0] == "alight":
                    if module_of(one.name) is None:
                        missing.append(one.name)
                    else:
                        used = one.name if one.asname else "alight"
                        modules[one.asname or used] = module_of(used)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("alight"):
            module = module_of(node.module)
            if module is None:
                missing.append(node.module)
                continue
            for one in node.names:
                if not has(module, one.name):
                    missing.append(f"{node.module}.{one.name}")
                elif isinstance(found := getattr(module, one.name, None), types.ModuleType):
                    modules[one.asname or one.name] = found
    return modules, missing


def absent(text):
    """Dotted names of Alight in a program that lead nowhere."""
    tree = ast.parse(text)
    modules, missing = imported(tree)
    for node in ast.walk(tree):
        names = ast.unparse(node).split(".") if isinstance(node, ast.Attribute) else []
        if not names or names[0] not in modules or not all(n.isidentifier() for n in names):
            continue
        at = modules[names[0]]
        for name in names[1:]:
            if not isinstance(at, types.ModuleType):
                break
            if not has(at, name):
                missing.append(".".join(names))
                break
            at = getattr(at, name)
    return sorted(set(missing))


@pytest.mark.parametrize("file", CODE + PAGES, ids=lambda f: str(f.relative_to(ROOT)))
def test_names_are_there(file):
    assert [name for text in programs(file) for name in absent(text)] == []


def test_a_name_that_has_moved_is_found():
    assert absent("import alight\nx: alight.engine.Solution") == ["alight.engine.Solution"]
    assert absent("from alight.engine import Solution") == ["alight.engine.Solution"]
    assert absent("from alight import motions\nmotions.Solution, motions.No") == ["motions.No"]
    assert absent("import alight\nalight.motions.Solution.time") == []
