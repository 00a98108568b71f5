"""``alight hop``: push-offs that lead from one place on a body to another."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alight.cli import screen
from alight.cli.body import FIGURES
from alight.cli.body import Command as Command
from alight.cli.names import STDIN, complete_body, complete_scenario, scenario_of
from alight.cli.options import Device, Json, optional
from alight.cli.speaking import speaking
from alight.core.errors import InputError

if TYPE_CHECKING:
    from alight.mobility import Aim, Hop, Scatter, ThrowErrors
    from alight.scenario.document import Document


def _complete(incomplete: str) -> list[tuple[str, str]]:
    return [*complete_scenario(incomplete), *complete_body(incomplete)]


SUBJECT = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO_OR_BODY",
        help="A scenario file or the name of a shipped one (its lander, ground and laws are "
        "taken), or a body of the catalogue.",
        autocompletion=_complete,
    ),
]


@speaking("Aiming")
def command(
    target: SUBJECT,
    start: Annotated[
        str,
        typer.Option(
            "--from", metavar="LAT,LON", help="Start: latitude and east longitude in degrees."
        ),
    ],
    goal: Annotated[
        str,
        typer.Option(
            "--to", metavar="LAT,LON", help="Target: latitude and east longitude in degrees."
        ),
    ],
    max_speed: Annotated[
        str | None,
        optional('Maximum push-off speed, such as "20 cm/s" (the escape speed if not given).'),
    ] = None,
    speed: Annotated[
        str | None,
        optional("Speed of the shallow and the steep hop (1.2 times the minimum if not given)."),
    ] = None,
    speed_error: Annotated[
        float, typer.Option(help="Standard deviation of the speed in percent.", min=0.0)
    ] = 1.0,
    angle_error: Annotated[
        float, typer.Option(help="Standard deviation of the direction in degrees.", min=0.0)
    ] = 1.0,
    fly: Annotated[
        str, typer.Option(help="Which hop the campaign flies: minimum, shallow or steep.")
    ] = "minimum",
    runs: Annotated[
        int, typer.Option(help="Runs of that campaign; 0 for none.", min=0, max=1_000_000)
    ] = 200,
    out: Annotated[
        str | None, optional("Store the campaign in this folder.", metavar="DIR")
    ] = None,
    figure: Annotated[
        str | None,
        typer.Option(
            metavar="[PATH]",
            help=f'Draw a sheet into a folder ("{FIGURES}" if none is named), or into a .png, .svg '
            "or .pdf file.",
        ),
    ] = None,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Find the push-offs that reach a place, as the engine itself flies them.

    Example: alight hop itokawa --from 20,40 --to 25,60 --figure
    """
    from alight.cli.body import figure_place

    wanted = figure_place(figure)
    first, last = (parsed_place(name, text) for name, text in (("--from", start), ("--to", goal)))
    limits = [
        None if text is None else parse_speed(name, text)
        for name, text in (("--max-speed", max_speed), ("--speed", speed))
    ]
    hop_name = _hop_name(fly)
    if out is not None and not out.strip():
        raise InputError(f'--out "{out}" names no folder: name one, such as --out out/hop.')
    if out is not None and not runs:
        raise InputError("--out keeps the campaign, and --runs 0 has none: leave one of them out.")
    given = subject_of(target)
    check_body(given, target)
    _aim_and_tell(given, first, last, limits, (speed_error, angle_error), hop_name, runs, out,
                  wanted, device, as_json)  # fmt: skip


def _aim_and_tell(
    given: Document, first: Any, last: Any, limits: list[float | None],
    errors: tuple[float, float], hop_name: str, runs: int, out: str | None, wanted: Path | None,
    device: str, as_json: bool,
) -> None:  # fmt: skip
    from alight.core import devices
    from alight.mobility import Aimer, ThrowErrors, scatter

    told = "silent" if as_json else "auto"
    place = devices.resolve(device).name
    aimer = Aimer(given, place, told)
    found = aimer.aim(first, last, max_speed=limits[0], speed=limits[1])
    if found.reason:
        raise InputError(f"no hop reaches the target: {found.reason}.")
    spread = ThrowErrors(errors[0] / 100.0, math.radians(errors[1]))
    flown, cloud = _flown_hop(found, hop_name), None
    if runs and flown is not None:
        cloud = scatter(aimer, found, flown, spread, runs=runs, out=out, device=place, show=told)
    drawn = []
    if wanted is not None:
        from alight.cli.hop_sheet import draw_sheet

        drawn = draw_sheet(aimer, found, flown, cloud, wanted)
    if as_json:
        screen.echo_json(_data(found, spread, flown, cloud, drawn))
    else:
        _tell(found, spread, flown, cloud, drawn)
        screen.lines(screen.console(), given.remarks(), "dim")


