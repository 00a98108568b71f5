"""docs/reference/trust.md: what was verified against what, how well, and what is not modelled.

``python -m tools.trust_page`` writes it, and so does ``make validate``; a test sees that it is up
to date. Everything on it is written elsewhere: verdicts of slow studies in
docs/reference/validation.md, what tests check in their first lines, the comparison with other
engines in benchmarks/RESULTS.md, flown landings in docs/explanation/flight_events.md, and claims of
papers in tools/claims.toml.
"""

from __future__ import annotations

import ast
import pathlib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGE = DOCS / "reference" / "trust.md"
VALIDATION = DOCS / "reference" / "validation.md"
EVENTS = DOCS / "explanation" / "flight_events.md"
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
CLAIMS = ROOT / "tools" / "claims.toml"

#: Numbers of lists that are no part of the documentation, in the first lines of tests.
CODES = re.compile(r",? ?\b(?:FACTS [\w.*-]+(?:, [BF][\w.*-]+)*|B\d-\d)")

#: Verdicts on claims, best first, and how the page writes them.
VERDICTS = {
    "reproduced": "reproduced",
    "in part": "**in part**",
    "not reproduced": "**not reproduced**",
    "not given": "not given",
}

HEAD = """# What was verified, and how well

Written by `python -m tools.trust_page` from records of runs: `make validate`
([validation.md](validation.md)), `make bench` ([results](../../benchmarks/RESULTS.md)) and the
flown landings ([flight_events.md](../explanation/flight_events.md)). Typed by hand are
only the papers' claims, whose checks are named, and what each file of tests compares with.

Slow studies: **{counts}**. Thousands of quick tests more run with every change.

{runs}
"""

CHECKED = """
## What is checked against what

One file of tests a phenomenon; its header has the equations. Quick tests run with every change,
slow ones with `make validate`; a verdict is that of the slow ones.

| phenomenon | against | file in `tests/` | quick tests | slow studies | verdict |
|---|---|---|---|---:|---|
"""

PAPERS = """
## The papers' claims

{counted} The number of a paper links to the page that says how. *Check* is the verdict of the slow
studies that the claim rests on, or "with every change" where quick tests hold it.
"""

FLOWN = """
## Flown landings

{summary} Bands and inputs were fixed before the runs, with exceptions that are listed in
[flight_events.md](../explanation/flight_events.md), which has the sources.

"""

PEERS = """
## Beside another engine

A cube on a plane at 1e-4 m/s², the same for all, followed to rest. {stated} How the other engine
was asked, and what each got right: [peers.md](../explanation/peers.md). Measured: {machine}.

"""

LEFT_OUT = """
## What is not modelled

"""


@dataclass(frozen=True)
class Slow:
    """One row of the page of slow studies."""

    file: str
    function: str
    cases: int
    passed: bool
    verdict: str


def slow_studies() -> list[Slow]:
    """Every row of docs/reference/validation.md."""
    found, file = [], ""
    for line in VALIDATION.read_text("utf-8").splitlines():
        if head := re.fullmatch(r"## `(.+)`", line):
            file = head[1]
        if row := re.match(r"\| `(\w+)` \|.*\| (\S[^|]*) \| \d+ \|$", line):
            verdict = row[2].replace("*", "")
            cases = re.search(r"of (\d+) cases", verdict)
            count = int(cases[1]) if cases else 1
            found.append(Slow(file, row[1], count, verdict.startswith("passed"), verdict))
    return found


def text() -> str:
    """The page."""
    slow = slow_studies()
    parts = [_head(), CHECKED, *_checked(slow), *_papers(slow), *_flown(), *_peers(), LEFT_OUT]
    return "".join([*parts, *_left_out()]).rstrip() + "\n"


def _head() -> str:
    page = VALIDATION.read_text("utf-8")
    counts = re.search(r"^\*\*(.+?)\.\*\*$", page, re.M)
    assert counts is not None, "the page of slow studies begins with its counts"
    runs = "\n".join(re.findall(r"^- \d{4}-\d\d-\d\d: .+$", page, re.M))
    return HEAD.format(counts=counts[1], runs=runs)


# -- phenomena ------------------------------------------------------------------------------------


def _checked(slow: list[Slow]) -> Iterator[str]:
    against = claims()["against"]
    for path in checks():
        name = str(path.relative_to(ROOT))
        own = [one for one in slow if one.file == name]
        quick, marked = _tests(path)
        late = marked - {one.function for one in own}
        verdict = _verdict(own, quick) + (f"; **{len(late)} not run yet**" if late else "")
        file = f"`{path.relative_to(ROOT / 'tests')}`"
        cells = (_first_line(path), against[name], file, "yes" if quick else "–", _cases(own))
        yield f"| {' | '.join(cells)} | {verdict.removeprefix('; ')} |\n"


