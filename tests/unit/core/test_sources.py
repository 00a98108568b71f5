"""Which code a stored table depends on: what is found by form is what Python's parser finds."""

import ast
import pathlib

import alight
from alight.core import sources

PACKAGE = pathlib.Path(alight.__file__).parent


def _parsed(text: str) -> set[str]:
    """Modules of the package that a text imports, by Python's own parser."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            inner = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            found.update(node.module if sources._file_of(i) is None else i for i in inner.values())
    return {name for name in found if sources._file_of(name) is not None}


def test_no_import_of_any_module_is_missed():
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text("utf-8")
        assert _parsed(text) <= set(sources._imports(text)), file


def test_no_module_imports_relatively():
    """Such imports are not followed."""
    for file in PACKAGE.rglob("*.py"):
        nodes = ast.walk(ast.parse(file.read_text("utf-8")))
        assert not any(isinstance(n, ast.ImportFrom) and n.level for n in nodes), file


def test_every_form_of_import_is_found():
    text = (
        "from alight.core import lazy, store as kept\n"
        "import os, alight.core.text as text\n"
        "def late():\n"
        "    from alight.shapes import (\n"
        "        Mesh,  # a name, (of a room)\n"
        "        lobes,\n"
        "    )\n"
    )
    found = set(sources._imports(text))
    wanted = {"alight.core.lazy", "alight.core.store", "alight.core.text", "alight.shapes"}
    assert wanted | {"alight.shapes.lobes"} <= found


def test_a_module_rests_on_what_its_room_offers():
    behind = sources.modules_behind("alight.surfaces.field.distance_field")
    assert {"alight.surfaces.law", "alight.core.types", "alight.shapes.mesh"} <= set(behind)
    assert not any(name.startswith(("alight.cli", "alight.scenario")) for name in behind)
