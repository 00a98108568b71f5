"""Whatever is thrown at the engine, some things hold: random landings of every kind.

``landing_cases`` draws bodies, rotations, landers, contacts and releases; ``landing_checks`` says
what must hold of them. A few hundred runs are tried each time, ten thousand by the slow study.
"""

from __future__ import annotations

import pathlib
import sys
import time
from collections import Counter
from typing import Any

import numpy as np
import pytest

from alight.core import devices
from alight.core.outcomes import Outcome, outcome_of
from alight.engine import run_batch

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

from landing_cases import FAMILIES, random_case
from landing_checks import figures, unlucky, violations

DEVICES = [device.name for device in devices.available()]

#: Cases of 20 runs in the slow study; those that evaluate the gravity of a shape at every step of
#: flight take long.
STUDY = {name: 10 if name == "real" else 70 for name in FAMILIES}

#: Share of the landers at rest that may leave when let go again, or shiver: on ground as steep as
#: friction holds, and where rolling resistance nearly holds a corner, rest is a matter of luck.
LUCK = 5e-3


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "family", ["flat", "round", "tumbling", pytest.param("real rough", marks=pytest.mark.validate)]
)
def test_a_hundred_random_landers(family: str, device: str) -> None:
    found: list[str] = []
    for seed in range(100, 104):
        case = random_case(family, seed, 10)
        result = run_batch(case.model, case.release, device=device)
        seen = figures(case, result, device)
        found += violations(case, result, seen) + unlucky(case, seen)
    assert not found, "\n".join(found)


@pytest.mark.validate
@pytest.mark.parametrize("family", FAMILIES)
def test_ten_thousand_random_landers(family: str, capsys: pytest.CaptureFixture[str]) -> None:
    found: list[str] = []
    left: list[str] = []
    table = Table()
    for seed in range(STUDY[family]):
        case = random_case(family, seed, 20)
        began = time.perf_counter()
        result = run_batch(case.model, case.release, device="cpu", threads=1)
        took = time.perf_counter() - began
        seen = figures(case, result, "cpu")
        found += violations(case, result, seen)
        left += unlucky(case, seen)
        table.add(case, seen, took)
    with capsys.disabled():
        print("\n" + "\n".join([f"{family}: {table}", *left, *found[:20]]))
    assert not found, "\n".join(found[:20])
    assert len(left) <= LUCK * table.ends["SETTLED"]
    assert np.quantile(np.concatenate(table.rows, axis=1)[2], 0.99) < 2.0  # depth


class Table:
    """What a study saw of one family."""

    def __init__(self) -> None:
        self.ends: Counter[str] = Counter()
        self.rows: list[Any] = []
        self.slowest = (0.0, "")
        self.long: list[str] = []

    def add(self, case: Any, seen: Any, took: float) -> None:
        self.ends.update(outcome_of(code).name for code in seen.outcome)
        gain = seen.gain * case.model.rotation.uniform
        at_rest = np.where(seen.outcome == Outcome.SETTLED, seen.gap, 0.0)
        self.rows.append(np.stack([seen.steps, gain, seen.deep, -seen.gap, -at_rest]))
        self.slowest = max(self.slowest, (took, case.name))
        for i in np.flatnonzero(seen.steps > 200_000):
            name, kind = outcome_of(seen.outcome[i]).name, "calm" if case.calm else "endless"
            self.long.append(
                f"    {case.name}, run {i}, {kind}: {seen.steps[i]} steps, {name} at "
                f"{seen.speed[i]:.2g} m/s"
            )

    def __str__(self) -> str:
        steps, gain, deep, inside, at_rest = np.concatenate(self.rows, axis=1)
        ends = ", ".join(f"{count} {name}" for name, count in self.ends.most_common())
        text = (
            f"{len(steps)} runs: {ends}\n  steps {np.median(steps):.0f} (median), "
            f"{np.mean(steps):.0f} (mean), {steps.max():.0f}; worst raw gain {gain.max():.2g}; "
            f"depth {np.quantile(deep, 0.99):.3g} (99 of 100), {deep.max():.3g}; inside at the end "
            f"{inside.max():.3g}, at rest {at_rest.max():.3g}; slowest case {self.slowest[1]}, "
            f"{self.slowest[0]:.1f} s; {len(self.long)} runs above 200 000 steps"
        )
        return "\n".join([text, *self.long])
