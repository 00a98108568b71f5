"""Commands of a hop: every combination of some speeds, azimuths and elevations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.core.checks import Array, checked_number, checked_whole
from alight.core.errors import InputError


@dataclass(frozen=True, eq=False)
class Commands:
    """What a lander can be commanded to do."""

    throws: Array
    """(m, 3) speed [m/s], azimuth from north towards east and elevation [rad]."""

    def __len__(self) -> int:
        return len(self.throws)

    @classmethod
    def grid(cls, speeds: Sequence[float], azimuths: int, elevations: Sequence[float]) -> Commands:
        """All combinations of ``speeds`` [m/s], as many ``azimuths`` evenly round, and
        ``elevations`` [rad]."""
        checked_whole("azimuths", azimuths, 1)
        if not len(speeds) or not len(elevations):
            raise InputError("commands need at least one speed and one elevation.")
        for speed in speeds:
            checked_number("the speed of a command [m/s]", speed)
        for angle in elevations:
            if not 0.0 < angle <= 0.5 * np.pi:
                raise InputError(
                    f"the elevation of a command is {np.degrees(angle):g} deg; it must be above 0 "
                    "and at most 90 deg, or the push-off goes into the ground."
                )
        turn = 2.0 * np.pi * np.arange(azimuths) / azimuths
        grid = np.meshgrid(np.asarray(speeds, float), turn, np.asarray(elevations, float),
                           indexing="ij")  # fmt: skip
        return cls(np.stack(grid, -1).reshape(-1, 3))

    def thrown(self, which: Any, errors: Array) -> Array:
        """(n, 3) throws of commands ``which``, with ``errors`` (n, 3): a share of the speed, and
        angles across and along the elevation [rad]."""
        out = np.array(self.throws[which])
        out[:, 0] *= np.maximum(0.0, 1.0 + errors[:, 0])
        out[:, 1] += errors[:, 1] / np.maximum(np.cos(out[:, 2]), 1e-3)
        out[:, 2] = np.clip(out[:, 2] + errors[:, 2], 1e-3, 0.5 * np.pi)
        return out
