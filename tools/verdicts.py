"""Verdicts of slow studies as they come, in a file: what a run that was broken off had found.

A verdict holds while nothing that the study rests on has changed: beside it stands a digest of the
files that ``depends`` finds. A study that was skipped is tried again: why, is up to the machine.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import pathlib

from tools import depends
from tools.validation_page import Run, Study, machine, today

#: A change of these can change every verdict.
EVERYTHING = ("pyproject.toml", "tests/conftest.py", "src/alight/core/warp_setup.py")


@functools.cache
def digest(file: str) -> str:
    """A digest of all that the studies of a test file rest on."""
    root = depends.ROOT
    files = {*depends.closure(root / file), *(root / name for name in EVERYTHING)}
    whole = hashlib.sha256()
    for path in sorted(path for path in files if path.is_file()):
        whole.update(str(path.relative_to(root)).encode())
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:16]


class Verdicts:
    """The file: a line for each run that began, and one for each study that ended in it."""

    def __init__(self, path: pathlib.Path, resume: bool) -> None:
        self.path = path
        self.runs: list[Run] = []
        self.kept: list[Study] = []
        if resume and path.is_file():
            self._read()
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(dataclasses.asdict(run)) for run in self.runs]
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        for study in self.kept:
            self._append(study)
        self.begin(Run(today(), machine()))

    def _read(self) -> None:
        studies: dict[str, Study] = {}
        for line in self.path.read_text("utf-8").splitlines():
            found = json.loads(line)
            if "nodeid" in found:
                studies[found["nodeid"]] = Study(**found)
            else:
                self.runs.append(Run(**found))
        self.kept = [study for study in studies.values() if self._holds(study)]

    @staticmethod
    def _holds(study: Study) -> bool:
        there = (depends.ROOT / study.file).is_file()
        return study.verdict == "passed" and there and study.rests_on == digest(study.file)

    def begin(self, run: Run) -> None:
        """A run begins: the studies that end from now on are its own."""
        self.runs.append(run)
        self._append(run)

    def add(self, study: Study) -> None:
        """A study has ended."""
        study.run, study.rests_on = len(self.runs) - 1, digest(study.file)
        self._append(study)

    def _append(self, row: Run | Study) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(dataclasses.asdict(row)) + "\n")
