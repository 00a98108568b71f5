"""``alight doctor --warm``: tables and kernels of scenarios made ahead, so that later starts are
short."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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
        for place, (ready, said) in zip(places, _warmed(given, places, as_json), strict=True):
            if not as_json:
                screen.echo(f"[{count}/{len(chosen)}] {name} on {place.name}: {said}")
            problems += [] if ready else [f"{name} on {place.name}: {said}"]
    return problems


def _warmed(given: Any, places: Sequence[Device], silent: bool) -> list[tuple[bool, str]]:
    """For each device whether all was made, and what is reported of it.

    Compilers of all devices work at the same time: most of it is the waiting for the longest.
    """
    from alight.core.compile_notice import reported

    show = "silent" if silent else "auto"
    with reported(show), ThreadPoolExecutor(len(places), "warm") as pool:
        begun = time.perf_counter()
        made = [_model(given, place, show) for place in places]
        work = [pool.submit(_made_ready, *pair, begun) for pair in zip(made, places, strict=True)]
        return [each.result() for each in work]


def _model(given: Any, place: Device, show: str) -> Any:
    """A scenario with its tables, or the mistake in it."""
    from alight import scenario as scenarios

    try:
        return scenarios.prepare(given, place.name, show)
    except InputError as mistake:
        return mistake


def _made_ready(prepared: Any, place: Device, begun: float) -> tuple[bool, str]:
    """Compile all kernels for one device."""
    from alight.core.progress import duration
    from alight.engine.compile_ahead import compile_for_all
    from alight.engine.worlds import ALL, least_own

    if isinstance(prepared, InputError):
        return False, str(prepared)
    try:
        model = prepared.groups({})[0].model
        compile_for_all(model, place, least_own(model) if _contact_alone(prepared) else ALL)
        if place.is_cpu:  # whatever else a run needs, it has when it has run
            prepared.simulate(place.name)
    except InputError as mistake:
        return False, str(mistake)
    return True, f"ready after {duration(time.perf_counter() - begun)}"


def _contact_alone(prepared: Any) -> bool:
    """Whether the models of a campaign's runs differ in their contact laws alone."""
    keys = prepared.scenario.dispersions
    return all(str(key).partition(".")[0] in ("contact", "release") for key in keys)
