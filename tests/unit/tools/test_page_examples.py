"""Examples of pages: which blocks run; a page without one, or with a broken one, is found."""

import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


def extension(name):
    file = ROOT / "docs" / "_extensions" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pytest.importorskip("sphinx")
pages = extension("page_examples")
alone = extension("stands_alone")

PAGE = """# A page
<!-- run first:
x = 1
-->
```python
y = x + 1
```
<!-- not run: shortened -->
```python
never(...)
```
```sh
not this
```
<!-- run -->
```sh
test -d scenarios
```
"""


def test_what_is_run():
    script, shell = pages.examples(PAGE)
    assert script == "x = 1\n\ny = x + 1\n"
    assert shell == "test -d scenarios\n"


def test_what_fails_is_said():
    assert pages.run(*pages.examples(PAGE), ROOT) == ""
    assert "NameError" in pages.run("nothing", "", ROOT)
    assert "no_such_command" in pages.run("", "no_such_command", ROOT)


def test_a_page_without_an_example_is_found():
    assert not pages.has_one("how_to/page", "# A page\n```sh\nalight run\n```\n", ROOT)
    assert not pages.has_one("how_to/page", "<!-- run by tests/no_such_test.py -->", ROOT)
    assert pages.has_one("how_to/page", PAGE, ROOT)


def test_every_page_has_one():
    docs = ROOT / "docs"
    names = {page.relative_to(docs).with_suffix("").as_posix(): page for page in docs.rglob("*.md")}
    assert [n for n, p in names.items() if not pages.has_one(n, p.read_text("utf-8"), ROOT)] == []


def test_what_would_be_fetched_is_found():
    page = '<a href="https://x.org"></a><script src="https://cdn.org/a.js"></script>'
    assert alone.loaded_from_elsewhere(page, ".html") == ["https://cdn.org/a.js"]
    assert alone.loaded_from_elsewhere("@import url(//fonts.org/f.css)", ".css") == [
        "//fonts.org/f.css"
    ]
    assert alone.loaded_from_elsewhere('<img src="a.png">', ".html") == []