# -- what is given --------------------------------------------------------------------------------


def subject_of(target: str) -> Document:
    """The scenario that a file or name stands for, or one of a body of the catalogue."""
    from alight import scenario
    from alight.scenario import bodies, shipped_scenarios
    from alight.scenario.beginnings import text_for

    known = target == STDIN or os.path.isfile(target) or Path(target).suffix
    if known or target in shipped_scenarios.shipped():
        return scenario_of(target)
    try:
        body = bodies.find(target)
    except InputError as cause:
        raise InputError(
            f'"{target}" is neither a scenario file, nor a shipped scenario (alight scenario '
            f"list), nor a body: {cause}"
        ) from None
    made: Document = scenario.loads(text_for("hop", body.name), source=f"hop on {body.name}")
    return made


def check_body(given: Document, target: str) -> None:
    """An error where there are no latitudes and longitudes."""
    if given.flat:
        raise InputError(
            f"{target} has flat ground, which has no latitudes and longitudes: there "
            "alight.aim(scenario, start, target) takes positions in metres."
        )


def parsed_place(option: str, text: str) -> Any:
    """Latitude and longitude [rad]."""
    import numpy as np

    from alight.cli.body_rocks import parse_place

    return np.radians(parse_place(option, text))


def parse_speed(option: str, text: str) -> float:
    """A speed above 0 [m/s]."""
    from alight.scenario import quantities

    try:
        value = float(quantities.read(text, "speed"))
    except InputError as cause:
        raise InputError(f"{option}: {cause}") from None
    if not 0.0 < value < math.inf:
        raise InputError(f'{option} "{text}": a push-off needs a speed above 0, such as "5 cm/s".')
    return value


def _hop_name(fly: str) -> str:
    from alight.core.errors import unknown_name

    names = {"minimum": "minimum speed", "shallow": "shallow", "steep": "steep"}
    if fly not in names:
        raise unknown_name("hop of --fly", fly, names)
    return names[fly]


def _flown_hop(found: Aim, name: str) -> Hop | None:
    """The hop of that name in the slowest family that has one."""
    named = [hop for hop in found.hops if hop.name == name]
    if named:
        return named[0]
    if name == "minimum speed":
        return found.hops[0]
    raise InputError(
        f"there is no {name} hop there at that speed; there is: "
        f"{', '.join(dict.fromkeys(hop.name for hop in found.hops))}."
    )


# -- what is told ---------------------------------------------------------------------------------


def _tell(
    found: Aim, spread: ThrowErrors, flown: Hop | None, cloud: Scatter | None, drawn: list[Path]
) -> None:
    console = screen.console()
    heads = ("hop", "speed\ncm/s", "azimuth\ndeg", "elev.\ndeg", "time\ns",
             "arrives at\ncm/s, deg", "1σ ellipse\nm")  # fmt: skip
    several = len({hop.family for hop in found.hops}) > 1
    rows = []
    for hop in found.hops:
        long, short = hop.ellipse(spread.sigma(hop)).semi_axes
        rows.append(
            (f"{hop.name} {hop.family}" if several else hop.name, f"{100.0 * hop.speed:.4g}",
             f"{math.degrees(hop.azimuth) % 360.0:.2f}", f"{math.degrees(hop.elevation):.2f}",
             f"{hop.time:.4g}",
             f"{100.0 * hop.arrival_speed:.3g}, {math.degrees(hop.arrival_angle):.1f}",
             f"{long:.3g} × {short:.3g}")
        )  # fmt: skip
    title = f"{found.distance:.4g} m in one hop"
    console.print(screen.table(heads, rows, title=title, right=range(1, len(heads))))
    worst = max(hop.miss for hop in found.hops)
    console.print(
        f"As the engine flies them, all first touch the ground within {1000.0 * worst:.2g} mm of "
        f"the target. Errors of 1σ: {100.0 * spread.speed:.3g} % of speed, "
        f"{math.degrees(spread.angle):.3g} deg of direction.",
        soft_wrap=True,
    )
    if flown is not None:
        console.print(_sensitivity(flown), soft_wrap=True)
    if cloud is not None and flown is not None:
        for line in _campaign_lines(flown, cloud):
            console.print(line, soft_wrap=True)
    for file in drawn:
        screen.echo(f"wrote {file}")


