"""A comparison for scripts: JSON of everything that was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from alight.views.report.findings import plain

if TYPE_CHECKING:
    from alight.views.compare.findings import Against, Comparison, Row


def numbers(found: Comparison) -> dict[str, Any]:
    """Shares and medians in SI units, or in those that columns end in; p is corrected."""
    return {
        "kind": found.kind,
        "campaigns": [
            {"name": side.name, "folder": str(side.campaign.folder), "runs": side.runs}
            for side in found.sides
        ],
        "scenario": [{"key": one.key, "values": list(one.values)} for one in found.scenario],
        "circumstances": [
            {"key": one.key, "values": list(one.values)} for one in found.circumstances
        ],
        "requirements": [
            {"requirement": name, "verdicts": [one and one.verdict.word for one in told]}
            for name, told in found.requirements.items()
        ],
        "tests": found.tests,
        "pairs": [
            {
                "first": pair.first.name,
                "second": pair.second.name,
                "paired_runs": None if pair.common is None else len(pair.common),
                "identical_runs": None if (same := found.same_runs(k)) is None else same[0],
                "tested": pair.tested,
                "differs": [row.column for row in found.differing(k)],
            }
            for k, pair in enumerate(found.pairs)
        ],
        "shares": [_row(row) for row in found.shares],
        "medians": [_row(row) for row in found.quantities],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "column": row.column,
        "label": row.label,
        "values": [plain(value) for value in row.values],
        "against_first": [_against(one) for one in row.against],
    }


def _against(one: Against) -> dict[str, Any] | None:
    if one.tested is None:
        return None
    return {
        "difference": plain(one.tested.difference),
        "test": one.tested.test,
        "p": one.tested.p,
        "p_corrected": one.p,
        "differs": one.differs,
    }
