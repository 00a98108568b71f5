"""What an actuator of a rigid lander is: a force and torque at a level, or an impulse at once."""

import functools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import warp as wp

from alight.actuators.controller import Controller
from alight.actuators.schedule import Schedule
from alight.core import devices
from alight.core.errors import InputError
from alight.core.types import mat33, scalar, vec3


@wp.struct
class Effort:
    """Force [N] and torque about the centre of mass [N m] on the lander, in body axes; or the
    impulses of both [N s], [N m s]."""

    force: vec3
    torque: vec3


class Actuator(ABC):
    """A force that is switched: a subclass has its parameters, and a Warp function over them.

    - ``Data``, the struct of its parameters, and ``data(device)`` that fills one;
    - ``act(data, scene, level) -> Effort``: what it does to the lander at a ``level`` that is not
      0, ``scene`` being a ``engine.scene.Scene``;
    - or ``kick(data, scene, level, mass, inverse_inertia) -> Effort``: impulses at the moment its
      level rises from 0.
    """

    Data: Any
    act: Any = None
    kick: Any = None
    name: str = ""
    schedule: Schedule | Controller

    @abstractmethod
    def data(self, device: devices.Device) -> Any:
        """The parameters, in the struct that its functions read."""


def require_command(who: str, command: object) -> None:
    """Raise where ``command`` is neither a schedule nor a controller."""
    if not isinstance(command, Schedule | Controller):
        raise InputError(
            f"the schedule of {who} is {command!r}; it must be a Schedule, such as "
            "Schedule.after_rest(delay=60.0), or a Controller."
        )


@wp.struct
class NoActuatorData:
    """Nothing; a struct must have a field."""

    nothing: scalar


def combined(kinds: Sequence[tuple[Any, Any, Any]]) -> tuple[Any, Any, Any]:
    """``(Data, act, kick)`` of all of some kinds ``(Data, act, kick)`` of actuators.

    ``act(data, scene, levels, row, slot, which) -> Effort`` is what one of them does at its level;
    levels are in rows of ``levels`` from ``row`` on. ``kick(data, scene, level, which, mass,
    inverse)`` is the impulse of one.
    """
    return _fold(tuple(kinds))


def combined_data(actuators: Sequence[Actuator], device: devices.Device) -> Any:
    """Their parameters, as ``combined`` lays them out."""
    if not actuators:
        return NoActuatorData()
    kinds = [(a.Data, a.act, a.kick) for a in actuators]
    data = actuators[0].data(device)
    for count, actuator in enumerate(actuators[1:], start=2):
        both = combined(kinds[:count])[0]()
        both.first, both.second = data, actuator.data(device)
        data = both
    return data


@functools.cache
def _fold(kinds: tuple[tuple[Any, Any, Any], ...]) -> tuple[Any, Any, Any]:
    if not kinds:
        return _nothing()
    data_type, act, kick = kinds[-1]
    if len(kinds) == 1:
        return data_type, *_single(data_type, act, kick)
    return _pair(_fold(kinds[:-1]), data_type, act, kick, len(kinds) - 1)


def _nothing() -> tuple[Any, Any, Any]:
    @wp.func
    def act_none(
        data: NoActuatorData,
        scene: Any,
        levels: wp.array2d(dtype=scalar),
        row: int,
        slot: int,
        which: int,
    ):
        return Effort()

    @wp.func
    def kick_none(
        data: NoActuatorData, scene: Any, level: scalar, which: int, mass: scalar, inverse: mat33
    ):
        return Effort()

    return NoActuatorData, act_none, kick_none


@functools.cache
def _single(data_type: Any, act: Any, kick: Any) -> tuple[Any, Any]:
    @wp.func
    def act_one(
        data: data_type,
        scene: Any,
        levels: wp.array2d(dtype=scalar),
        row: int,
        slot: int,
        which: int,
    ):
        out = Effort()
        if wp.static(act is not None):
            level = levels[row, slot]
            if level != scalar(0.0):
                out = act(data, scene, level)
        return out

    @wp.func
    def kick_one(
        data: data_type, scene: Any, level: scalar, which: int, mass: scalar, inverse: mat33
    ):
        out = Effort()
        if wp.static(kick is not None):
            out = kick(data, scene, level, mass, inverse)
        return out

    return act_one, kick_one


@functools.cache
def _pair(
    before: tuple[Any, Any, Any], data_type: Any, act: Any, kick: Any, number: int
) -> tuple[Any, Any, Any]:
    first_type, act_first, kick_first = before
    act_last, kick_last = _single(data_type, act, kick)

    @wp.struct
    class PairData:
        first: first_type
        second: data_type

    @wp.func
    def act_which(
        data: PairData,
        scene: Any,
        levels: wp.array2d(dtype=scalar),
        row: int,
        slot: int,
        which: int,
    ):
        if which == wp.static(number):
            return act_last(data.second, scene, levels, row + wp.static(number), slot, which)
        return act_first(data.first, scene, levels, row, slot, which)

    @wp.func
    def kick_which(
        data: PairData, scene: Any, level: scalar, which: int, mass: scalar, inverse: mat33
    ):
        if which == wp.static(number):
            return kick_last(data.second, scene, level, which, mass, inverse)
        return kick_first(data.first, scene, level, which, mass, inverse)

    return PairData, act_which, kick_which
