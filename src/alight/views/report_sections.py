"""The end of every report: what drives outcomes, whether runs are enough, how it was computed."""

from __future__ import annotations

from collections.abc import Iterator

from alight.views import campaign_figures as figures
from alight.views import report_page as html
from alight.views import report_words as text
from alight.views.report_data import CampaignData
from alight.views.report_files import Shelf
from alight.views.report_numbers import Told


def closing(shelf: Shelf) -> Iterator[html.Section]:
    """The sections that reports of all kinds end with."""
    found = shelf.found
    yield html.Section("What drives the outcome", list(_drives(shelf, found)))
    yield html.Section("Are the runs enough?", list(_enough(shelf)))
    yield html.Section("How runs ended", [_outcomes(found)])
    yield html.Section("How it was computed", [html.facts(found.data.facts)])
    yield html.Section("The scenario", list(_scenario(found.data)))


def _drives(shelf: Shelf, found: Told) -> Iterator[str]:
    if found.sensitivity is None:
        yield html.paragraph(
            "Nothing is dispersed in this campaign but, at most, the attitude."
            if not found.data.inputs
            else "There are too few runs to tell."
        )
        return
    used, runs = found.ranked, found.data.runs
    rows = "all runs" if used == runs else f"{used} of the runs, evenly spaced"
    yield shelf.draw(
        "sensitivity",
        figures.draw_sensitivity,
        f"Bars of rank correlation between what is uncertain and how {found.things} go",
        "Spearman's rank correlation: +1 where the outcome always grows with the input, -1 where "
        "it always falls, 0 where it does neither. Bars within the grey band may be chance. Taken "
        f"over {rows}. Attitudes are left out: their numbers have no order.",
    )
    yield html.paragraph(
        "First-order Sobol indices, which also see what neither grows nor falls steadily:"
    )
    yield html.table(text.SOBOL_HEAD, text.sobol_rows(found))


def _enough(shelf: Shelf) -> Iterator[str]:
    yield shelf.draw(
        "convergence",
        figures.draw_convergence,
        "The main answers against the number of runs",
        "What the first runs alone would have answered. Band: 95 % interval. Dashed: the answer "
        "from all runs.",
    )


def _outcomes(found: Told) -> str:
    return html.table(text.OUTCOME_HEAD, text.outcome_rows(found), (1, 2, 3))


def _scenario(data: CampaignData) -> Iterator[str]:
    varied = data.scenario.get("dispersions", {})
    names = ", ".join(sorted(varied)) or "nothing"
    yield html.paragraph(f"With every default filled in. Varied from run to run: {names}.")
    yield html.code(data.scenario_text)
