"""docs/how_to/extending.md shows the package and the scenario as they are."""

import pathlib

import pytest
from tests.extension.conftest import PACKAGE, ROOT

FILES = sorted(p for p in PACKAGE.rglob("*") if p.suffix in (".py", ".toml"))
SCENARIO = pathlib.Path(__file__).parent / "landing.toml"


@pytest.mark.parametrize("file", [*FILES, SCENARIO], ids=lambda file: file.name)
def test_files_are_quoted_whole(file):
    language = {".py": "python", ".toml": "toml"}[file.suffix]
    text = f"```{language}\n{file.read_text().rstrip()}\n```"
    name = file.name if file == SCENARIO else file.relative_to(PACKAGE).as_posix()
    assert f"`{name}`:\n\n{text}" in (ROOT / "docs" / "how_to" / "extending.md").read_text()
