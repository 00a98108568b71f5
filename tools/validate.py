"""The slow studies: all of them, or those that a change touches (``make validate``).

Files of studies go to as many processes as there are cores, and each study that ends prints a
line: how many of how many, the time, its verdict, and what is still running. A run of all of them
writes docs/reference/validation.md; a run of some never does. ``--resume`` resumes one that was
broken off or in which something failed: what passed and rests on nothing that has changed since is
not run again.
``--changed`` runs the studies whose files rest on something that differs from a base (``depends``);
``--remind`` only counts them.
"""

from __future__ import annotations

import argparse
import ast
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

import pytest

from tools import depends, trust_page
from tools.validation_page import Study, cores, write_page
from tools.verdicts import EVERYTHING, Verdicts

ROOT = depends.ROOT
PAGE = ROOT / "docs" / "reference" / "validation.md"
FOUND = ROOT / "out" / "validation.jsonl"
MARK = "validate"
#: More processes than this compile the same kernels side by side and gain little.
PROCESSES = 4


class Progress:
    """A pytest plugin: collects the verdicts and prints a line at each."""

    def __init__(self, verdicts: Verdicts | None = None) -> None:
        self.verdicts = verdicts
        self.total = 0
        self.studies: dict[str, Study] = {}
        self.running: dict[str, None] = {}
        self.start = time.monotonic()

    # Of the process that hands out the work, with xdist and without.

    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Every worker collects the same."""
        self.total = len(ids)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Without workers."""
        self.total = self.total or len(session.items)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A study begins."""
        self.running[nodeid] = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Set-up, the study itself, and what follows it: each a report."""
        study = self.studies.setdefault(report.nodeid, Study(report.nodeid))
        study.add(report)
        if report.failed:  # at once: a run that is broken off has no summary of what failed
            print(report.longreprtext, flush=True)
        if report.when == "teardown":
            self.running.pop(report.nodeid, None)
            print(self._line(study), flush=True)
            if self.verdicts is not None:
                self.verdicts.add(study)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> Any:
        """No letters between the lines; the summary at the end still counts."""
        category = "error" if report.failed and report.when != "call" else report.outcome
        counts = report.when == "call" or not report.passed
        return (category if counts else ""), "", ""

    def _line(self, study: Study) -> str:
        done = len(self.studies) - len(self.running)
        minutes, seconds = divmod(int(time.monotonic() - self.start), 60)
        others = ", ".join(nodeid.partition("::")[2] for nodeid in self.running)
        after = f"; running: {others}" if others else ""
        return (
            f"[{done} of {self.total}, {minutes}:{seconds:02d} min] {study.verdict} in "
            f"{study.seconds:.0f} s: {study.nodeid}{after}"
        )

    @property
    def whole(self) -> bool:
        """Whether every study that was collected has its verdict."""
        return 0 < self.total == len(self.studies) and not self.running


# ---------------------------------------------------------------------------------------------
# What a change touches
# ---------------------------------------------------------------------------------------------


def study_files() -> list[pathlib.Path]:
    """Test files that hold a slow study."""
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    return [test for test in tests if _marked(depends.tree_of(test))]


def _marked(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == MARK
        and ast.unparse(node).startswith("pyt")
        for node in ast.walk(tree)
    )


def changed_files(base: str | None) -> set[pathlib.Path]:
    """Files that differ from where this branch left ``base``; new and uncommitted ones too."""
    since = _git("merge-base", "HEAD", base or "main").strip()
    named = _git("diff", "--name-only", since) + _git("ls-files", "--others", "--exclude-standard")
    return {ROOT / name for name in named.splitlines()}


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def touched(changed: set[pathlib.Path]) -> list[pathlib.Path]:
    """Files of studies that rest on a changed file."""
    files = study_files()
    if any(ROOT / name in changed for name in EVERYTHING):
        return files
    return depends.resting_on(changed, files)


# ---------------------------------------------------------------------------------------------
# Runs
# ---------------------------------------------------------------------------------------------


def run(
    selected: list[str], workers: int, verdicts: Verdicts | None = None
) -> tuple[int, Progress]:
    """Run studies, all but those whose verdict is kept; pytest's exit code, and what was seen."""
    progress = Progress(verdicts)
    # A process's share of the cores: launches of every worker over all of them only get in the way.
    os.environ.setdefault("ALIGHT_COMPILER", "auto")
    os.environ.setdefault("ALIGHT_THREADS", str(max(1, cores() // max(1, workers))))
    # Studies of one file share kernels and tables; with many processes the longest file would hold
    # all others up.
    spread = "loadfile" if workers <= PROCESSES else "worksteal"
    options = ["-m", MARK, "-n", str(workers), "--dist", spread, "-p", "no:cacheprovider"]
    for study in verdicts.kept if verdicts else ():
        options += ["--deselect", study.nodeid]
    code = int(pytest.main([*options, "--no-header", *selected], plugins=[progress]))
    return code, progress


def remind() -> int:
    """Say how many files of studies a change touches; where git knows no main, nothing."""
    try:
        files = touched(changed_files(None))
    except SystemExit as without:
        print(f"Slow studies that rest on this change are not counted: {without}")
        return 0
    if files:
        print(
            f"{len(files)} of {len(study_files())} files of slow studies rest on what has changed: "
            "before it is merged, make validate CHANGED=1"
        )
    return 0


def main() -> int:
    """All studies, or some."""
    given = _arguments()
    selected = list(given.tests)
    if given.remind:
        return remind()
    if given.changed is not None:
        files = touched(changed_files(given.changed or None))
        if not files:
            print("No slow study rests on what has changed.")
            return 0
        selected += [str(file.relative_to(ROOT)) for file in files]
    if selected:
        code, _ = run(selected, given.n)
        print(f"Some of the studies: {PAGE.relative_to(ROOT)} stays as it is.")
        return code
    return run_all(given.n, given.resume)


def run_all(workers: int, resume: bool) -> int:
    """All studies, and the page where each has its verdict."""
    verdicts = Verdicts(FOUND, resume)
    if verdicts.kept:
        print(f"{len(verdicts.kept)} studies passed before and rest on nothing that has changed.")
    code, progress = run([], workers, verdicts)
    if verdicts.kept and code == pytest.ExitCode.NO_TESTS_COLLECTED:
        code = 0
    elif not progress.whole or code not in (0, 1):
        print(
            f"Not all studies ended: {PAGE.relative_to(ROOT)} stays as it is. "
            "make validate RESUME=1 runs what is left."
        )
        return code
    write_page(PAGE, [*verdicts.kept, *progress.studies.values()], verdicts.runs)
    trust_page.write()
    print(f"Verdicts are in {PAGE.relative_to(ROOT)}.")
    return code


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tests", nargs="*", help="studies by file or name, all if none is given")
    parser.add_argument("-n", type=int, default=min(cores(), PROCESSES), help="processes")
    parser.add_argument("--resume", action="store_true", help="what has not passed yet")
    parser.add_argument("--changed", nargs="?", const="", metavar="BASE", help="what differs")
    parser.add_argument("--remind", action="store_true", help="only count what a change touches")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
