"""Controllers: levels that a law sets at a fixed rate, from what it sees of the run."""

from __future__ import annotations

from typing import Any, ClassVar

from alight.core import devices
from alight.core.checks import checked_number


class Controller:
    """A law that sets a level every ``period`` [s], from the release on.

    A subclass has the struct ``Data`` of its parameters, the Warp function ``command(data, scene,
    level) -> level`` over it and a ``engine.scene.Scene``, and fills the struct in ``data``. What
    it is given as ``level`` is what it said last. A run that has come to rest ends, whatever its
    controllers would do later.
    """

    Data: ClassVar[Any]
    command: ClassVar[Any]

    def __init__(self, period: float) -> None:
        self.period = checked_number("period of a controller [s]", period)

    def data(self, device: devices.Device) -> Any:
        """The parameters, in the struct that ``command`` reads."""
        raise NotImplementedError
