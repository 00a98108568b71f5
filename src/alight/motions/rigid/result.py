"""How runs of landers with actuators ended."""

from __future__ import annotations

from dataclasses import dataclass

from alight.core.checks import Array
from alight.engine.result import BatchResult


@dataclass(frozen=True, eq=False)
class DrivenResult(BatchResult):
    """How they ended, and what their actuators did."""

    wheel_speed: Array
    """(n, wheels) relative to the lander [rad/s]; 0 where a wheel is held."""
    actuator_work: Array
    """(n,) of motors, brakes, thrusters and springs on the lander [J]."""
