"""The shapes that Alight carries: degree-22 radius series of ten bodies, and 67P as three lobes.

They are fits to public shape models, named in ``source``. Lengths in metres about the centre of
mass; z is the spin axis, or for a tumbling body the axis of largest inertia.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from alight.core.errors import InputError, unknown_name
from alight.shapes.lobes import Ellipsoid, Lobes
from alight.shapes.mesh import Mesh
from alight.shapes.radius_series.series import HarmonicSeries

#: Facets of a built-in shape when none are asked for: an icosphere of 2562 vertices.
DEFAULT_FACES = 5120

#: Most facets: each is then far smaller than the finest detail of a series of degree 22.
MOST_FACES = 5_000_000

#: Fill of 67P's joints [m]. It rounds the creases between the lobes without moving the fit:
#: against the 24 000-facet model the rms distance stays at 5.3 % of the mean radius (as with no
#: fill) and the volume grows by 0.6 %; at 200 m they would be 6.4 % and 9 %.
BLEND_67P = 60.0


@dataclass(frozen=True)
class BuiltinShape:
    """A built-in shape with where it comes from and how well it follows its source."""

    name: str
    source: str
    """The shape model it was fitted to, its authors and licence."""
    shape: HarmonicSeries | Lobes
    source_volume: float
    """Volume of the source model [m^3]."""
    rms: float
    """Root mean square error of the fit, as a fraction of the source model's mean radius."""
    max: float | None
    """Largest radius error of the fit, as a fraction of the source model's mean radius."""
    facing: float | None
    """Part of the source model's area that faces away from the centre; the series smooths the
    rest away."""

    def mesh(self, n_faces: int | None = None) -> Mesh:
        """Mesh of close to ``n_faces`` facets (5120 if nothing is asked)."""
        wanted = DEFAULT_FACES if n_faces is None else n_faces
        if isinstance(wanted, bool) or not isinstance(wanted, int | np.integer) or wanted < 4:
            raise InputError(f"n_faces is {wanted!r}; it must be a whole number, 4 or more.")
        if wanted > MOST_FACES:
            raise InputError(
                f"{wanted} facets are asked for, but a built-in shape has at most {MOST_FACES}: it "
                "holds no detail that would need more. Ask for fewer."
            )
        if isinstance(self.shape, Lobes):
            return self.shape.to_mesh(wanted)
        return self.shape.to_mesh(n_vertices=wanted // 2 + 2)  # Euler: F = 2 V - 4

    def __repr__(self) -> str:
        return f"BuiltinShape({self.name}: {self.shape!r}; from {self.source})"


@cache
def _figures() -> dict[str, dict[str, Any]]:
    text = (resources.files("alight.shapes") / "data" / "shape_series.json").read_text("utf-8")
    bodies: dict[str, dict[str, Any]] = json.loads(text)["bodies"]
    return bodies


def names() -> tuple[str, ...]:
    """Names of the built-in shapes."""
    return tuple(_figures())


@cache
def find(name: str) -> BuiltinShape:
    """The built-in shape of that name, in any letter case."""
    key = name.strip().lower()
    if key not in _figures():
        raise unknown_name("built-in shape", name, names())
    figures = _figures()[key]
    shape: HarmonicSeries | Lobes
    if "lobes" in figures:
        keys = ("center_m", "semi_axes_m", "quat_xyzw")
        lobes = [Ellipsoid(*(lobe[key] for key in keys)) for lobe in figures["lobes"]]
        shape = Lobes(lobes, blend=BLEND_67P)
        volume = figures["mesh_volume_m3"]
    else:
        shape = HarmonicSeries(figures["coefficients"])
        volume = figures["volume_m3"]
    return BuiltinShape(
        name=key,
        source=figures["source"],
        shape=shape,
        source_volume=float(volume),
        rms=figures["rms"],
        max=figures.get("max"),
        facing=figures.get("star"),
    )
