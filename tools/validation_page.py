"""docs/reference/validation.md: what each slow study checks, its verdict, and how long it took."""

from __future__ import annotations

import ast
import datetime
import itertools
import os
import pathlib
import platform
import subprocess
from dataclasses import dataclass
from importlib import metadata

import pytest

from tools import depends

#: From best to worst: several cases of one study have the worst of their verdicts.
VERDICTS = ("passed", "skipped", "failed", "error")


@dataclass
class Study:
    """One case of a study as pytest reports it."""

    nodeid: str
    verdict: str = "passed"
    seconds: float = 0.0
    reason: str = ""
    """Why it was skipped."""
    run: int = 0
    """The run that it ended in, of those that the page was made from."""
    rests_on: str = ""
    """A digest of all files that it rests on."""

    def add(self, report: pytest.TestReport) -> None:
        """Take in the report of one phase."""
        self.seconds += report.duration
        if report.failed:
            self._worsen("failed" if report.when == "call" else "error")
        elif report.skipped:
            self._worsen("skipped")
            self.reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else ""

    def _worsen(self, verdict: str) -> None:
        self.verdict = max(self.verdict, verdict, key=VERDICTS.index)

    @property
    def file(self) -> str:
        """The test file, from the root of the project."""
        return self.nodeid.partition("::")[0]

    @property
    def function(self) -> str:
        """The test function, without the case."""
        return self.nodeid.partition("::")[2].partition("[")[0]


@dataclass
class Run:
    """One start of the studies."""

    date: str
    machine: str


def write_page(page: pathlib.Path, studies: list[Study], runs: list[Run]) -> None:
    """Write the page, of one run or of one and those that resumed it."""
    ordered = sorted(studies, key=lambda s: (s.file, s.function, s.nodeid))
    lines = [_head(studies, runs)]
    for file, group in itertools.groupby(ordered, key=lambda s: s.file):
        lines += _section(file, list(group))
    page.write_text("\n".join(lines).rstrip() + "\n", "utf-8")


HEAD = """# The slow studies

Written by `make validate`, which runs every test marked `validate`: studies against papers, flight
data, closed forms and other tools that take too long for `make test`. A run of some of them leaves
this page as it is.

**{counts}.**

{runs}

A study that passed in one run is not run again by those that resume it (`make validate RESUME=1`),
as long as no file that it rests on has changed since. Seconds are those of one process among others
on the same machine, compiling included: how long a run takes, not how fast Alight is.
"""


def _head(studies: list[Study], runs: list[Run]) -> str:
    lines = []
    for number, run in enumerate(runs):
        own = [study for study in studies if study.run == number]
        if own:
            hours = sum(study.seconds for study in own) / 3600.0
            lines.append(
                f"- {run.date}: {_counts(own)}, {hours:.1f} hours of one core. {run.machine}"
            )
    return HEAD.format(counts=_counts(studies), runs="\n".join(lines))


def _counts(studies: list[Study]) -> str:
    found = [study.verdict for study in studies]
    return ", ".join(f"{found.count(v)} {v}" for v in VERDICTS if v in found)


def today() -> str:
    """The date, everywhere the same."""
    return f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def machine() -> str:
    """Where the studies ran, in general words."""
    from alight.core import devices

    gpus = [device.label for device in devices.available() if device.is_gpu]
    names = [f"{name} {metadata.version(name)}" for name in ("alight", "numpy", "warp-lang")]
    kind = f"{cores()} cores ({platform.machine()}, {platform.system()})"
    versions = f"Python {platform.python_version()}, {', '.join(names)}"
    return f"{kind}, {' '.join(gpus) or 'no GPU'}; {versions}; {_commit()}."


def _commit() -> str:
    """The commit, and whether files differed from it."""
    command = ["git", "describe", "--always", "--dirty= with changes", "--exclude=*"]
    done = subprocess.run(command, cwd=depends.ROOT, capture_output=True, text=True)
    return f"commit {done.stdout.strip()}" if done.returncode == 0 else "no commit known"


def _section(file: str, studies: list[Study]) -> list[str]:
    tree = depends.tree_of(depends.ROOT / file)
    lines = [f"## `{file}`", "", first_line(tree), "", "| study | checks | verdict | s |"]
    lines += ["|---|---|---|---:|"]
    for function, group in itertools.groupby(studies, key=lambda s: s.function):
        lines.append(_row(tree, function, list(group)))
    return [*lines, ""]


def _row(tree: ast.Module, function: str, cases: list[Study]) -> str:
    worst = max((case.verdict for case in cases), key=VERDICTS.index)
    verdict = worst if worst == "passed" else f"**{worst}**"
    if len(cases) > 1:
        count = sum(case.verdict == worst for case in cases)
        verdict += f" ({count} of {len(cases)} cases)"
    reasons = sorted({case.reason for case in cases if case.reason})
    verdict += "".join(f": {_cell(reason)}" for reason in reasons)
    seconds = sum(case.seconds for case in cases)
    name = function.rpartition("::")[2]
    return f"| `{name}` | {_cell(_checks(tree, name))} | {verdict} | {seconds:.0f} |"


def _checks(tree: ast.Module, function: str) -> str:
    """What a study checks: the first line of its docstring, or its name in words."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function and ast.get_docstring(node):
            return first_line(node)
    return function.removeprefix("test_").replace("_", " ")


def first_line(node: ast.Module | ast.FunctionDef) -> str:
    """The first line of a docstring."""
    return (ast.get_docstring(node) or "").partition("\n")[0]


def _cell(text: str) -> str:
    """Text that may stand in a table."""
    return " ".join(text.split()).replace("|", "\\|")
