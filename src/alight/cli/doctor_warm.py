"""``alight doctor --warm``: tables and kernels of scenarios made ahead, so that later starts are
short."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from alight.cli import screen
from alight.cli.names import scenario_of
from alight.core.errors import InputError

if TYPE_CHECKING:
    from alight.core.devices import Device

#: Runs of a campaign that are looked at for what they have of their own.
_SAMPLED = 8


def warm(names: Sequence[str], as_json: bool) -> list[str]:
    """Make ahead what these scenarios need, or all that are shipped; what could not be made.

    Kernels are compiled in full, so that later processes neither compile nor have slower ones.
    """
    from alight.core import compile_effort, devices
    from alight.scenario.shipped_scenarios import shipped

    chosen = [(name, scenario_of(name)) for name in names or shipped()]
    places = devices.available()
    os.environ[compile_effort.VARIABLE] = "full"
    problems = []
    for count, (name, given) in enumerate(chosen, 1):
        ready, said = _warmed(given, places, silent=as_json)
        where = " and ".join(place.name for place in places)
        if not as_json:
            screen.echo(f"[{count}/{len(chosen)}] {name} on {where}: {said}")
        problems += [] if ready else [f"{name} on {where}: {said}"]
    return problems


def _warmed(given: Any, places: Sequence[Device], silent: bool) -> tuple[bool, str]:
    """Whether all was made, and what is reported of it.

    Compilers for all devices work at the same time: most of it is the waiting for the longest.
    """
    from alight import scenario as scenarios
    from alight.core.compile_notice import reported
    from alight.core.progress import duration
    from alight.engine.compile_ahead import compile_for_all

    begun, show = time.perf_counter(), "silent" if silent else "auto"
    try:
        with reported(show):
            made = [scenarios.prepare(given, place.name, show) for place in places]
            models = [prepared.groups({})[0].model for prepared in made]
            own = _own(given, made[0])
            compile_for_all(list(zip(models, places, strict=True)), own)
            for prepared, place in zip(made, places, strict=True):
                if place.is_cpu:  # whatever else a run needs, it has when it has run
                    prepared.simulate(place.name)
    except InputError as mistake:
        return False, str(mistake)
    return True, f"ready after {duration(time.perf_counter() - begun)}"


def _own(given: Any, prepared: Any) -> str:
    """What runs of a campaign have of their own, as some of them have it."""
    from alight.campaign.dispersions.sampling import sample
    from alight.engine.worlds import ALL, least_own

    values = sample(given, np.arange(_SAMPLED), total=_SAMPLED)
    models = [group.model for group in prepared.groups(values)]
    return least_own(models[0]) if len(models) == 1 else ALL
