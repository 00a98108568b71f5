"""``alight mobility``: hops over a whole body, the plan that reaches a goal, and the plan flown."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alight.cli import screen
from alight.cli.hop import SUBJECT, check_body, parse_speed, parsed_place, subject_of
from alight.cli.options import Device, Json, optional
from alight.cli.speaking import speaking
from alight.core.errors import InputError

if TYPE_CHECKING:
    from alight.mobility import Flown, MobilityMap, MobilityPlan
    from alight.mobility.maps.commands import Commands
    from alight.scenario.document import Document

#: Folder of the campaign within that of the map.
HOPS = "hops"


@speaking("Preparing the map")
def command(
    target: SUBJECT,
    goal: Annotated[
        str, typer.Option(metavar="LAT,LON", help="Goal: latitude and east longitude in degrees.")
    ],
    radius: Annotated[float, typer.Option(help="Radius of the goal in metres.", min=0.0)],
    out: Annotated[str, typer.Option(metavar="DIR", help="Folder of the map, new or existing.")],
    cells: Annotated[int, typer.Option(help="Patches of the surface.", min=2, max=100_000)] = 300,
    repeats: Annotated[
        int, typer.Option(help="Hops per command and cell; an even number.", min=2)
    ] = 40,
    speed: Annotated[
        list[str] | None,
        optional('Speed of a command, such as "5 cm/s"; repeatable (15, 30 and 45 '
                 "percent of the escape speed if not given)."),
    ] = None,
    azimuths: Annotated[
        int, typer.Option(help="Number of headings, evenly spaced.", min=1, max=360)
    ] = 8,
    elevation: Annotated[
        list[float] | None,
        optional("Elevation of a command in degrees; repeatable (45 if not given)."),
    ] = None,
    speed_error: Annotated[
        float, typer.Option(help="Standard deviation of the speed in percent.", min=0.0)
    ] = 5.0,
    angle_error: Annotated[
        float, typer.Option(help="Standard deviation of the direction in degrees.", min=0.0)
    ] = 3.0,
    avoid: Annotated[
        list[str] | None,
        optional("A region to avoid, with its radius in metres; repeatable.",
                 metavar="LAT,LON,RADIUS"),
    ] = None,
    max_night: Annotated[
        str | None,
        optional('Longest night that a rest site may have, such as "20 h"; runs that rest where it '
                 "is longer are lost. Needs a date, the scenario's or --date.", metavar="TIME"),
    ] = None,
    date: Annotated[
        str | None, optional("Date of --max-night, UTC (the scenario's if not given).")
    ] = None,
    objective: Annotated[str, typer.Option(help="What the plan minimises: risk, hops or time.")] = (
        "risk"
    ),
    hops: Annotated[int, typer.Option(help="Maximum number of hops per run.", min=1, max=1000)] = 8,
    start: Annotated[
        str | None,
        optional("Start of the runs that fly the plan (all over the body if not given).",
                 metavar="LAT,LON"),
    ] = None,
    fly: Annotated[
        int, typer.Option(help="New runs that fly the plan; 0 for none.", min=0, max=1_000_000)
    ] = 1000,
    rehearsals: Annotated[
        int,
        typer.Option(help="Runs under a plan, from which it is recomputed and evaluated.", min=0),
    ] = 4000,
    device: Device = "auto",
    as_json: Json = False,
) -> None:  # fmt: skip
    """Map where hops lead from every place of a body, plan the way to a goal, and fly the plan.

    Example: alight mobility itokawa --goal 10,60 --radius 40 --out out/itokawa_map
    """
    from alight.mobility.maps.mobility_map import check_objective

    check_objective(objective)
    if not out.strip():
        raise InputError(f'--out "{out}" names no folder: name one, such as --out out/map.')
    goal_place, discs = parsed_place("--goal", goal), [_disc(text) for text in avoid or []]
    from_place = None if start is None else parsed_place("--start", start)
    given = subject_of(target)
    check_body(given, target)
    made = _map(given, cells, repeats, _commands(given, speed, azimuths, elevation),
                (speed_error, angle_error))  # fmt: skip
    show = "silent" if as_json else "auto"
    goal_disc = made.disc(goal_place, radius)
    bad: list[Any] = [made.disc(place, size) for place, size in discs]
    bad += _dark(made, given, max_night, date)
    place = None if from_place is None else made.stand.footing(from_place[None])[0]
    if place is not None and goal_disc.holds(place[None])[0]:
        raise InputError(
            f'--start "{start}" lies in the goal, within {radius:g} m of "{goal}": there is '
            "nothing to plan. Start farther off, or give a smaller radius."
        )
    _run(made, out, device, show)
    plan = made.plan(
        goal_disc, bad, hops=hops, objective=objective, rehearsals=rehearsals, show=show
    )
    rules = {"plan": plan, "greedy": made.greedy(plan, rehearsals, show=show)}
    flown = {name: _flown(one, fly, place, show) for name, one in rules.items()} if fly else {}
    _tell(made, rules, flown, Path(out), as_json)


def _map(
    given: Document, cells: int, repeats: int, commands: Commands, errors: tuple[float, float]
) -> MobilityMap:
    from alight.mobility import MobilityMap, ThrowErrors

    spread = ThrowErrors(errors[0] / 100.0, math.radians(errors[1]))
    return MobilityMap(given, cells, commands, repeats=repeats, errors=spread)


def _commands(
    given: Any, speed: list[str] | None, azimuths: int, elevation: list[float] | None
) -> Commands:
    from alight.mobility import Commands

    speeds = [parse_speed("--speed", one) for one in speed or []] or _usual_speeds(given)
    angles = [math.radians(angle) for angle in elevation or [45.0]]
    return Commands.grid(speeds, azimuths, angles)


def _usual_speeds(given: Any) -> list[float]:
    body = given.body.entry
    if body is None:
        raise InputError(
            "the escape speed of a body that is not of the catalogue is not known beforehand: give "
            'speeds of commands, such as --speed "3 cm/s" --speed "6 cm/s".'
        )
    return [part * float(body.escape_speed) for part in (0.15, 0.3, 0.45)]


def _disc(text: str) -> tuple[Any, float]:
    place, _, size = text.rpartition(",")
    try:
        radius = float(size)
    except ValueError:
        radius = math.nan
    if not radius > 0.0:
        raise InputError(
            f'--avoid "{text}" is no region: give latitude, longitude in degrees and a radius in '
            "metres, such as --avoid 10,45,30."
        )
    return parsed_place("--avoid", place), radius


def _dark(made: MobilityMap, given: Document, night: str | None, date: str | None) -> list[Any]:
    """Ground in too long a night, where that is asked for."""
    from alight.analysis.rest_light import rest_light
    from alight.cli.report_sun import checked_date, sun_of
    from alight.scenario import quantities

    if night is None:
        if date is not None:
            raise InputError("--date is the date of --max-night, which is not given.")
        return []
    try:
        most = float(quantities.read(night, "time"))
    except InputError as cause:
        raise InputError(f"--max-night: {cause}") from None
    if not most > 0.0:
        raise InputError(f'--max-night "{night}" is not above 0: give a time such as "20 h".')
    table = given.resolved()
    sun = sun_of(table, None if date is None else checked_date(date))
    if sun is None:
        sun = 'no date: give --date "2018-10-03", or the scenario [environment.sun]'
    light = sun if isinstance(sun, str) else rest_light(table["ground"], made.mesh, sun)
    if isinstance(light, str):
        raise InputError(f"--max-night {night}: {light.rstrip('.')}.")
    return [made.dark(light, most)]


def _run(made: MobilityMap, out: str, device: str, show: str) -> None:
    from alight.campaign import CampaignInterruptedError

    try:
        made.run(Path(out) / HOPS, device, show)
    except CampaignInterruptedError as stop:
        from alight.cli.main import complain
        from alight.cli.start import INTERRUPTED

        complain(str(stop))
        raise typer.Exit(INTERRUPTED) from None


def _flown(plan: MobilityPlan, runs: int, place: Any, show: str) -> tuple[Flown, float]:
    return plan.fly(runs, place, show=show)


# -- what is told ---------------------------------------------------------------------------------


def _tell(
    made: MobilityMap, rules: dict[str, MobilityPlan], flown: dict[str, tuple[Flown, float]],
    out: Path, as_json: bool,
) -> None:  # fmt: skip
    from alight.cli.mobility_page import numbers_of, rows_of, write_all

    numbers = numbers_of(made, rules, flown)
    show = "silent" if as_json else "auto"
    written = write_all(made, rules, flown, numbers, out, show)
    (out / "mobility.json").write_text(json.dumps(numbers, indent=2) + "\n", "utf-8")
    if as_json:
        screen.echo_json({**numbers, "files": [str(file) for file in written]})
        return
    heads = ("rule", "predicted", "flown", "hops", "time", "lost")
    screen.console().print(
        screen.table(heads, rows_of(flown), title="Runs that reach the goal", right=range(1, 6))
        if flown
        else f"Predicted arrival probability, mean over all cells: {numbers['predicted_mean']:.1%}"
    )
    for file in written:
        screen.echo(f"wrote {file}")
