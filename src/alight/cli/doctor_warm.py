"""``alight doctor --warm``: tables and kernels of scenarios made ahead, so that later starts are
short."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from alight.cli import screen
from alight.cli.names import scenario_of
from alight.core.errors import InputError

if TYPE_CHECKING:
    from alight.core.devices import Device


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
        for place in places:
            said = _warmed(given, place, silent=as_json)
            if not as_json:
                screen.echo(f"[{count}/{len(chosen)}] {name} on {place.name}: {said[1]}")
            problems += [] if said[0] else [f"{name} on {place.name}: {said[1]}"]
    return problems


def _warmed(given: Any, place: Device, silent: bool) -> tuple[bool, str]:
    """Whether all was made, and what is reported of it."""
    from alight import scenario as scenarios
    from alight.core.compile_notice import reported
    from alight.core.progress import duration
    from alight.engine.compile_ahead import compile_for_all

    begun, show = time.perf_counter(), "silent" if silent else "auto"
    try:
        with reported(show):
            prepared = scenarios.prepare(given, place.name, show)
            model = prepared.groups({})[0].model
            compile_for_all(model, place)
            if place.is_cpu:  # whatever else a run needs, it has when it has run
                prepared.simulate(place.name)
    except InputError as mistake:
        return False, str(mistake)
    return True, f"ready after {duration(time.perf_counter() - begun)}"
