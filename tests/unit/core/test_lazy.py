"""Doors of rooms: their names, whenever they are asked for and in whatever order modules load."""

import ast
import importlib
import pathlib
import subprocess
import sys

import pytest

import alight

PACKAGE = pathlib.Path(alight.__file__).parent
DOORS = [
    ".".join(("alight", *file.parent.relative_to(PACKAGE).parts))
    for file in sorted(PACKAGE.rglob("__init__.py"))
    if "lazy.door(" in file.read_text("utf-8")
]


def _under_type_checking(door) -> dict[str, tuple[str, str]]:
    """Names that type checkers find at a door, and where from."""
    tree = ast.parse(pathlib.Path(door.__file__).read_text("utf-8"))
    blocks = [n for n in tree.body if isinstance(n, ast.If)]
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for block in blocks
        for node in block.body
        for alias in node.names
    }


def test_every_room_with_names_has_a_door():
    assert {"alight", "alight.shapes", "alight.scenario", "alight.campaign"} <= set(DOORS)


@pytest.mark.parametrize("name", DOORS)
def test_a_door_tells_type_checkers_users_and_python_the_same(name):
    door = importlib.import_module(name)
    told = _under_type_checking(door)
    assert sorted(told) == sorted(door.__all__)
    for word, (module, there) in told.items():
        own = door._names.get(word, (name, word))
        assert own == (module, there), f"{name}.{word}"
        assert getattr(door, word) is getattr(importlib.import_module(module), there)


def test_names_stay_when_a_module_of_the_same_name_is_loaded():
    script = (
        "import types, alight.shapes.icosphere, alight.membrane.pear\n"
        "from alight.shapes import icosphere\n"
        "from alight import membrane\n"
        "import alight.membrane.hull\n"
        "for one in (icosphere, membrane.pear, membrane.hull):\n"
        "    assert isinstance(one, types.FunctionType), one\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_modules_of_a_room_are_there_without_an_import():
    script = "import alight\nassert alight.surfaces.law.Surface\n"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_name_that_is_not_there_is_told_with_the_nearest():
    with pytest.raises(AttributeError, match=r"'alight\.shapes' has no .* Did you mean \"Mesh\""):
        _ = alight.shapes.Mehs
    with pytest.raises(ImportError, match="icosfere"):
        from alight.shapes import icosfere  # noqa: F401
    assert not hasattr(alight.shapes, "__wrapped__")


def test_a_door_lists_what_it_has_before_anything_is_loaded():
    script = "import alight.gravity as g\nassert set(g.__all__) <= set(dir(g))\n"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_what_is_put_at_a_door_is_found_there(monkeypatch):
    monkeypatch.setattr(alight.shapes, "Mesh", "another")
    from alight.shapes import Mesh

    assert Mesh == "another"
