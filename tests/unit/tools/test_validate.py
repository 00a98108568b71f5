"""``make validate``: progress, and a page that only a whole run writes."""

import pathlib
import re
import subprocess

import pytest
from tools import validate, validation_page, verdicts

STUDIES = '''"""A stone falls: v = g t."""
import pytest

pytestmark = pytest.mark.validate

def test_with_words():
    """What it checks | in words.

    More."""

@pytest.mark.parametrize("case", [1, 2, 3])
def test_of_several_cases(case):
    assert case != 2

@pytest.mark.skip(reason="no shapes")
def test_that_is_left_out():
    pass
'''


def studies_of(project):
    return project / "tests" / f"test_{project.name}.py"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of one file of studies, whose name no other has: pytest keeps modules by name."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "docs" / "reference").mkdir(parents=True)
    studies_of(tmp_path).write_text(STUDIES)
    (tmp_path / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\nmarkers = ['validate: slow']\n"
        "addopts = '--import-mode=importlib'\n"
    )
    monkeypatch.chdir(tmp_path)
    for module in (validate, validation_page.depends):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(validate, "FOUND", tmp_path / "out" / "validation.jsonl")
    for cached in (verdicts.digest, verdicts.depends.closure, verdicts.depends.tree_of):
        cached.cache_clear()
    monkeypatch.setattr(validate, "PAGE", tmp_path / "docs" / "reference" / "validation.md")
    return tmp_path


def run(monkeypatch, *arguments, processes=0):
    monkeypatch.setattr("sys.argv", ["validate", *arguments, "-n", str(processes)])
    return validate.main()


def test_a_whole_run_writes_the_page(project, monkeypatch, capfd):
    assert run(monkeypatch, processes=2) == 1
    page = (project / "docs" / "reference" / "validation.md").read_text("utf-8")
    assert "**3 passed, 1 skipped, 1 failed.**" in page
    assert "A stone falls: v = g t." in page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert [row.rpartition(" | ")[0] for row in rows] == [
        "| `test_of_several_cases` | of several cases | **failed** (1 of 3 cases)",
        "| `test_that_is_left_out` | that is left out | **skipped**: Skipped: no shapes",
        "| `test_with_words` | What it checks \\| in words. | passed",
    ]
    assert str(pathlib.Path.home()) not in page
    said = capfd.readouterr().out
    assert re.search(r"\[5 of 5, \d+:\d\d min\]", said)
    assert f"failed in 0 s: tests/{studies_of(project).name}::test_of_several_cases[2]" in said


@pytest.mark.validate
@pytest.mark.parametrize("some", ["", "::test_with_words"])
def test_a_run_of_some_leaves_the_page(project, monkeypatch, capfd, some):
    page = project / "docs" / "reference" / "validation.md"
    page.write_text("as it was")
    run(monkeypatch, f"tests/{studies_of(project).name}{some}")
    assert page.read_text() == "as it was"
    said = capfd.readouterr().out
    assert "::test_with_words" in said
    assert "stays as it is" in said


def test_what_passed_is_not_run_again(project, monkeypatch, capfd):
    assert run(monkeypatch) == 1
    capfd.readouterr()
    assert run(monkeypatch, "--resume") == 1
    said = capfd.readouterr().out
    assert "3 studies passed before" in said
    assert "[2 of 2" in said  # what failed, and what was skipped
    assert "assert 2 != 2" in said.partition("FAILURES")[0]
    page = (project / "docs" / "reference" / "validation.md").read_text("utf-8")
    assert "**3 passed, 1 skipped, 1 failed.**" in page
    assert len([line for line in page.splitlines() if line.startswith("- 20")]) == 2


def test_what_rests_on_a_change_is_run_again(project, monkeypatch, capfd):
    assert run(monkeypatch) == 1
    studies_of(project).write_text(STUDIES.replace("case != 2", "case != 4"))
    for cached in (verdicts.digest, verdicts.depends.tree_of):
        cached.cache_clear()
    capfd.readouterr()
    assert run(monkeypatch, "--resume") in (0, 1)
    assert "[5 of 5" in capfd.readouterr().out


@pytest.mark.validate
def test_a_run_that_breaks_off_leaves_the_page(project, monkeypatch, capfd):
    page = project / "docs" / "reference" / "validation.md"
    page.write_text("as it was")
    broken = STUDIES + "\ndef test_ends_it():\n    raise KeyboardInterrupt\n"
    studies_of(project).write_text(broken)
    run(monkeypatch)
    assert page.read_text() == "as it was"
    said = capfd.readouterr().out
    assert "[5 of 6," in said
    assert "Not all studies ended" in said


def git(folder, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def test_a_reminder_counts_what_a_change_touches(project, monkeypatch, capfd):
    assert run(monkeypatch, "--remind") == 0
    assert "not counted: git merge-base" in capfd.readouterr().out
    git(project, "init", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-m", "one")
    assert run(monkeypatch, "--remind") == 0
    assert capfd.readouterr().out == ""
    studies_of(project).write_text(STUDIES + "# changed\n")
    assert run(monkeypatch, "--remind") == 0
    assert "1 of 1 files of slow studies rest on what has changed" in capfd.readouterr().out
    git(project, "commit", "-am", "two")
    assert run(monkeypatch, "--changed", "HEAD") == 0
    assert "No slow study" in capfd.readouterr().out
    assert run(monkeypatch, "--changed", "HEAD~1") == 1
    assert "[5 of 5" in capfd.readouterr().out
