"""Numbers on a body to colour it by: slope, gravity, and sunlight over a turn."""

from __future__ import annotations

from typing import Any

import numpy as np

from alight import gravity
from alight.analysis.shadows import Shadows
from alight.analysis.surface import effective_acceleration, slope
from alight.core.checks import Array
from alight.core.errors import AlightError
from alight.shapes.mesh import Mesh
from alight.views.playback.model import OfTime

#: Vertices of the reduced body whose gravity it is: within 1 % on the mean.
VERTICES = 322
#: Directions of the Sun over a turn.
DIRECTIONS = 24
#: Rays begin this part of the body's radius above the ground: not in the facets beside a vertex.
_LIFT = 1e-3


def colours_of(
    mesh: Mesh | None, scenario: Any, laws: Any, rotation: Any, sun: OfTime | None
) -> dict[str, tuple[Array, str]]:
    """(n,) at the vertices, with their units, by name; what is not known is left out."""
    if mesh is None:
        return {}
    out: dict[str, tuple[Array, str]] = {}
    spin = np.zeros(3) if rotation is None else rotation.evaluate(np.zeros(1), device="cpu")[0][0]
    gm = _gm(scenario, laws)
    if gm is not None:
        pull = gravity.Reduced(mesh, gm=gm, vertices=VERTICES).evaluate(mesh.vertices, "cpu")[1]
        felt = effective_acceleration(mesh.vertices, pull, spin)
        out["slope"] = np.degrees(slope(felt, mesh.vertex_normals)), "°"
        out["gravity"] = 1e3 * np.linalg.norm(felt, axis=1), "mm/s²"
    rate = float(np.linalg.norm(spin))
    if sun is not None and rate > 0.0:
        times = np.linspace(0.0, 2.0 * np.pi / rate, DIRECTIONS, endpoint=False)
        out["light"] = 100.0 * _light(mesh, sun(times)), "% of the Sun overhead, mean of a turn"
    return out


def _gm(scenario: Any, laws: Any) -> float | None:
    """GM of the body of a scenario [m^3/s^2]."""
    if scenario is None or laws is None or scenario.flat:
        return None
    try:
        return float(laws.gm(scenario))
    except AlightError:  # a body without a mass: uniform gravity was given
        return None


def _light(mesh: Mesh, directions: Array) -> Array:
    """(n,) mean cosine of the Sun's height, 0 where the body stands in its way."""
    total, shadows = np.zeros(mesh.n_vertices), Shadows(mesh)
    eyes = mesh.vertices + _LIFT * np.abs(mesh.vertices).max() * mesh.vertex_normals
    for way in directions:
        facing = np.clip(mesh.vertex_normals @ way, 0.0, None)
        (day,) = np.nonzero(facing)
        night = shadows.hidden(eyes[day], np.broadcast_to(way, (len(day), 3)))
        total[day] += np.where(night, 0.0, facing[day])
    return total / len(directions)
