"""Light where runs rest: the numbers of reports and of requirements on light, from one place.

No table of runs has a column of it: it follows from the rest sites, the shape of the body and the
path of the Sun, so that it can be asked of any stored campaign, and for any date.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.analysis.columns import Array
from alight.analysis.illumination import Illumination, LitGround, illumination
from alight.analysis.sun import SunPath
from alight.core.errors import unknown_name
from alight.core.requirements import OF_LIGHT, Requirement
from alight.shapes import icosphere
from alight.shapes.mesh import Mesh

#: Of the sphere that stands for round ground, whatever its size [m]: no part of a sphere is in the
#: Sun's way where the Sun is above the ground, so that light does not depend on its radius.
RADIUS = 1000.0


@dataclass(frozen=True, eq=False)
class RestLight:
    """A body and the Sun over it: what light places on its ground have."""

    mesh: Mesh | None
    """What casts the shadows, in the axes of the places; None of ground that is a sphere."""
    sun: SunPath

    @cached_property
    def _ground(self) -> LitGround:
        return LitGround(icosphere(4, RADIUS) if self.mesh is None else self.mesh)

    def at(self, places: npt.ArrayLike) -> Illumination:
        """Light at ``places`` (n, 3) [m]: nights, days, and when the Sun is in sight."""
        x, way = np.asarray(places, dtype=np.float64), self.sun
        if self.mesh is not None:
            return illumination(self._ground, x, way.directions, way.span)
        up = x / np.linalg.norm(x, axis=1, keepdims=True)
        return illumination(self._ground, RADIUS * up, way.directions, way.span, up)

    def column(self, name: str, places: npt.ArrayLike) -> Array:
        """(n,) ``longest_night_s`` or ``day_fraction`` at ``places`` (n, 3) [m], some of which may
        be nan, as of runs that do not rest: nan there, and inf where the Sun does not rise."""
        if name not in OF_LIGHT:
            raise unknown_name("number of light", name, OF_LIGHT)
        x = np.asarray(places, dtype=np.float64)
        out = np.full(len(x), np.nan)
        rests = np.isfinite(x).all(axis=1)
        if rests.any():
            found = self.at(x[rests])
            out[rests] = found.longest_night if name == "longest_night_s" else found.day_fraction
        return out


#: What computes the light that a requirement asks for, which may name a date; or why nothing does.
LightOf = Callable[[Requirement], RestLight | str]


def rest_light(ground: Mapping[str, Any], mesh: Mesh | None, sun: SunPath) -> RestLight | str:
    """What computes light on the ``[ground]`` of a resolved scenario; or why nothing does."""
    if ground.get("kind") in ("plane", "patch"):
        return "The ground is a plane, which has no day: light is reported for bodies."
    if ground.get("kind") == "sphere":
        return RestLight(None, sun)
    if mesh is None:
        return "No mesh of the body was at hand: nothing shows where its shadows fall."
    return RestLight(mesh, sun)
