"""Which of the dispersed releases of a scenario start inside the ground, before anything is built.

The ground is that of ``foresight``: the bare shape. Hills and grids may lie lower by what that
allows for, and of a lander near a mesh only the points that reach farthest towards it are looked
at. So a count of starts inside the ground is a lower bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import AlightError
from alight.engine.lift import TOLERANCE
from alight.scenario.building.foresight import start_of, vagueness
from alight.scenario.building.laws import ScenarioLaws
from alight.scenario.building.run_values import checked_values
from alight.scenario.errors import Fault
from alight.scenario.schema.landing import Scenario

#: Runs whose release is looked at.
LOOKED = 200
#: Pairs of point and facet that this may take: some seconds.
MOST_PAIRS = 8_000_000
#: Points of a lander that are held against the ground.
POINTS = 4


@dataclass(frozen=True)
class Starts:
    """What was found of the first runs of a campaign."""

    looked: int
    """Runs looked at."""
    inside: int
    """Those that start inside the ground, at least."""
    deepest: float = 0.0
    """How deep the deepest of them starts [m]."""

    def remarks(self) -> list[Fault]:
        """A note where some start inside the ground."""
        if not self.inside:
            return []
        said = (
            f"of the first {self.looked} runs at least {self.inside} start inside the ground, up "
            f"to {self.deepest:.3g} m deep: these fail at once. Release higher, or disperse less"
        )
        return [Fault("dispersions", said)]


def dispersed_remarks(scenario: Any, values: Mapping[str, Any]) -> list[Fault]:
    """What is to be known of the releases of the first runs, whose dispersed values are given."""
    moved = {key: a for key, a in values.items() if key.startswith("release.")}
    if not isinstance(scenario, Scenario) or not moved:
        return []
    try:
        found = dispersed_starts(scenario, moved)
    except AlightError as cause:
        said = f"the releases of single runs could not be looked at: {' '.join(str(cause).split())}"
        return [Fault("dispersions", said)]
    return [] if found is None else found.remarks()


def dispersed_starts(scenario: Scenario, values: Mapping[str, Any]) -> Starts | None:
    """How many of the runs of ``values`` start inside the ground; None where only tables know."""
    arrays, count = checked_values(scenario, dict(values))
    start = start_of(scenario, ScenarioLaws(scenario, "cpu", "silent"), arrays, count)
    if start is None:
        return None
    release, lander, probe = start
    points, radii = np.zeros((1, 3)), np.zeros(1)
    if lander is not None:
        points, radii = np.asarray(lander.points), np.asarray(lander.radii)
    depth = _depths(probe, release.position, release.attitude, points, radii)
    hit = depth > TOLERANCE + vagueness(scenario)
    return Starts(len(depth), int(hit.sum()), float(depth.max()))


def _depths(probe: Any, x: Array, q: Array, points: Array, radii: Array) -> Array:
    """(k,) depth [m] of the first k runs, of their centre where the ground is out of reach."""
    facets = getattr(getattr(probe, "mesh", None), "n_faces", 1)
    places, which = np.unique(x, axis=0, return_inverse=True)
    few = max(1, MOST_PAIRS // (2 * facets))
    if len(places) > few:  # the runs before that with the first place too many
        x, q = x[:few], q[:few]
        places, which = np.unique(x, axis=0, return_inverse=True)
    distance, normal = (np.asarray(a)[which.reshape(-1)] for a in probe.query(places))
    reach = float((np.linalg.norm(points, axis=1) + radii).max())
    out, left = -distance, max(1, MOST_PAIRS // (2 * facets * POINTS))
    for run in np.flatnonzero(np.abs(distance) <= reach):
        if not left:
            return np.asarray(out[:run])
        corner = frames.quat_rotate(q[run], points)
        low = np.argsort(corner @ normal[run] - radii)[:POINTS]
        out[run] = -float((probe.query(x[run] + corner[low])[0] - radii[low]).min())
        left -= 1
    return np.asarray(out)
