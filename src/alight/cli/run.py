"""``alight run``: one run of a scenario: a landing step by step, a capture, a drop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from alight.cli import screen
from alight.cli.names import scenario_of
from alight.cli.options import Json, Scenario
from alight.cli.speaking import speaking

if TYPE_CHECKING:
    from alight.motions import Solution, TreeSolution

#: Contacts listed, the hardest ones.
SHOWN = 12


@speaking("Starting")
def command(
    scenario: Scenario,
    device: Annotated[str, typer.Option(help="cpu, cuda:0, ...; one run is fastest on a CPU.")] = (
        "cpu"
    ),
    as_json: Json = False,
) -> None:
    """Run a scenario once, nothing dispersed: outcome, contacts and loads.

    Example: alight run scenarios/ryugu_minerva.toml
    """
    from alight import scenario as scenarios
    from alight.core import devices

    given, place = scenario_of(scenario), devices.resolve(device).name
    told = "silent" if as_json else "auto"
    solution = scenarios.simulate(given, device=place, progress=told)
    facts, tell = tellers(given.KIND)
    if as_json:
        screen.echo_json({**facts(solution), "remarks": given.remarks()})
    else:
        tell(solution)
        screen.lines(screen.console(), given.remarks(), "dim")


def tellers(kind: str) -> tuple[Any, Any]:
    """The functions that report a run of a kind of scenario, to scripts and to people."""
    if kind == "landing":
        return _facts, _tell
    from alight.cli import run_membrane

    return run_membrane.facts, run_membrane.tell


def _facts(solution: Solution | TreeSolution) -> dict[str, Any]:
    """What a script reads."""
    from alight.cli.run_row import plain, row_of

    fields = ("start", "end", "normal_speed_in", "normal_speed_out", "peak_force", "points")
    units = ("start_s", "end_s", "normal_speed_in_m_s", "normal_speed_out_m_s", "peak_force_N")
    contacts = [
        {name: plain(event[key]) for name, key in zip((*units, "points"), fields, strict=True)}
        for event in solution.events
    ]
    return {
        "outcome": solution.outcome.name.lower(),
        "time_s": float(solution.time[-1]),
        "position_m": solution.position[-1].tolist(),
        "attitude_xyzw": solution.attitude[-1].tolist(),
        "steps": solution.steps,
        **_depth(solution),
        "contacts": contacts,
        **({"loads": loads} if (loads := _loads(solution)) else {}),
        "row": row_of(solution),
    }


def _loads(solution: Solution | TreeSolution) -> dict[str, float]:
    """Peak loads, by the columns of campaigns; nothing of a rigid lander."""
    from alight.cli.run_row import borne

    return {column.full_name: float(value) for column, value in borne(solution)}


def _depth(solution: Solution | TreeSolution) -> dict[str, float | None]:
    """Overlap of a rigid lander at rest and the ground; nothing of others."""
    from alight.core.outcomes import Outcome
    from alight.motions import Solution
    from alight.motions.rigid.rest_depth import resting_depth

    if not isinstance(solution, Solution) or solution.outcome is not Outcome.SETTLED:
        return {}
    return {"hull_depth_m": resting_depth(solution)}


def _tell(solution: Solution | TreeSolution) -> None:
    """What a person reads."""
    import numpy as np

    from alight.analysis.settling import DEEP

    console = screen.console()
    console.print(str(solution).capitalize() + ".", soft_wrap=True)
    if (depth := _depth(solution).get("hull_depth_m") or 0.0) > DEEP:
        console.print(
            f"Lander and ground overlap by {depth:.3g} m: nothing supports the hull between its "
            "contact points. More points (lander.points) help.",
            soft_wrap=True,
        )
    events = solution.events
    if not len(events):
        return
    hard = np.sort(np.argsort(events["normal_speed_in"], kind="stable")[:SHOWN])
    title = f"The {len(hard)} hardest of {len(events)} contacts" if len(events) > SHOWN else None
    heads = ("time [s]", "duration [s]", "in [cm/s]", "out [cm/s]", "force [N]", "points")
    rows = [
        (
            f"{event['start']:.1f}",
            f"{event['end'] - event['start']:.3g}",
            f"{-100.0 * event['normal_speed_in']:.3f}",
            f"{100.0 * event['normal_speed_out']:.3f}",
            f"{event['peak_force']:.3g}",
            str(event["points"]),
        )
        for event in events[hard]
    ]
    console.print(screen.table(heads, rows, title=title, right=range(len(heads))))
    _tell_loads(solution, console)


def _tell_loads(solution: Solution | TreeSolution, console: Any) -> None:
    """What an articulated lander bears."""
    from alight.cli.run_row import borne

    rows = [
        (f"{c.name.replace('_', ' ').removeprefix('peak ')} [{c.unit}]", f"{value:.4g}")
        for c, value in borne(solution)
    ]
    if rows:
        console.print(screen.table(("", ""), rows, title="Peak loads", right=[1]))