def checks() -> list[pathlib.Path]:
    """Files of tests that compare with something else than Alight, in the order of the page."""
    folders = (ROOT / "tests" / name for name in ("verification", "crosscheck"))
    return [path for folder in folders for path in sorted(folder.glob("test_*.py"))]


def _cases(studies: list[Slow]) -> str:
    return str(sum(one.cases for one in studies) or "–")


def _first_line(path: pathlib.Path) -> str:
    said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or path.stem
    plain = CODES.sub("", said.partition("\n")[0]).replace("()", "").replace(" .", ".")
    return plain.replace("|", "\\|").rstrip(" .")


def _tests(path: pathlib.Path) -> tuple[set[str], set[str]]:
    """Test functions of a file that run with every change, and those that are slow studies."""
    tree = ast.parse(path.read_text("utf-8"))
    whole = "pytestmark = pytest.mark.validate" in ast.unparse(tree)
    tests = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    named = [one for one in tests if one.name.startswith("test_")]
    slow = {one.name for one in named if whole or "mark.validate" in _marks(one)}
    return {one.name for one in named} - slow, slow


def _marks(test: ast.FunctionDef | ast.ClassDef) -> str:
    return " ".join(ast.unparse(mark) for mark in test.decorator_list)


def _verdict(studies: list[Slow], quick: bool | set[str] = True) -> str:
    if not studies:
        return "with every change" if quick else ""
    wrong = [f"{one.function}: {one.verdict}" for one in studies if not one.passed]
    return "passed" if not wrong else f"**{'; '.join(wrong)}**"


# -- papers ---------------------------------------------------------------------------------------


def claims() -> dict[str, Any]:
    """The file of claims."""
    return tomllib.loads(CLAIMS.read_text("utf-8"))


def _papers(slow: list[Slow]) -> Iterator[str]:
    papers = claims()["paper"]
    every = [claim["verdict"] for paper in papers for claim in paper["claim"]]
    counts = [f"{every.count(v)} {v}" for v in VERDICTS if v in every]
    yield PAPERS.format(counted=f"Of {len(every)} claims: {', '.join(counts)}.")
    yield "\n| paper | claim | verdict | found | check |\n|---|---|---|---|---|\n"
    for paper in papers:
        link = f"[{paper['number']}](../explanation/{paper['page']})"
        for one in paper["claim"]:
            check = _check(one, slow)
            cells = (link, one["claim"], VERDICTS[one["verdict"]], one["found"], check)
            yield f"| {' | '.join(cells)} |\n"


def _check(claim: dict[str, Any], slow: list[Slow]) -> str:
    """The verdict of the slow studies that a claim rests on."""
    own = []
    for study in claim.get("studies", ()):
        file, _, function = study.partition("::")
        found = [s for s in slow if s.file == file and function in ("", s.function)]
        if not found:
            return "**not run since the study was written**"
        own += found
    return _verdict(own)


# -- flown landings, other engines, what is left out ----------------------------------------------


def _flown() -> Iterator[str]:
    part = EVENTS.read_text("utf-8").partition("<!-- verdicts:")[2].partition("<!-- /verdicts")[0]
    rows = [line for line in part.splitlines() if line.startswith("|")]
    summary = next(line for line in part.splitlines() if line.startswith("Of "))
    yield FLOWN.format(summary=summary)
    yield "\n".join(rows) + "\n"


def _peers() -> Iterator[str]:
    for machine in re.split(r"^## ", RESULTS.read_text("utf-8"), flags=re.M)[1:]:
        part = re.search(r"^### Side by side\n(.*?)(?=^### |\Z)", machine, re.M | re.S)
        if part is None:
            continue
        stated = next(line for line in part[1].splitlines() if line.startswith("Run on "))
        yield PEERS.format(stated=stated, machine=machine.partition("\n")[0])
        tables = re.findall(r"(?:^\|.*\n)+", part[1], re.M)
        yield "\n".join(tables)


def _left_out() -> Iterator[str]:
    for one in claims()["left_out"]:
        yield f"- {one['what']} ([more](../explanation/{one['page']})).\n"


def write() -> None:
    """Write the page."""
    PAGE.write_text(text(), "utf-8")


if __name__ == "__main__":
    write()
    print(f"wrote {PAGE.relative_to(ROOT)}")
