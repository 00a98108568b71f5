"""Controllers of one lander as one law of its kernel."""

import functools
from typing import Any

import warp as wp

from alight.actuators.law import NoActuatorData
from alight.core.types import scalar


@functools.cache
def controllers(kinds: tuple[tuple[Any, Any], ...]) -> tuple[Any, Any]:
    """Data of all, and the function ``(data, which, scene, level) -> level`` of one of them."""
    if not kinds:

        @wp.func
        def unchanged(data: NoActuatorData, which: int, scene: Any, level: scalar):
            return level

        return NoActuatorData, unchanged
    first_type, first = controllers(kinds[:-1])
    last_type, command = kinds[-1]
    number = len(kinds) - 1

    @wp.struct
    class ControllersData:
        first: first_type
        second: last_type

    @wp.func
    def control(data: ControllersData, which: int, scene: Any, level: scalar):
        if which == wp.static(number):
            return command(data.second, scene, level)
        return first(data.first, which, scene, level)

    return ControllersData, control
