"""The worked cases: their files are fine and stand in the page as they are, and each runs."""

import pathlib
import re
import runpy
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
CASES = ROOT / "examples" / "worked_cases"
PAGE = (ROOT / "docs" / "how_to" / "worked_cases.md").read_text("utf-8")
FILES = sorted(CASES.glob("*.toml"))
MOST_BYTES = 150_000  # of a picture


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files, with the mesh of the first beside them."""
    made = tmp_path_factory.mktemp("worked") / "cases"
    shutil.copytree(CASES, made, ignore=shutil.ignore_patterns("*.obj", "__pycache__"))
    runpy.run_path(str(made / "own_body.py"))
    return made


def alight(*words):
    done = subprocess.run(
        [sys.executable, "-m", "alight", *map(str, words)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_four():
    assert len(FILES) == 4


@pytest.mark.parametrize("file", [*FILES, CASES / "own_body.py"], ids=lambda f: f.name)
def test_the_page_shows_the_file_as_it_is(file):
    language = {".toml": "toml", ".py": "python"}[file.suffix]
    assert f"```{language}\n{file.read_text('utf-8')}```\n" in PAGE
    assert f"examples/worked_cases/{file.name}" in PAGE


def test_pictures_are_there_and_small():
    shown = re.findall(r"!\[[^]]+\]\(([^)]+)\)", PAGE)
    folder = ROOT / "docs" / "pictures" / "worked_cases"
    assert {(ROOT / "docs" / "how_to" / name).resolve() for name in shown} == set(folder.iterdir())
    made = runpy.run_path(str(CASES / "pictures.py"))["SHOWN"]
    assert {f"{case}_{one}.png" for case, some in made.items() for one in some} == {
        pathlib.Path(name).name for name in shown
    }
    for picture in folder.iterdir():
        assert picture.stat().st_size < MOST_BYTES, picture.name


def test_checks_find_nothing_wrong(folder):
    said = alight("scenario", "check", *(folder / file.name for file in FILES))
    assert said.count(": OK (") == len(FILES)


def test_every_case_has_a_requirement():
    for file in FILES:
        assert "[[requirement]]" in file.read_text("utf-8"), file.name


@pytest.mark.validate
@pytest.mark.parametrize("name", [file.stem for file in FILES])
def test_a_few_runs_and_a_report(folder, tmp_path, name):
    runs = 16 if name == "push_offs_ryugu" else 3  # a sweep has the number of its combinations
    out = tmp_path / name
    said = alight("campaign", folder / f"{name}.toml", "--runs", runs, "--out", out)
    assert said.startswith(f"{runs} runs in ")
    assert re.search(r"^  (pass|fail|not yet decided|counted): ", said, re.M)
    assert "Are the requirements met?" in alight("report", out)
    assert (out / "report.html").is_file()
