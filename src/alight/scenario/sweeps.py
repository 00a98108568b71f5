"""Sweeps: every combination of listed values once, and the number of runs that this makes."""

from __future__ import annotations

from typing import Any

from alight.scenario.dispersion import RUN_NUMBER, SWEEP
from alight.scenario.errors import Fault

#: Combinations of a sweep, at most: the runs that a campaign may have.
MOST = 10**9


def following_runs(scenario: Any, given: Any) -> tuple[Any, list[Fault]]:
    """A scenario whose number of runs follows from its sweep, or from a file with a row for each.

    ``given`` is what its file says of it.
    """
    keys, repeats = scenario.sweep_keys(), scenario.campaign.repeats
    found, total = [], given
    if keys:
        total = scenario.combinations() * (repeats or 1)
        found = _sweep_problems(scenario, given, total, keys)
    elif repeats is not None:
        said = 'goes with a sweep, a dispersion of kind = "sweep"; this scenario has none'
        found = [Fault("campaign.repeats", said)]
    if total is None:
        total = scenario.most_runs()
    if total is None or found:
        return scenario, found
    if wrong := too_many_runs(scenario, total):
        return scenario, [Fault("campaign.runs", wrong)]
    campaign = scenario.campaign.model_copy(update={"runs": total})
    return scenario.model_copy(update={"campaign": campaign}), []


def _sweep_problems(scenario: Any, given: Any, total: int, keys: list[str]) -> list[Fault]:
    found = []
    random = any(one.kind not in (SWEEP, RUN_NUMBER) for one in scenario.dispersions.values())
    if (scenario.campaign.repeats or 1) > 1 and not random:
        said = "would repeat the same run, as nothing else is dispersed; leave it out"
        found.append(Fault("campaign.repeats", said))
    if total > MOST:
        found.append(Fault("dispersions", f"the sweep makes {total} runs; {MOST} are the most"))
    elif given is not None and given != total:
        found.append(Fault("campaign.runs", wrong_runs(scenario, given, keys)))
    return found


def too_many_runs(scenario: Any, total: int) -> str:
    """What to say of more runs than there are rows for; nothing where there are enough."""
    most = scenario.most_runs()
    if most is None or total <= most:
        return ""
    rows = "1 row" if most == 1 else f"{most} rows"
    return (
        f"is {total}, and the file that each run takes a row of has {rows}: leave runs out, or "
        f"take {most} at most"
    )


def wrong_runs(scenario: Any, given: int, keys: list[str]) -> str:
    """What to say of a number of runs that does not fit a sweep."""
    count = scenario.combinations()
    times = f" (repeats = {given // count} makes {given})" if given % count == 0 else ""
    return (
        f"is {given}, and the sweep of {', '.join(keys)} has {count} combinations: leave "
        f"runs out, each is run once or campaign.repeats times{times}"
    )