def _sensitivity(hop: Hop) -> str:
    speed, azimuth, elevation = hop.sensitivity()
    return (
        f"The first impact of the {hop.name} hop moves by {speed:.3g} m for 1 % of speed, "
        f"{azimuth:.3g} m for 1 deg of azimuth and {elevation:.3g} m for 1 deg of elevation."
    )


def _campaign_lines(hop: Hop, cloud: Scatter) -> list[str]:
    import numpy as np

    from alight.mobility.aiming.ellipse import WITHIN_1, WITHIN_2

    parts = [
        f"{100.0 * e.value:.0f} % within {k} standard deviation{'s' * (k > 1)} of the ellipse "
        f"({100.0 * e.low:.0f} to {100.0 * e.high:.0f} %; a normal law has {100.0 * law:.0f} %)"
        for k, (e, law) in enumerate(zip(cloud.within, (WITHIN_1, WITHIN_2), strict=True), 1)
    ]
    ended = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in cloud.outcomes.items())
    lines = [f"{cloud.runs} runs: {ended}.", f"First impacts: {', '.join(parts)}."]
    if len(cloud.rests):
        half, most = np.quantile(cloud.rest_distance, (0.5, 0.95))
        lines.append(
            f"Rest sites: median distance {half:.3g} m from the target, 95 % within {most:.3g} m."
        )
    return lines


def _data(
    found: Aim, spread: ThrowErrors, flown: Hop | None, cloud: Scatter | None, drawn: list[Path]
) -> dict[str, Any]:
    """The same for scripts."""
    limit = found.max_speed if math.isfinite(found.max_speed) else None
    out: dict[str, Any] = {
        "distance_m": found.distance,
        "max_speed_m_s": limit,
        "start_m": found.start.tolist(),
        "target_m": found.target.tolist(),
        "hops": [_hop_data(hop, spread) for hop in found.hops],
    }
    if cloud is not None and flown is not None:
        first, second = cloud.within
        import numpy as np

        rests = np.quantile(cloud.rest_distance, (0.5, 0.95)).tolist() if len(cloud.rests) else None
        out["campaign"] = {
            "hop": flown.name,
            "runs": cloud.runs,
            "outcomes": cloud.outcomes,
            "within_1_sigma": [first.value, first.low, first.high],
            "within_2_sigma": [second.value, second.low, second.high],
            "rest_distance_median_m": rests[0] if rests else None,
            "rest_distance_95_m": rests[1] if rests else None,
        }
    return out | ({"figures": [str(file) for file in drawn]} if drawn else {})


def _hop_data(hop: Hop, spread: ThrowErrors) -> dict[str, Any]:
    long, short = hop.ellipse(spread.sigma(hop)).semi_axes
    by_speed, by_azimuth, by_elevation = hop.sensitivity()
    return {
        "name": hop.name,
        "family": hop.family,
        "speed_m_s": hop.speed,
        "azimuth_deg": math.degrees(hop.azimuth) % 360.0,
        "elevation_deg": math.degrees(hop.elevation),
        "time_s": hop.time,
        "arrival_speed_m_s": hop.arrival_speed,
        "arrival_angle_deg": math.degrees(hop.arrival_angle),
        "miss_m": hop.miss,
        "corrections": hop.corrections,
        "ellipse_semi_axes_m": [long, short],
        "metres_per_percent_of_speed": by_speed,
        "metres_per_degree_of_azimuth": by_azimuth,
        "metres_per_degree_of_elevation": by_elevation,
    }
