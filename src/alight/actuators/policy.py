"""Plans over the cells of a body's surface, kept in a file, and the command to follow one.

A plan says for each cell, and for each number of hops that are left, by which throw a lander that
rests there leaves: ``alight.mobility`` makes it, ``alight mobility`` writes it. A throw is a speed,
an azimuth clockwise from north and an elevation, of a lander that is pushed off through its centre
of mass, without turning it: what mechanism does that is not said, how it errs is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.archives import read_archive
from alight.core.checks import Array, checked_number, checked_vector, checked_whole
from alight.core.errors import InputError

#: Which way is up at a push-off, in the order of their numbers in kernels.
VERTICALS = ("plumb line", "surface normal", "radial")
#: Largest file of a plan, unpacked [bytes].
MOST_BYTES = 1 << 30
#: What a file has.
_NAMES = (
    "centres", "throws", "plan", "goal", "goal_radius", "avoid", "dark_places", "dark",
    "vertical", "speed_error", "angle_error",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class StoredPlan:
    """A plan, and what it was made for."""

    centres: Array
    """(n, 3) of the cells, target axes [m]; a place belongs to the nearest."""
    throws: Array
    """(m, 3) speed [m/s], azimuth and elevation [rad]."""
    plan: npt.NDArray[np.int64]
    """(hops, n) the throw in each cell; row h - 1 with h hops left."""
    goal: Array
    """(3,) [m]"""
    goal_radius: float
    """[m]"""
    avoid: Array = field(default_factory=lambda: np.zeros((0, 4)))
    """(k, 4) centres and radii of regions in which a lander that rests is lost [m]."""
    dark_places: Array = field(default_factory=lambda: np.zeros((0, 3)))
    """(d, 3) places [m] by the nearest of which it is said whether a night is too long ..."""
    dark: Any = field(default_factory=lambda: np.zeros(0, dtype=bool))
    """(d,) ... and whether it is."""
    vertical: str = VERTICALS[0]
    """Which way is up: one of ``VERTICALS``."""
    speed_error: float = 0.0
    """Standard deviation of the speed, a share of it."""
    angle_error: float = 0.0
    """Standard deviation of both angles of a throw [rad]."""
    name: str = "plan"
    """What messages call it."""

    def __post_init__(self) -> None:
        shapes = {name: np.shape(getattr(self, name)) for name in ("centres", "throws", "plan")}
        cells, commands = shapes["centres"], shapes["throws"]
        rows = shapes["plan"]
        good = len(cells) == len(commands) == len(rows) == 2 and cells[1] == commands[1] == 3
        if not good or rows[1] != cells[0] or not min(rows) or not commands[0]:
            raise InputError(
                f"{self.name} has centres, throws and a plan of shapes {cells}, {commands} and "
                f"{rows}; they must be (n, 3), (m, 3) and (hops, n). Write it with alight mobility."
            )
        if self.plan.min() < 0 or self.plan.max() >= commands[0]:
            raise InputError(
                f"{self.name} names throws up to {self.plan.max()}, and has {commands[0]} of them."
            )
        for name in ("centres", "throws", "avoid", "dark_places"):
            if not np.isfinite(getattr(self, name)).all():
                raise InputError(f"{self.name}: {name} has numbers that are not finite.")
        checked_vector(f"goal of {self.name} [m]", self.goal)
        checked_number(f"radius of the goal of {self.name} [m]", self.goal_radius)
        if self.vertical not in VERTICALS:
            raise InputError(
                f'{self.name} has the vertical "{self.vertical}"; it must be one of '
                f"{', '.join(VERTICALS)}."
            )

    @property
    def hops(self) -> int:
        """Hops at most."""
        return len(self.plan)

    def save(self, path: str | os.PathLike[str], **more: Any) -> None:
        """Write it as a NumPy archive, with ``more`` arrays for whoever reads it."""
        own = {name: getattr(self, name) for name in _NAMES}
        own["vertical"] = VERTICALS.index(self.vertical)
        np.savez_compressed(path, **own, **more)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> StoredPlan:
        """From a file that ``save`` wrote."""
        what = f'the plan "{path}"'
        found, known = read_archive(path, MOST_BYTES, "the plan", _NAMES)
        missing = [name for name in _NAMES if name not in known]
        if missing:
            raise InputError(
                f"{what} lacks {', '.join(missing)}: it is no plan that alight mobility of this "
                "version wrote. Write it again with alight mobility."
            )
        try:
            numbers: dict[str, Any] = {
                n: float(found[n]) for n in ("goal_radius", "speed_error", "angle_error")
            }
            arrays: dict[str, Any] = {
                n: np.asarray(found[n], np.float64) for n in (*_NAMES[:2], "goal", "avoid")
            }
            return cls(
                **arrays, **numbers,
                plan=np.asarray(found["plan"], dtype=np.int64),
                dark_places=np.asarray(found["dark_places"], np.float64),
                dark=np.asarray(found["dark"], dtype=bool),
                vertical=VERTICALS[int(found["vertical"])], name=what,
            )  # fmt: skip
        except (TypeError, ValueError, IndexError) as cause:
            raise InputError(
                f"{what} is not a valid plan ({cause}). Write it again with alight mobility."
            ) from None


@dataclass(frozen=True, eq=False)
class FollowPlan:
    """Throws as a ``plan`` says, from wherever the lander rests, until it rests in the goal.

    ``Manoeuvre.repeats`` is how many hops there are at most, and may not exceed those of the plan.
    A lander that rests in a region that the plan avoids goes no farther. Each throw errs by itself,
    by draws addressed by ``seed``, the run's number (``Release.draw``) and the hop; standard
    deviations are those of the plan unless they are given.
    """

    plan: StoredPlan
    speed_error: float | None = None
    angle_error: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.plan, StoredPlan):
            raise InputError(
                f"the plan to follow is {self.plan!r}; it must be a StoredPlan, such as "
                'StoredPlan.read("out/map/plan.npz").'
            )
        for name in ("speed_error", "angle_error"):
            value = getattr(self, name)
            if value is not None:
                checked_number(f"{name} of a plan's throws", value, above=False)
        checked_whole("seed of a plan's throws", self.seed, 0)

    @property
    def errors(self) -> tuple[float, float]:
        """Of the speed, a share of it, and of both angles [rad]: standard deviations."""
        own = (self.plan.speed_error, self.plan.angle_error)
        given = (self.speed_error, self.angle_error)
        first, second = (a if b is None else b for a, b in zip(own, given, strict=True))
        return float(first), float(second)
