"""A comparison in words: answers for its page, lines for a terminal, cells of its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from alight.analysis.intervals import Estimate
from alight.analysis.two_samples import COMPLETE, LEVEL, SWAPS
from alight.views import words
from alight.views.compare.sides import Changed, Pair
from alight.views.estimates import percent, range_text
from alight.views.report.section import named

if TYPE_CHECKING:
    from alight.views.compare.findings import Against, Comparison, Row
    from alight.views.report.requirements import Judged

#: Values and differences that an answer names; the rest is counted.
NAMED = 4

#: What tests are called on the page.
TESTS = {
    "Fisher": "Fisher",
    "McNemar": "McNemar",
    "Kolmogorov-Smirnov": "KS",
    "swapped pairs": "KS\u00a0pairs",
}


def answers(found: Comparison) -> list[tuple[str, str]]:
    """The questions of the page and what it says to them."""
    out = [("Do the scenarios differ?", _scenarios(found))]
    for number, pair in enumerate(found.pairs):
        more = f": {pair.second.name} against {found.first.name}" if len(found.pairs) > 1 else ""
        out.append((f"Do the answers differ{more}?", _differences(found, number)))
        out.append((f"What stays the same{more}?", _same(found, number)))
    return out


def _scenarios(found: Comparison) -> str:
    if not found.scenario:
        return "No: every value of the resolved scenarios is the same." + _circumstances(found)
    told = [_change(one) for one in found.scenario[:NAMED]]
    more = len(found.scenario) - NAMED
    rest = f"; and in {more} more" if more > 0 else ""
    count = len(found.scenario)
    head = "Yes, in one value" if count == 1 else f"Yes, in {count} values"
    return f"{head}: {'; '.join(told)}{rest}.{_circumstances(found)}"


def _circumstances(found: Comparison) -> str:
    told = [one for one in found.circumstances if one.key != "runs"]
    return f" Also {'; '.join(_change(one) for one in told)}." if told else ""


def _change(one: Changed) -> str:
    if len(one.values) == 2:
        return f"{one.key} {one.values[0]} → {one.values[1]}"
    return f"{one.key} {', '.join(one.values)}"


def _differences(found: Comparison, number: int) -> str:
    pair = found.pairs[number]
    if not pair.tested:
        return _not_tested(pair)
    rows, same = found.differing(number), found.same_runs(number)
    if same is not None and same[0] == same[1]:
        return f"No: all {same[1]} runs have the same numbers in both, to the last bit."
    if not rows:
        return (
            f"No difference was found in {found.tests} comparisons: chance alone explains what is "
            f"seen (p of at least {_p(_least(found, number))} after correction)."
        )
    told = [_said(row, number) for row in rows[:NAMED]]
    more = len(rows) - NAMED
    rest = f"; and in {more} more" if more > 0 else ""
    count = sum(row.against[number].p is not None for row in found.rows)
    return (
        f"Yes, in {len(rows)} of {count} comparisons ({pair.first.name} → {pair.second.name}): "
        f"{'; '.join(told)}{rest}."
    )


def _not_tested(pair: Pair) -> str:
    still = [side.name for side in (pair.first, pair.second) if not side.drawn or side.runs < 2]
    return (
        f"{named(still)} {'is' if len(still) == 1 else 'are'} no random sample (nothing is "
        "dispersed at random, or there is one run): values stand side by side below, and chance "
        "has no part in them."
    )


def _least(found: Comparison, number: int) -> float:
    chances = [row.against[number].p for row in found.rows]
    return min((p for p in chances if p is not None), default=1.0)


def _said(row: Row, number: int) -> str:
    """A difference in short: of shares or medians; of spreads where medians may be equal."""
    found = row.against[number].tested
    assert found is not None
    sides = (0, number + 1)
    if row.share:
        a, b = (percent(row.values[k].value) for k in sides)
        return f"share {row.label} {a} → {b}"
    if found.difference.low <= 0.0 <= found.difference.high:
        a, b = (_range_cell(row, k) for k in sides)
        return f"{row.label}, 5 to 95 % of the runs from {a} → from {b}"
    a, b = _side_by_side([row.values[k].value for k in sides], row)
    return f"{row.label}, median {a} → {b} {row.unit.name}".strip()


def _range_cell(row: Row, number: int) -> str:
    low, high = _side_by_side(row.ranges[number], row)
    return f"{low} to {high} {row.unit.name}".strip()


def _same(found: Comparison, number: int) -> str:
    pair = found.pairs[number]
    same = found.same_runs(number)
    told = []
    if same is not None:
        alike, count = same
        told.append(
            f"{count} runs have the same draws in both and are compared in pairs; "
            f"{'all' if alike == count else alike or 'none'} of them have the same numbers to the "
            "last bit."
        )
        if alike == count:
            return told[0]
    if not pair.tested:
        return " ".join(told) or "Not tested."
    against = [(row, row.against[number]) for row in found.rows]
    rows = [row for row, one in against if one.tested is not None and not one.differs]
    if rows:
        labels = [f"share {row.label}" if row.share else row.label for row in rows]
        listed = named(labels[:NAMED]) if len(labels) <= NAMED else ", ".join(labels[:NAMED])
        more = f" and {len(labels) - NAMED} more" if len(labels) > NAMED else ""
        told.append(
            f"No difference was found in {listed}{more}; their intervals below say how large one "
            "may still be."
        )
    return " ".join(told)


# -- cells of tables -----------------------------------------------------------------------------


def value_cell(row: Row, number: int) -> str:
    """Share or median of a campaign, with its interval."""
    one = row.values[number]
    if one.n == 0 or not np.isfinite(one.value):
        return "no run has it"
    if row.share:
        ends = f" ({range_text(one)})" if np.isfinite(one.low) else ""
        return f"{percent(one.value)}{ends}"
    return _with_interval(one, row)


def _with_interval(one: Estimate, row: Row) -> str:
    value, low, high = _side_by_side((one.value, one.low, one.high), row)
    ends = f" ({low} to {high})" if np.isfinite([one.low, one.high]).all() and low != high else ""
    return f"{value}{ends} {row.unit.name}".strip()


def _side_by_side(values: Sequence[float], row: Row) -> list[str]:
    """Values in the unit of their row, with digits that go together; what is nothing beside the
    spread is 0."""
    if not np.isfinite(values).all():
        return [_shown(value, row) for value in values]
    reach = max((high - low for low, high in row.ranges if np.isfinite(high - low)), default=0.0)
    shown = [0.0 if abs(x) < 1e-6 * reach else x / row.unit.size for x in values]
    return [_minus(text) for text in (map(_whole, shown) if row.whole else words.row(shown))]


def _shown(value: float, row: Row) -> str:
    """A value in the unit of its row."""
    return _minus(_whole(value / row.unit.size) if row.whole else row.unit.of(value))


def _whole(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.1f}"


def difference_cell(row: Row, one: Against) -> str:
    """How far apart, with the interval."""
    if one.tested is None:
        return "not tested"
    found = one.tested.difference
    if row.share:
        value, low, high = (
            f"{100.0 * x:+.{_decimals(found)}f}" for x in (found.value, found.low, found.high)
        )
        return f"{_plus(value)} ({_plus(low)} to {_plus(high)}) points"
    given = (found.value, found.low, found.high)
    texts = _side_by_side(given, row)
    value, low, high = (_signed(text) for text in texts)
    if not np.isfinite(given).all():
        return f"{value} {row.unit.name}".strip()
    return f"{value} ({low} to {high}) {row.unit.name}".strip()


def _decimals(found: Estimate) -> int:
    return 1 if 100.0 * (found.high - found.low) > 0.5 else 3


def _signed(text: str) -> str:
    return text if text.startswith("−") or text == "0" else f"+{text}"


def _plus(text: str) -> str:
    """A signed number with the sign of print; zero has none."""
    return _minus(text) if float(text) else "0"


def _minus(text: str) -> str:
    return text.replace("-", "−", 1) if text.startswith("-") else text


def verdict_cell(one: Judged | None) -> str:
    """What a campaign says of a requirement."""
    if one is None:
        return "not required"
    if not one.verdict.runs:
        return one.verdict.word
    return f"{one.verdict.word}: {one.verdict.met} of {one.verdict.runs} runs"


def p_cell(one: Against) -> str:
    """The corrected chance, marked where a difference was found."""
    if one.p is None:
        return ""
    return f"{_p(one.p)}{' *' if one.differs else ''}"


def _p(value: float) -> str:
    if value >= 1.0:
        return "1"
    if value < 1e-4:
        return "below 0.0001"
    return f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


def test_cell(one: Against) -> str:
    """Name of the test."""
    return "" if one.tested is None else TESTS[one.tested.test]


# -- how it was done -----------------------------------------------------------------------------


def method(found: Comparison) -> list[str]:
    """How campaigns were compared, a paragraph each."""
    out = [_pairing(pair) for pair in found.pairs]
    if any(pair.tested for pair in found.pairs):
        out.append(
            f"p is the chance of a difference as large where there is none, corrected by Holm's "
            f"steps for the {found.tests} comparisons on this page: with no difference at all, "
            f"the chance that any p is below {LEVEL:g} is {percent(LEVEL)} at most. A difference "
            "counts as found (*) below that. That none was found does not prove that there is "
            "none: the interval of a difference says how large it may be."
        )
        out.append(
            "Shares: Fisher's exact test and Newcombe's interval; in pairs McNemar's exact test "
            "and Bonett and Price's interval. Quantities: the test of Kolmogorov and Smirnov (KS) "
            "of the two distributions, and the bootstrap's interval of the difference of medians; "
            f"in pairs the same with {SWAPS} random swaps within pairs, and a bootstrap of pairs. "
            "Intervals are of 95 % and not corrected. A quantity is compared over the runs that "
            f"have it, in pairs where {percent(COMPLETE)} of these have it in both."
        )
    return out


def _pairing(pair: Pair) -> str:
    who = f"{pair.second.name} and {pair.first.name}"
    if not pair.tested:
        return f"{who}: {_not_tested(pair)}"
    if pair.common is None:
        return (
            f"{who} have other seeds or samplings, and so other draws: they are compared as "
            "independent samples."
        )
    less = max(pair.first.runs, pair.second.runs) - len(pair.common)
    rest = f" {less} runs that one of them has beyond are left out." if less else ""
    return (
        f"{who} have the same seed: run by run the same random numbers were drawn, and runs are "
        f"compared in pairs, {len(pair.common)} of them. What both have in common cancels, so that "
        f"smaller differences are found.{rest}"
    )


# -- terminal ------------------------------------------------------------------------------------


def summary(found: Comparison) -> list[str]:
    """A few lines for print."""
    names = [side.name for side in found.sides]
    out = [f"Comparison of {named(names)}, {found.first.found.things}"]
    return out + [f"{question} {answer}" for question, answer in answers(found)]


def heads(found: Comparison, number: int) -> Sequence[str]:
    """Of the table of one campaign against the first."""
    names = found.first.name, found.sides[number + 1].name
    return ["share or median", *names, "difference (95 % interval)", "p"]
