"""How runs of landers with actuators ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array
from alight.engine.result import BatchResult


@dataclass(frozen=True, eq=False)
class DrivenResult(BatchResult):
    """How they ended, and what their actuators did."""

    wheel_speed: Array
    """(n, wheels) relative to the lander [rad/s]; 0 where a wheel is held."""
    actuator_work: Array
    """(n,) of motors, brakes, thrusters and springs on the lander [J]."""
    wheel_max_speed: Array
    """(n, wheels) largest that it was [rad/s]."""
    arm_angle: Array
    """(n, arms) since the release [rad]; 0 after whole turns."""
    work_each: Array
    """(n, actuators) of each of them [J]: wheels, then arms, then others."""
    hops: npt.NDArray[np.int32]
    """(n,) how often it left the ground after it had come to rest."""
    manoeuvres: Any = None
    """(n, manoeuvres) records (``drive.manoeuvres.HOP_FIELDS``); none without."""
