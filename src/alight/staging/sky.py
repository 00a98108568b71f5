"""How the target turns and where the Sun stands, as functions of time."""

from __future__ import annotations

from typing import Any

import numpy as np

from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import AlightError
from alight.views.playback.model import OfTime


def attitude_of(rotation: Any) -> OfTime | None:
    """q_NT as a function of time; None where there is no rotation."""
    if rotation is None:
        return None

    def attitude(times: Array) -> Array:
        return np.asarray(rotation.evaluate(np.asarray(times, np.float64), device="cpu")[2])

    return attitude


def sun_of(scenario: Any, rotation: Any, externals: Any = ()) -> tuple[OfTime | None, str]:
    """Directions to the Sun in target axes; or none, and why where a scenario asks for it.

    Without a scenario it is the Sun whose light pushes the runs, if there is one.
    """
    given = getattr(getattr(scenario, "environment", None), "sun", None)
    try:
        place = _asked(scenario, given) if given is not None else _pushing(externals)
    except AlightError as cause:
        return None, f"where the Sun stands is not known: {cause}"
    if place is None:
        return None, ""

    def direction(times: Array) -> Array:
        found = place.evaluate(np.asarray(times, np.float64), rotation, "cpu")
        return np.asarray(found / np.linalg.norm(found, axis=-1, keepdims=True))

    return direction, ""


def _asked(scenario: Any, sun: Any) -> Any:
    from alight import flight
    from alight.scenario import ephemeris

    if sun.spice is None:
        return ephemeris.sun_place(scenario, sun)
    from alight.analysis import spice
    from alight.core.constants import AU

    return flight.Fixed(AU * spice.sun_direction(sun.spice, str(sun.spice_target), str(sun.date)))


def _pushing(externals: Any) -> Any:
    return next((one.sun for one in externals or () if hasattr(one, "sun")), None)


def still(direction: Array) -> OfTime:
    """A direction that stands still."""
    unit = np.asarray(direction) / np.linalg.norm(direction)

    def always(times: Array) -> Array:
        return np.broadcast_to(unit, (*np.shape(times), 3)).copy()

    return always


def sun_in_space(sun: OfTime, attitude: OfTime | None) -> OfTime:
    """The same direction in inertial axes."""
    if attitude is None:
        return sun

    def direction(times: Array) -> Array:
        return frames.quat_rotate(attitude(times), sun(times))

    return direction
