"""Whatever is thrown at the engine, some things hold: random landings of every kind.

The invariants, for every run: it ends, in a state that is finite; no contact point ends deeper in
the ground than ``DEEP`` times the depth asked for, and none goes deeper than that on the way; no
contact raises E_J by more than ``GAIN`` of the energy it began with (targets that turn evenly);
its records make sense; and a lander at rest stays where it is.
"""

from __future__ import annotations

import pathlib
import sys
import time
from collections import Counter
from typing import Any

import numpy as np
import pytest

from alight.core.devices import resolve
from alight.core.outcomes import Outcome, outcome_of
from alight.engine import BatchResult, Model, Release, Stop, run_batch
from alight.engine.release import gaps

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

import landing_cases
from landing_cases import Case, random_case

#: Depth over the depth asked for: springs are set for the speed of the whole lander, and hits that
#: fall into a contact that lasts meet softer ones.
DEEP = 3.0

#: Rise of E_J in a contact over the kinetic energy it began with, and over m g depth (what the
#: weight does while it presses in): steps of 0.2 rad keep 1e-3 of an elastic spring's energy.
GAIN = 1e-3

ENDS = (Outcome.SETTLED, Outcome.ESCAPED, Outcome.TIMED_OUT)


def pull(case: Case) -> Any:
    """(n,) gravity at the release [m/s^2]."""
    return np.linalg.norm(case.model.gravity.evaluate(case.release.position)[1], axis=-1)


def violations(case: Case, result: BatchResult) -> list[str]:
    """What does not hold, one line each."""
    final, touches = result.final, result.touches
    depth = np.broadcast_to(case.model.contact.depth, len(final))
    wrong: dict[str, Any] = {
        "did not end": ~np.isin(final["outcome"], ENDS),
        "not finite": ~np.isfinite(final["x"]).all(axis=1),
        "inside": least_gap(case.model, final) < -DEEP * depth,
        "deep": _most(touches, touches["depth"], len(final)) > DEEP * depth,
        "moves at rest": _moving(final),
        "records": _most(touches, _odd(touches), len(final)) > 0,
        "count of contacts": np.bincount(touches["run"], minlength=len(final)) != final["touches"],
    }
    if case.model.rotation.uniform:
        wrong["gains energy"] = _most(touches, _rise(case, touches), len(final)) > GAIN
    return [
        f"{case.name}, run {i}: {what} (outcome {outcome_of(final['outcome'][i]).name}, "
        f"{final['steps'][i]} steps)"
        for what, rows in wrong.items()
        for i in np.flatnonzero(rows)
    ]


def least_gap(model: Model, final: Any) -> Any:
    """(n,) distance of the lowest contact point from the ground [m]."""
    return gaps(model, Release(final["x"], attitude=final["q"]), resolve("cpu"), 1)


def _most(touches: Any, value: Any, n: int) -> Any:
    """(n,) largest value of the contacts of each run."""
    most = np.zeros(n)
    np.maximum.at(most, touches["run"], value)
    return most


def _moving(final: Any) -> Any:
    speed = np.abs(final["v"]).sum(axis=1) + np.abs(final["w"]).sum(axis=1)
    return (final["outcome"] == Outcome.SETTLED) & (speed != 0.0)


def _odd(touches: Any) -> Any:
    """(k,) 1 for records that cannot be."""
    unit = np.abs(np.linalg.norm(touches["normal"], axis=1) - 1.0) < 1e-9
    fine = (touches["start"] <= touches["end"]) & (touches["peak_force"] > 0.0) & unit
    return (~(fine & np.isfinite(touches["impulse"]).all(axis=1))).astype(float)


def _rise(case: Case, touches: Any) -> Any:
    """(k,) rise of E_J over what the contact began with."""
    mass, run = case.model.lander.mass, touches["run"]
    speed2 = touches["normal_speed_in"] ** 2 + touches["tangential_speed_in"] ** 2
    weight = (
        mass * pull(case)[run] * np.broadcast_to(case.model.contact.depth, len(case.release))[run]
    )
    rise = touches["energy_out"] - touches["energy_in"]
    rounding = 1e-13 * np.abs(touches["energy_in"])
    return (rise - rounding) / (0.5 * mass * speed2 + weight)


def stays(case: Case, result: BatchResult) -> list[str]:
    """Landers at rest that move when they are let go again where they are."""
    rest = np.flatnonzero(result.outcome == Outcome.SETTLED)
    if not len(rest):
        return []
    final = result.final[rest]
    contact, model = case.model.contact, case.model
    # The deepest of all runs: a lander that rests a tenth of its own depth in is not inside.
    again = Model(
        model.gravity,
        model.surface,
        model.lander,
        landing_cases.picked(contact, rest),
        rotation=model.rotation,
        stop=Stop(max_time=100.0, max_steps=200_000),
    )
    later = run_batch(again, Release(final["x"], attitude=final["q"]), device="cpu", threads=1)
    way = np.linalg.norm(later.position - final["x"], axis=1)
    depth = np.broadcast_to(contact.depth, len(case.release))[rest]
    bad = (way > depth) | (later.outcome == Outcome.STARTED_INSIDE)
    return [
        f"{case.name}, run {rest[k]}: rests, then goes {way[k]:.2g} m "
        f"({outcome_of(later.outcome[k]).name})"
        for k in np.flatnonzero(bad)
    ]


@pytest.mark.validate
@pytest.mark.parametrize("family", landing_cases.FAMILIES)
def test_ten_thousand_random_landers(family: str, capsys: pytest.CaptureFixture[str]) -> None:
    found: list[str] = []
    ends: Counter[str] = Counter()
    steps, slowest = [], (0.0, "")
    for seed in range(63):
        case = random_case(family, seed, 20)
        began = time.perf_counter()
        result = run_batch(case.model, case.release, device="cpu")
        slowest = max(slowest, (time.perf_counter() - began, case.name))
        ends.update(end.name for end in (outcome_of(c) for c in result.outcome))
        steps.append(result.final["steps"])
        found += violations(case, result) + stays(case, result)
    every = np.concatenate(steps)
    with capsys.disabled():
        print(f"\n{family}: {dict(ends)}; steps {every.mean():.0f} ({np.median(every):.0f}), most ")
        print(
            f"  {every.max()}; slowest case {slowest[1]}, {slowest[0]:.1f} s; {len(found)} broken"
        )
    assert not found, "\n".join(found[:20])
