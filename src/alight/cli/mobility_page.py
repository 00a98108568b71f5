"""What ``alight mobility`` found, as numbers, rows and the page of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from alight.core.checks import Array
from alight.mobility.maps.regions import DarkGround, Disc

if TYPE_CHECKING:
    from alight.mobility import Flown, MobilityMap, MobilityPlan
    from alight.views.figures.mobility import Curve, MapPicture

Flights = dict[str, tuple["Flown", float]]

#: Runs whose way is drawn.
TRACKS = 6


def numbers_of(made: MobilityMap, rules: dict[str, MobilityPlan], flown: Flights) -> dict[str, Any]:
    """For scripts."""
    plan = rules["plan"]
    outside = np.unique(plan.places[:, 0])
    return {
        "cells": len(made.cells),
        "cell_spacing_m": made.cells.spacing,
        "commands": len(made.commands),
        "repeats": made.repeats,
        "runs": len(made.hops),
        "settled": float(made.hops.settled.mean()),
        "escaped": float(made.hops.escaped.mean()),
        "hops": plan.hops,
        "objective": plan.objective,
        "goal_m": list(plan.goal.centre),
        "goal_radius_m": plan.goal.radius,
        "dark_share": sum(one.share for one in plan.avoid if isinstance(one, DarkGround)),
        "predicted_mean": float(plan.success[outside].mean()),
        "rules": {name: _rule(one, predicted) for name, (one, predicted) in flown.items()},
    }


def _rule(flown: Flown, predicted: float) -> dict[str, Any]:
    share = flown.success
    came = flown.arrived
    return {
        "runs": len(flown),
        "predicted": predicted,
        "arrived": [share.value, share.low, share.high],
        "mean_hops": float(flown.hops[came].mean()) if came.any() else None,
        "mean_time_s": float(flown.time[came].mean()) if came.any() else None,
        "lost": float(flown.lost.mean()),
    }


def rows_of(flown: Flights) -> list[tuple[str, ...]]:
    """Of the table of rules."""
    rows: list[tuple[str, ...]] = []
    for name, (one, predicted) in flown.items():
        told, share = _rule(one, predicted), one.success
        hops, time = told["mean_hops"], told["mean_time_s"]
        rows.append(
            (
                name,
                f"{100.0 * predicted:.1f} %",
                _with_interval(share),
                "" if hops is None else f"{hops:.2f}",
                "" if time is None else f"{time / 3600.0:.2f} h",
                f"{100.0 * told['lost']:.1f} %",
            )
        )
    return rows


def _with_interval(share: Any) -> str:
    value, low, high = (100.0 * x for x in (share.value, share.low, share.high))
    return f"{value:.1f} % ({low:.1f} to {high:.1f})"


def write_all(
    made: MobilityMap, rules: dict[str, MobilityPlan], flown: Flights, numbers: dict[str, Any],
    out: Path, show: str,
) -> list[Path]:  # fmt: skip
    """The plan as arrays, and the page with its figures."""
    from alight.views.report.mobility.page import MobilityTold, write

    plan = rules["plan"]
    file = out / "plan.npz"
    plan.save(file)
    name = str(made.stand.scenario.body.name or made.stand.scenario.title or "a body")
    told = MobilityTold(
        title=f"Mobility on {name}",
        subtitle=f"{numbers['runs']} hops from {numbers['cells']} cells by {numbers['commands']} "
        f"commands; a plan of minimum {plan.objective} over {plan.hops} hops",
        answers=_answers(numbers, flown),
        facts=_facts(made, plan, numbers),
        rows=rows_of(flown),
        numbers=numbers,
        picture=_picture(made, plan, flown),
        curves=[_curve(name, rules[name], one) for name, one in flown.items()],
    )
    return [file, write(told, out, show).page]


def _answers(numbers: dict[str, Any], flown: Flights) -> list[tuple[str, str]]:
    mean = f"{100.0 * numbers['predicted_mean']:.0f} % on average over all cells outside the goal"
    out = [("How likely is arrival?", mean)]
    for name, (one, _) in flown.items():
        rule = numbers["rules"][name]
        hops = "" if rule["mean_hops"] is None else f", {rule['mean_hops']:.1f} hops on average"
        said = f"{100.0 * one.success.value:.1f} % of {len(one)} runs arrived{hops}"
        out.append(
            (f"And when flown by the {name}?" if name == "plan" else "By the greedy rule?", said)
        )
    return out


def _facts(made: MobilityMap, plan: MobilityPlan, numbers: dict[str, Any]) -> list[tuple[str, str]]:
    throws = made.commands.throws
    speeds = ", ".join(f"{100.0 * v:.3g}" for v in np.unique(throws[:, 0]))
    angles = ", ".join(f"{a:.3g}" for a in np.unique(np.round(np.degrees(throws[:, 2]), 9)))
    return [
        ("cells", f"{numbers['cells']}, {numbers['cell_spacing_m']:.3g} m apart"),
        ("speeds", f"{speeds} cm/s"),
        ("headings", f"{len(np.unique(throws[:, 1]))}, evenly spaced"),
        ("elevations", f"{angles} deg"),
        ("hops of each command from each cell", str(made.repeats)),
        ("came to rest", f"{100.0 * numbers['settled']:.2f} %"),
        ("escaped", f"{100.0 * numbers['escaped']:.2f} %"),
        *_night(plan),
        ("goal", f"within {numbers['goal_radius_m']:.4g} m of "
                 f"{[round(x, 1) for x in numbers['goal_m']]} m"),
    ]  # fmt: skip


def _night(plan: MobilityPlan) -> list[tuple[str, str]]:
    """Where it is too dark to rest."""
    from alight.views import words

    out = []
    for one in plan.avoid:
        if isinstance(one, DarkGround):
            unit = words.time(one.most)
            said = f"longer than {words.number(one.most / unit.size)} {unit.name}"
            out.append(("too long a night to last", f"{100.0 * one.share:.1f} % of ground, {said}"))
    return out


def _picture(made: MobilityMap, plan: MobilityPlan, flown: Flights) -> MapPicture:
    from alight.views.figures.mobility import Layer, MapPicture, unit_of_lengths

    cells = made.cells
    far, unit = unit_of_lengths(np.nanmax(made.reach, axis=1))
    mesh = made.mesh
    assert mesh is not None  # flat ground was refused
    heading, speed = _headings(made, plan)
    tracks = flown["plan"][0].tracks[:TRACKS] if flown else []
    return MapPicture(
        mesh=mesh,
        centres=cells.centres,
        cell_of=cells.of,
        layers=[
            Layer("How far in one hop", unit, far, "viridis"),
            Layer("Expected hops", "hops", plan.expected_hops, "magma_r"),
            Layer("Arrives", "%", 100.0 * plan.success, "cividis"),
        ],
        heading=heading,
        strength=speed / speed.max(),
        goal=(np.array(plan.goal.centre), plan.goal.radius),
        avoid=[(np.array(one.centre), one.radius) for one in plan.avoid if isinstance(one, Disc)],
        tracks=[track for track in tracks if len(track) > 1],
    )


def _headings(made: MobilityMap, plan: MobilityPlan) -> tuple[Array, Array]:
    """Unit vectors along the ground in which each cell's first command goes, and its speed."""
    from alight.core import frames
    from alight.mobility.aiming.free_flight import FreeFlight

    throws = made.commands.throws[plan.plan[-1]]
    axes = frames.local_frame(-FreeFlight.of(made.stand.model).pull(made.cells.centres))
    local = np.stack([np.sin(throws[:, 1]), np.cos(throws[:, 1]), np.zeros(len(throws))], -1)
    return np.einsum("nij,nj->ni", axes, local), throws[:, 0]


def _curve(name: str, rule: MobilityPlan, flight: tuple[Flown, float]) -> Curve:
    from alight.analysis.intervals import wilson
    from alight.views.figures.mobility import Curve

    flown, _ = flight
    cells = rule.made.cells.of(np.array([track[0] for track in flown.tracks]))
    counts = [int((flown.arrived & (flown.hops <= h)).sum()) for h in range(rule.hops + 1)]
    shares = [wilson(count, len(flown)) for count in counts]
    low, high = (np.array([getattr(one, end) for one in shares]) for end in ("low", "high"))
    value = np.array([one.value for one in shares])
    return Curve(name, rule.arrivals(cells), value, low, high)
