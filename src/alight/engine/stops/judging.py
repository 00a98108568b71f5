"""Several stops as one: what the engine's loop asks after each step, for every motion alike.

Stops fold in pairs, as external pushes do: the same kinds of laws in the same order give the same
structs and functions, so that models which differ in numbers share a kernel and a batch. A model
without stops has the kernel that it had.
"""

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import warp as wp

from alight.core import devices
from alight.core.types import scalar
from alight.engine.scene import Scene
from alight.engine.stops.law import StopLaw

#: What a row of ``since`` holds while its stop is not true [s].
_NOT = wp.constant(scalar(-1.0))


@dataclass(frozen=True)
class Judge:
    """What a loop needs to end runs by stops."""

    Watch: Any
    """The struct of the parameters of all stops, and of what they remember."""
    decide: Any
    """Warp function ``(data, scene, since, slot) -> int``: the code of the first stop that is met,
    or 0."""
    scene: Any
    """Warp function ``(world, run, memory, slot) -> Scene``."""
    kept: Any
    """Warp function ``(run) -> bool``: whether the last step was kept, so that there is a state."""
    rows: int
    """Stops, if any of them must hold for some time; else 0."""


@wp.struct
class NoWatch:
    """In place of stops where there are none; a struct must have a field."""

    nothing: int


@wp.func
def _every(run: Any):
    return True


def judged(loop: Any, stops: Sequence[StopLaw], scene: Any, kept: Any = None) -> Any:
    """A ``Loop`` whose runs end by ``stops`` too; the same loop where there are none.

    ``scene(height: bool, turn: bool)`` makes the motion's function of a scene, with the height over
    the ground and the attitude of the target where they are asked for.
    """
    if not stops:
        return loop
    data, decide = _fold(tuple(_kind(law) for law in stops))
    seen = scene(any(law.uses_height for law in stops), any(law.uses_turn for law in stops))
    rows = len(stops) if any(law.hold > 0.0 for law in stops) else 0
    judge = Judge(_watch(data), decide, seen, kept or _every, rows)
    return dataclasses.replace(loop, judge=judge)


def watch(judge: Judge | None, stops: Sequence[StopLaw], slots: int, device: devices.Device) -> Any:
    """The parameters of the stops of a model, and room for what ``slots`` runs remember."""
    if judge is None:
        return NoWatch()
    made = judge.Watch()
    made.shared = data_of(stops, device)
    made.since = wp.zeros((judge.rows, slots), dtype=scalar, device=device.name)
    return made


def data_of(stops: Sequence[StopLaw], device: devices.Device) -> Any:
    """The parameters of the stops of one model."""
    return _data(tuple(stops), device)


def type_of(stops: Sequence[StopLaw]) -> Any:
    """The struct that these are in."""
    return _type(stops)


# -- folding ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Kind:
    """What the code of one stop depends on."""

    test: Any
    data: Any
    when: str
    holds: bool


def _kind(law: StopLaw) -> _Kind:
    return _Kind(law.test, law.Data, law.when, law.hold > 0.0)


def _type(stops: Sequence[StopLaw]) -> Any:
    return _fold(tuple(_kind(law) for law in stops))[0]


def _data(stops: tuple[StopLaw, ...], device: devices.Device) -> Any:
    """The parameters of all stops, as ``_fold`` lays them out."""
    data = _one_data(stops[0], 0, device)
    for row, law in enumerate(stops[1:], start=1):
        both = _type(stops[: row + 1])()
        both.first, both.second = data, _one_data(law, row, device)
        data = both
    return data


def _one_data(law: StopLaw, row: int, device: devices.Device) -> Any:
    data = _one(_kind(law), row)[0]()
    data.law, data.hold, data.code = law.data(device), law.hold, int(law.ending)
    return data


@wp.func
def _always(scene: Scene):
    return True


@wp.func
def _in_contact(scene: Scene):
    return scene.touching != 0


@wp.func
def _in_flight(scene: Scene):
    return scene.touching == 0


_GATES = {"always": _always, "contact": _in_contact, "flight": _in_flight}


@functools.cache
def _one(kind: _Kind, row: int) -> tuple[Any, Any]:
    """Data of a single stop, and the function that gives its code, or 0."""
    law_data: Any = kind.data
    test, gate = kind.test, _GATES[kind.when]

    @wp.struct
    class One:
        law: law_data
        hold: scalar  # [s]
        code: int

    @wp.func
    def decide_one(data: One, scene: Scene, since: wp.array2d(dtype=scalar), slot: int):
        met = bool(False)
        if gate(scene):
            met = test(data.law, scene)
        if wp.static(kind.holds):
            if not met:
                since[wp.static(row), slot] = _NOT
            elif since[wp.static(row), slot] < scalar(0.0):
                since[wp.static(row), slot] = scene.t
            met = met and scene.t - since[wp.static(row), slot] >= data.hold
        return wp.where(met, data.code, 0)

    return One, decide_one


@functools.cache
def _fold(kinds: tuple[_Kind, ...]) -> tuple[Any, Any]:
    """Data and function of ((the first n - 1), the last)."""
    last = _one(kinds[-1], len(kinds) - 1)
    return last if len(kinds) == 1 else _pair(*_fold(kinds[:-1]), *last)


@functools.cache
def _pair(first_type: Any, first: Any, second_type: Any, second: Any) -> tuple[Any, Any]:
    """Data and function of two."""

    @wp.struct
    class Pair:
        first: first_type
        second: second_type

    @wp.func
    def decide_pair(data: Pair, scene: Scene, since: wp.array2d(dtype=scalar), slot: int):
        # Both are asked: each keeps its own account of how long it has been true.
        one = first(data.first, scene, since, slot)
        other = second(data.second, scene, since, slot)
        return wp.where(one != 0, one, other)

    return Pair, decide_pair


@functools.cache
def _watch(data_type: Any) -> Any:
    """The struct of the parameters of all models' stops, and of what they remember."""

    @wp.struct
    class Watch:
        shared: data_type  # of all runs
        own: wp.array(dtype=data_type)  # or of each model
        since: wp.array2d(dtype=scalar)  # [stop, slot]: since when it is true [s]; -1: it is not

    return Watch
