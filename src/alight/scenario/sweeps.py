"""Sweeps: every combination of listed values once, and the number of runs that this makes."""

from __future__ import annotations

from typing import Any

from alight.scenario.dispersion import SWEEP
from alight.scenario.errors import Fault

#: Combinations of a sweep, at most: the runs that a campaign may have.
MOST = 10**9


def with_runs_of_sweep(scenario: Any, given: Any) -> tuple[Any, list[Fault]]:
    """A scenario whose number of runs follows from its sweep; ``given`` is what its file says."""
    keys, repeats = scenario.sweep_keys(), scenario.campaign.repeats
    if not keys:
        said = 'goes with a sweep, a dispersion of kind = "sweep"; this scenario has none'
        return scenario, [Fault("campaign.repeats", said)] if repeats is not None else []
    found = []
    random = any(one.kind != SWEEP for one in scenario.dispersions.values())
    if (repeats or 1) > 1 and not random:
        said = "runs of one combination would all be the same: nothing else is dispersed"
        found.append(Fault("campaign.repeats", said))
    total = scenario.combinations() * (repeats or 1)
    if total > MOST:
        found.append(Fault("dispersions", f"the sweep makes {total} runs; {MOST} are the most"))
    elif given is not None and given != total:
        found.append(Fault("campaign.runs", wrong_runs(scenario, given, keys)))
    if found:
        return scenario, found
    campaign = scenario.campaign.model_copy(update={"runs": total})
    return scenario.model_copy(update={"campaign": campaign}), []


def wrong_runs(scenario: Any, given: int, keys: list[str]) -> str:
    """What to say of a number of runs that does not fit a sweep."""
    count = scenario.combinations()
    times = f" (repeats = {given // count} makes {given})" if given % count == 0 else ""
    return (
        f"is {given}, and the sweep of {', '.join(keys)} has {count} combinations: leave "
        f"runs out, each is run once or campaign.repeats times{times}"
    )
