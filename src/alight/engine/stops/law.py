"""``StopLaw``: a function of a run's state that says "ended", and the ending that it means.

A stop is a law like any other: a struct of parameters, a Warp function, and a class with both::

    @wp.struct
    class FastData:
        speed: scalar  # [m/s]

    @wp.func
    def fast(data: FastData, scene: Scene):
        return wp.length(scene.v) > data.speed

    class Fast(StopLaw):
        Data, test = FastData, fast
        ending = Ending(64, "fast", "moved faster than 1 m/s")

        def data(self, device):
            data = FastData()
            data.speed = 1.0
            return data

It is asked after every step that was kept: a run ends with the first step after which its test is
true. What comes and goes within one step is not seen; steps are as long as their error and the way
to the ground allow (``Steps.longest`` bounds them).
"""

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import checked_number
from alight.core.errors import InputError, unknown_name
from alight.core.outcomes import AnyEnding, Ending, Outcome, own_endings
from alight.core.warp_setup import POINT_OPTIONS
from alight.engine.scene import Scene

#: When a stop is asked: always, only while in contact, only while not.
WHEN = ("always", "contact", "flight")


class StopLaw:
    """When a run ends, and with what."""

    #: The ``@wp.struct`` class of the law's parameters.
    Data: Any
    #: Warp function ``(data: Data, scene: Scene) -> bool``.
    test: Any
    #: An ``Outcome``, or an ``Ending`` of one's own with a code from 64 up.
    ending: AnyEnding
    #: How long the test must be true without a break [s]; 0 ends a run at once.
    hold: float = 0.0
    #: One of ``WHEN``; outside it the test is not even looked at, and a hold begins anew.
    when: str = "always"
    #: Whether ``scene.height`` is read: it costs a look at the ground after each step.
    uses_height: bool = False
    #: Whether ``scene.turn`` is read, the attitude of the target.
    uses_turn: bool = False
    #: Whether the test is one of places about a target, of which a body over a membrane has none.
    of_target: bool = False

    def data(self, device: devices.Device) -> Any:
        """The law's parameters as a struct whose arrays live on ``device``."""
        raise NotImplementedError

    def evaluate(self, scenes: Any, device: str = "cpu") -> npt.NDArray[np.bool_]:
        """(n,) whether the test is true in each of ``scenes`` (``engine.scene.scenes``)."""
        place = devices.resolve(device)
        out = wp.zeros(len(scenes), dtype=int, device=place.name)
        if len(scenes):
            given = wp.array(scenes, dtype=Scene, device=place.name)
            kernel = _test_kernel(self.test, self.Data)
            inputs = [self.data(place), given]
            devices.launch(kernel, len(scenes), inputs, place, outputs=[out])
        return np.asarray(out.numpy() != 0)

    def options(self, hold: float, when: str | None, ending: AnyEnding | None) -> None:
        """Take what can be chosen of every stop, in its constructor."""
        self.hold = checked_number("hold [s]", hold, above=False)
        self.when = type(self).when if when is None else when
        self.ending = type(self).ending if ending is None else ending


def checked_stops(stops: Iterable[StopLaw]) -> tuple[StopLaw, ...]:
    """Stops as a tuple, or an error that says what is wrong with one of them."""
    laws = tuple(stops)
    for law in laws:
        if not isinstance(law, StopLaw):
            raise InputError(
                f"stops hold {law!r}; each must be a law such as engine.stops.BelowHeight(10.0)."
            )
        name = type(law).__name__
        for part in ("Data", "test", "ending"):
            if getattr(law, part, None) is None:
                raise InputError(f"the stop {name} has no {part}: see engine.stops.StopLaw.")
        if not isinstance(law.ending, Ending | Outcome):
            raise InputError(
                f"the ending of the stop {name} is {law.ending!r}; it must be an Ending, such as "
                'Ending(64, "in_pond", "came into the pond").'
            )
        if not int(law.ending) > 0 or law.ending.failed:
            raise InputError(
                f'the stop {name} ends runs as "{law.ending.name}"; a stop is no failure, and it '
                "ends a run: take an Ending with a code from 64 up."
            )
        if law.when not in WHEN:
            raise unknown_name(f"when of the stop {name}", str(law.when), WHEN)
        checked_number(f"hold of the stop {name} [s]", law.hold, above=False)
    own_endings(law.ending for law in laws)
    return laws


def require_no_target(stops: Iterable[StopLaw], what: str) -> None:
    """An error for stops that test places about a target, in a motion without one."""
    for law in stops:
        if law.of_target:
            raise InputError(
                f"the stop {type(law).__name__} is one of places about a target, and {what} has "
                "none: there give stops of height, rate or time."
            )


@functools.cache
def _test_kernel(test: Any, data_type: Any) -> Any:
    """A kernel that tests one scene a thread."""

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def evaluate_stop(
        offset: int,
        data: data_type,
        scenes: wp.array(dtype=Scene),
        true_out: wp.array(dtype=int),
    ) -> None:
        i = wp.tid() + offset
        if test(data, scenes[i]):
            true_out[i] = 1

    return evaluate_stop
