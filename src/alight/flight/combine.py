"""Several external laws as one: one struct, one Warp function, for an engine to compose."""

import functools
from collections.abc import Sequence
from typing import Any

import warp as wp

from alight.core import devices
from alight.core.errors import InputError
from alight.core.types import quat, scalar, vec3
from alight.flight.external import External, Push


@wp.struct
class NoExternalData:
    """Nothing; a struct must have a field."""

    nothing: scalar


@wp.func
def no_push(data: NoExternalData, t: scalar, q_NT: quat, x: vec3):
    """No acceleration."""
    return Push()


def combine(externals: Sequence[External]) -> tuple[Any, Any]:
    """``(Data, push)`` of the sum of any number of laws, none included.

    The same kinds of laws in the same order give the same struct and function, so that an engine's
    kernel is compiled once for them; ``combined_data`` fills the struct.
    """
    return _fold(tuple((law.push, law.Data) for law in _checked(externals)))


def combined_data(externals: Sequence[External], device: devices.Device) -> Any:
    """The parameters of the sum of ``externals``, as ``combine`` lays them out."""
    laws = _checked(externals)
    if not laws:
        return NoExternalData()
    data = laws[0].data(device)
    for count, law in enumerate(laws[1:], start=2):
        both = combine(laws[:count])[0]()
        both.first, both.second = data, law.data(device)
        data = both
    return data


def combined_next(externals: Sequence[External]) -> Any:
    """The function ``(data, t) -> time`` [s] of the next switch of any of them; None without."""
    laws = _checked(externals)
    if all(law.next is None for law in laws):
        return None
    return _fold_next(tuple((law.next, law.push, law.Data) for law in laws))


@wp.func
def _never(data: Any, t: scalar):
    return scalar(1e30)


@functools.cache
def _fold_next(laws: tuple[tuple[Any, Any, Any], ...]) -> Any:
    """As ``_fold``, of the times of switches."""
    last = laws[-1][0]
    if len(laws) == 1:
        return last or _never
    data_type = _fold(tuple((push, kind) for _, push, kind in laws))[0]
    first, second = _fold_next(laws[:-1]), last or _never

    @wp.func
    def pair_next(data: data_type, t: scalar):
        return wp.min(first(data.first, t), second(data.second, t))

    return pair_next


class Combined(External):
    """The sum of several external laws, as a law."""

    def __init__(self, externals: Sequence[External]) -> None:
        self.externals = _checked(externals)
        self.steady = all(law.steady for law in self.externals)
        self.Data, self.push = combine(self.externals)
        self.next = combined_next(self.externals)

    def data(self, device: devices.Device) -> Any:
        """The parameters of all."""
        return combined_data(self.externals, device)


def _checked(externals: Sequence[External]) -> tuple[External, ...]:
    laws = tuple(externals)
    for law in laws:
        if not isinstance(law, External):
            raise InputError(
                f"{law!r} is among the externals; each must be an External, such as SolarPressure"
            )
    return laws


@functools.cache
def _fold(laws: tuple[tuple[Any, Any], ...]) -> tuple[Any, Any]:
    """Data and push of ((the first n - 1), the last)."""
    if not laws:
        return NoExternalData, no_push
    push, data_type = laws[-1]
    if len(laws) == 1:
        return data_type, push
    first_type, first_push = _fold(laws[:-1])
    return _pair(first_push, first_type, push, data_type)


@functools.cache
def _pair(first_push: Any, first_type: Any, second_push: Any, second_type: Any) -> tuple[Any, Any]:
    """Data and push of the sum of two."""

    @wp.struct
    class PairData:
        first: first_type
        second: second_type

    @wp.func
    def pair_push(data: PairData, t: scalar, q_NT: quat, x: vec3):
        total = first_push(data.first, t, q_NT, x)
        other = second_push(data.second, t, q_NT, x)
        total.acceleration += other.acceleration
        total.potential += other.potential
        return total

    return PairData, pair_push
