"""The Sun of a campaign's scenario, for its report and its requirements: its way over the sky, or
why there is none."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from alight.core.errors import AlightError, InputError

if TYPE_CHECKING:
    from alight.analysis.rest_light import LightOf, RestLight
    from alight.analysis.sun import SunPath
    from alight.campaign.reader import Campaign
    from alight.core.requirements import Requirement
    from alight.scenario.schema.landing import Scenario
    from alight.scenario.schema.sun import Sun


def sun_of(table: Mapping[str, Any], date: str | None = None) -> SunPath | str | None:
    """The Sun of a resolved scenario; a sentence where it is not known; None if nobody asks.

    ``date`` goes before the scenario's own, and asks for a Sun where the scenario has none.
    """
    if "study" in table:
        why = "the study was made in Python, and does not say which body it is on, or when"
        return None if date is None else f"The position of the Sun is not known: {why}."
    given = table.get("environment", {}).get("sun")
    if given is None and date is None:
        return None
    try:
        scenario = _scenario(table, dict(given or {}), date)
        assert scenario.environment.sun is not None
        return _path(scenario, scenario.environment.sun)
    except AlightError as cause:
        text = str(cause).rstrip(".")
        return f"The position of the Sun is not known: {text}."


def light_for(campaign: Campaign) -> LightOf:
    """What computes light where runs of a campaign rest, on the date that a requirement names or
    that of the scenario; or why nothing does. The mesh is that of its report."""

    @functools.cache
    def on(date: str | None) -> RestLight | str:
        from alight.analysis.rest_light import rest_light
        from alight.cli.report import FACETS
        from alight.staging.ground import body_mesh, body_table

        sun = sun_of(campaign.scenario, date)
        if isinstance(sun, str):
            return sun
        if sun is None:
            return (
                "The position of the Sun is not known: give the requirement a date, such as "
                'date = "2018-10-03".'
            )
        mesh = body_mesh(body_table(campaign), FACETS)[0]
        return rest_light(campaign.scenario.get("ground", {}), mesh, sun)

    def light(asked: Requirement) -> RestLight | str:
        return on(asked.date or None)

    return light


def _scenario(table: Mapping[str, Any], sun: dict[str, Any], date: str | None) -> Scenario:
    """The scenario with the date asked for; its Sun pushes nothing, which the runs are past."""
    from alight.scenario import from_dict

    sun |= {"tide": False, "pressure": False}
    if date is not None:
        sun["date"] = checked_date(date)
        for name in ("mean_anomaly", "direction", "distance"):
            sun.pop(name, None)
    environment = {**table.get("environment", {}), "sun": sun}
    rest = {key: value for key, value in table.items() if key not in ("dispersions", "made_by")}
    return from_dict({**rest, "environment": environment}, "the campaign's scenario")


def checked_date(date: str) -> str:
    """``--date``, refused before anything long begins."""
    from alight.scenario.schema.sun import Date

    try:
        return str(Date().read(date))
    except InputError as cause:
        raise InputError(f"--date: {cause}") from None


def _path(scenario: Scenario, sun: Sun) -> SunPath:
    from alight.analysis.sun import SunPath
    from alight.scenario import ephemeris

    span, even = ephemeris.turn(scenario)
    if sun.spice is not None:
        way, source = _by_spice(scenario, sun, span)
    else:
        way, source = (
            ephemeris.sun_path(scenario, ephemeris.sun_place(scenario, sun)),
            _source(scenario, sun),
        )
    return SunPath(way, span, even, _when(sun), source)


def _by_spice(scenario: Scenario, sun: Sun, span: float) -> tuple[Any, str]:
    from alight import flight
    from alight.analysis import spice
    from alight.core.constants import AU
    from alight.scenario import ephemeris

    target, date = str(sun.spice_target), str(sun.date)
    told = f"The Sun's position is from SPICE kernels, seen from {target}"
    if sun.spice_frame is not None:
        frame = sun.spice_frame
        way = spice.sun_over_rotation(sun.spice, target, frame, date, span, ephemeris.SAMPLES)
        return way, f"{told} in the axes {frame}."
    toward = spice.sun_direction(sun.spice, target, date)
    return ephemeris.sun_path(
        scenario, flight.Fixed(AU * toward)
    ), f"{told}, the pole from the scenario."


def _when(sun: Sun) -> str:
    if sun.date is not None:
        day, _, hour = sun.date.partition("T")
        return f"on {day} at {hour[:5]} UTC"
    if sun.direction is not None:
        return "in the direction that the scenario gives"
    angle = float(np.degrees(sun.mean_anomaly or 0.0))
    return "at perihelion" if angle == 0.0 else f"at a mean anomaly of {angle:g}°"


def _source(scenario: Scenario, sun: Sun) -> str:
    if sun.direction is not None:
        return "The Sun is fixed in the direction that the scenario gives."
    orbit, who = sun.orbit, scenario.body.name or "the body"
    said = f"{who} moves on Kepler's ellipse about the Sun"
    if sun.date is not None and orbit is not None and orbit.epoch is not None:
        said += f" with the elements of {orbit.epoch.partition('T')[0]}"
    return f"{said}, with a fixed pole; planetary perturbations are neglected."
