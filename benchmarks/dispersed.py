"""Dispersed campaigns: models that differ in numbers as one batch, beside one batch a model."""

from typing import Any

import numpy as np

from alight.campaign.dispersions.sampling import sample
from alight.cli.bench import Row, turn_by_turn
from alight.core.devices import Device
from alight.engine import run_batch
from alight.engine.fleet import run_models
from alight.scenario import load, prepare
from alight.scenario.shipped_scenarios import find

TITLE = "Dispersed campaigns"

NOTES = """\
Shipped scenarios whose runs each have a model of their own (slopes of the ground, asteroids):
building models and releases from the scenario, and running them. *peer* is a batch for each model,
one after the other, on the same device; *faster* is the ratio of the turns. *error* is the largest
difference of the places where runs end, which must be none: a run does not depend on its company.
"""

#: Scenario, runs on a CPU and on a GPU.
CASES = (("paper002_dispersed", 32, 512), ("paper003_dispersed", 16, 128))


def rows(device: Device, repeats: int = 5) -> list[Row]:
    """Every figure of the table."""
    return [_row(name, few if device.is_cpu else many, device) for name, few, many in CASES]


def _row(name: str, count: int, device: Device) -> Row:
    scenario = load(find(name).path)
    prepared = prepare(scenario, device.name)
    values = sample(scenario, np.arange(count), total=count)
    alone = max(4, count // 16)  # of the peer, which may be a hundred times slower
    few = {key: array[:alone] for key, array in values.items()}
    ends: dict[str, Any] = {}

    def together() -> None:
        groups = prepared.groups(values)
        parts = list(zip(*[(g.model, g.release) for g in groups], strict=True))
        found = list(run_models(parts[0], parts[1], device=device.name))
        ends["together"] = np.concatenate([result.position for _, result, _ in found])

    def one_by_one() -> None:
        found = [run_batch(g.model, g.release, device=device.name) for g in prepared.groups(few)]
        ends["alone"] = np.concatenate([result.position for result in found])

    ours, theirs, ratio = turn_by_turn(together, one_by_one, 3, count / alone)
    error = float(np.abs(ends["together"][:alone] - ends["alone"]).max())
    where = device.label if device.is_gpu else "all cores"
    told = (1e3 * ours / count, "ms/run", None, 1e3 * theirs / alone, ratio)
    return Row(f"{name}, {count} runs, {where}", *told, None, error, 0.0)
