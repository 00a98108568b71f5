"""What tests set for all others of their folder ends with their file.

A process goes on to tests of other folders, which would find what an ``autouse`` fixture that lasts
as long as the session had set for these.
"""

import ast
import pathlib

TESTS = pathlib.Path(__file__).resolve().parent.parent
KEYS = ("autouse", "scope")


def automatic(text):
    """Scopes of the fixtures of a file that nobody has to ask for."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.fixture":
            given = {
                key.arg: ast.literal_eval(key.value) for key in node.keywords if key.arg in KEYS
            }
            if given.get("autouse"):
                yield given.get("scope", "function")


def test_scopes_are_seen():
    assert list(automatic("@pytest.fixture(autouse=True, scope='session')\ndef f(): ...")) == [
        "session"
    ]
    assert list(automatic("@pytest.fixture(scope='session')\ndef f(): ...")) == []
    assert list(automatic("@pytest.fixture(autouse=True)\ndef f(): ...")) == ["function"]


def test_what_is_set_for_a_folder_ends_with_a_file():
    folders = [file for file in TESTS.rglob("*.py") if file.parent != TESTS]
    lasting = [f for f in folders if {"session", "package"} & set(automatic(f.read_text("utf-8")))]
    assert not lasting
