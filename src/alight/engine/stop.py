"""When a run ends."""

from __future__ import annotations

import math
from dataclasses import dataclass

from alight.core.checks import checked_number, checked_whole


@dataclass(frozen=True)
class Stop:
    """When a run ends."""

    max_time: float = 1e5
    """Simulated time [s] after which it has timed out."""
    escape_radius: float = math.inf
    """Distance from the target's origin [m] beyond which it has escaped."""
    settle_speed: float = 1e-5
    """Speed of the centre of mass [m/s] and ..."""
    settle_rate: float = 1e-4
    """... rate of turning [rad/s] below which it is at rest, if in contact for ..."""
    settle_time: float = 30.0
    """... this long [s]. A lander that the ground holds exactly is at rest at once."""
    max_steps: int = 10_000_000
    """Steps after which it ends as still moving (``OUT_OF_STEPS``)."""

    def __post_init__(self) -> None:
        for name in ("max_time", "settle_speed", "settle_rate", "settle_time"):
            checked_number(name, getattr(self, name))
        if self.escape_radius != math.inf:
            checked_number("escape_radius [m]", self.escape_radius)
        checked_whole("max_steps", self.max_steps, 1)
