"""What the runs gave, as a file of numbers and as the tables of docs/explanation/flight_events.md.

The page is written from the file: a table that was edited by hand, or a verdict that does not
follow from its share, is found by tests/verification/test_flight_events.py.
"""

import json
import re
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

from flight_events_rule import RULE, Entry, Event, Quantity, Study, grade, read

#: The page and the numbers it is written from.
PAGE = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "flight_events.md"
STORE = Path(__file__).with_name("flight_events.json")

Stored = dict[str, Any]


def stored_results(file: Path = STORE) -> Stored:
    """Results of earlier runs, by study."""
    return json.loads(file.read_text("utf-8")) if file.exists() else {}


def store(events: list[Event], file: Path = STORE) -> Stored:
    """Results of earlier runs, with those of ``events`` in their place."""
    known = stored_results(file) | {e.study.name: e.stored() for e in events}
    results = {name: known[name] for name in read()[0] if name in known}
    file.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return results


# -- tables -------------------------------------------------------------------------------------


def number(value: float, digits: int) -> str:
    """A value as people write it."""
    return f"{float(f'{value:.{digits}g}'):,.10g}"


def band_text(q: Quantity) -> str:
    """The band with its unit."""
    low, high = (number(v, max(q.digits, 3)) for v in q.band)
    return f"{low} to {high} {q.unit}".strip() if low != high else f"{low} {q.unit}".strip()


def spread_text(q: Quantity, found: Stored) -> str:
    """Median, 5 % and 95 % of the runs that have a value."""
    if found["spread"] is None:
        return "none"
    low, middle, high = (number(v, q.digits) for v in found["spread"])
    return f"{middle} ({low} to {high}) {q.unit}".strip()


def share_text(found: Stored) -> str:
    """Share inside the band with its standard error [%]."""
    error = 100.0 * (found["inside"] * (1.0 - found["inside"]) / found["runs"]) ** 0.5
    return f"{100 * found['inside']:.0f} ± {error:.0f} %"


def verdict_table(studies: dict[str, Study], results: Stored) -> str:
    """All quantities of all studies."""
    lines = [
        "| event | quantity | band | runs: median (5 % to 95 %) | inside | below, above | use "
        "| verdict |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for study in studies.values():
        found = {f["key"]: f for f in results.get(study.name, {}).get("findings", [])}
        for q in study.quantities:
            if q.key not in found:
                continue
            f = found[q.key]
            outside = f"{100 * f['below']:.0f} %, {100 * f['above']:.0f} %"
            close = ", close" if f["close"] else ""
            lines.append(
                f"| {study.name} | {q.text} | {band_text(q)} | {spread_text(q, f)} "
                f"| {share_text(f)} | {outside} | {q.use} | **{f['verdict']}**{close} |"
            )
    return "\n".join(lines) + "\n"


def count_line(results: Stored) -> str:
    """How many of the predicted quantities came out how."""
    found = [f for r in results.values() for f in r["findings"] if f["use"] == "predicted"]
    counts = [sum(grade(f["inside"]) == g for f in found) for g in (0, 1, 2)]
    return (
        f"Of {len(found)} predicted quantities {counts[0]} are reproduced, {counts[1]} possible, "
        f"{counts[2]} not reproduced.\n"
    )


def entry_table(entries: list[Entry], results: Stored) -> str:
    """The list of events with what became of each."""
    lines = ["| event | run and judged, or left out because |", "|---|---|"]
    for entry in entries:
        if entry.study:
            found = results.get(entry.study, {}).get("findings", [])
            counts = Counter(f["verdict"] for f in found)
            verdicts = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
            lines.append(f"| {entry.event} | `{entry.study}`: {verdicts or 'not run yet'} |")
        else:
            lines.append(f"| {entry.event} | left out: {entry.left_out} |")
    return "\n".join(lines) + "\n"


def study_text(study: Study, results: Stored) -> str:
    """What a study rests on, and what else it gave."""
    found = results.get(study.name, {"findings": [], "notes": []})
    runs = max((f["runs"] for f in found["findings"]), default=0)
    bands = "; ".join(f"{q.text}: {band_text(q)} ({q.source})" for q in study.quantities)
    points = [
        f"**Flight**: {study.flight}.",
        f"**Judged**: {bands}.",
        f"**Known**: {study.known}.",
        "**Dispersed**: " + "; ".join(study.dispersed) + ".",
        f"**Not in the model**: {study.missing}.",
        *(f"**Found**: {note}" for note in found["notes"]),
    ]
    lines = [f"### {study.title}", "", f"`{study.name}`, {runs} runs; `{study.name}.png`.", ""]
    return "\n".join([*lines, *(_bullet(p) for p in points)]) + "\n"


def _bullet(text: str) -> str:
    """A point of a list, in lines of the page's width."""
    return textwrap.fill(text, 104, initial_indent="- ", subsequent_indent="  ",
                         break_long_words=False, break_on_hyphens=False)  # fmt: skip


# -- the page -----------------------------------------------------------------------------------


def blocks(studies: dict[str, Study], entries: list[Entry], results: Stored) -> dict[str, str]:
    """The parts of the page that are written from the results."""
    return {
        "rule": RULE,
        "verdicts": verdict_table(studies, results) + "\n" + count_line(results),
        "entries": entry_table(entries, results),
        "studies": "\n".join(study_text(s, results) for s in studies.values()),
    }


def with_blocks(page: str, made: dict[str, str]) -> str:
    """The page with each part between its marks replaced."""
    for name, text in made.items():
        first, last = f"<!-- {name}: written by examples/flight_events.py -->", f"<!-- /{name} -->"
        pattern = re.compile(f"{re.escape(first)}.*?{re.escape(last)}", re.S)
        if len(pattern.findall(page)) != 1:
            raise ValueError(f"the page must hold one part from '{first}' to '{last}'")
        page = pattern.sub(lambda _, t=f"{first}\n\n{text}\n{last}": t, page)
    return page
