"""Where a run that comes to rest is lost: regions to be avoided, and ground in too long a night."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from alight.core.checks import Array, checked_number
from alight.core.errors import InputError

if TYPE_CHECKING:
    from alight.analysis.rest_light import RestLight
    from alight.mobility.maps.cells import Cells


class Region(Protocol):
    """Some ground."""

    def holds(self, places: Array) -> Any:
        """(n,) whether places (n, 3) [m] are in it; one that is not finite is not."""


@dataclass(frozen=True)
class Disc:
    """A place on the ground and what is within a distance of it, straight."""

    centre: tuple[float, float, float]
    """[m]"""
    radius: float
    """[m]"""

    def __post_init__(self) -> None:
        checked_number("radius [m]", self.radius)

    def holds(self, places: Array) -> Any:
        """(n,) whether places (n, 3) are in it."""
        return np.linalg.norm(places - np.asarray(self.centre), axis=-1) <= self.radius


@dataclass(frozen=True, eq=False)
class DarkGround:
    """Ground whose longest night is longer than a lander can last.

    Light is computed once at many places; a place has the light of the nearest of them.
    """

    places: Array
    """(m, 3) [m]"""
    night: Array
    """(m,) longest night there [s]; infinite where the Sun does not rise."""
    most: float
    """The longest night that a lander can last [s]."""

    @classmethod
    def of(cls, cells: Cells, light: RestLight, most: float) -> DarkGround:
        """By the light where hops begin in each cell."""
        checked_number("the longest night [s]", most)
        places = cells.starts.reshape(-1, 3)
        return cls(places, light.column("longest_night_s", places), most)

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self.places)

    @property
    def share(self) -> float:
        """Part of the ground that it is."""
        return float((self.night > self.most).mean())

    def holds(self, places: Array) -> Any:
        """(n,) whether the night at places (n, 3) [m] is too long."""
        out = np.zeros(len(places), dtype=bool)
        known = np.isfinite(places).all(axis=1)
        if known.any():
            out[known] = self.night[self._tree.query(places[known], workers=-1)[1]] > self.most
        return out


def check_goal(goal: Disc, avoid: Any) -> None:
    """Raise where all of a goal is ground that is to be avoided."""
    for one in avoid:
        if isinstance(one, DarkGround) and one.holds(np.array([goal.centre]))[0]:
            night = float(one.night[one._tree.query(goal.centre)[1]])
            long = "the Sun does not rise" if np.isinf(night) else f"the night is {night:.4g} s"
            raise InputError(
                f"no plan exists: at the goal {long}, and a lander lasts {one.most:.4g} s. Choose "
                "another goal, another date, or a lander that lasts longer."
            )
