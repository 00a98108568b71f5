"""The engine: laws composed into one kernel that carries runs of every motion to their ends."""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
    from alight.engine.batch import Batch, run_batch, simulate
    from alight.engine.fleet import Fleet, run_models
    from alight.engine.motion import Motion
    from alight.engine.result import BatchResult
    from alight.engine.scene import Scene, scenes
    from alight.engine.stop import Stop
    from alight.engine.stops import StopLaw

__all__ = [
    "Batch",
    "BatchResult",
    "Fleet",
    "Motion",
    "Scene",
    "Stop",
    "StopLaw",
    "run_batch",
    "run_models",
    "scenes",
    "simulate",
]

lazy.door(
    __name__,
    {
        "alight.engine.batch": "Batch run_batch simulate",
        "alight.engine.fleet": "Fleet run_models",
        "alight.engine.motion": "Motion",
        "alight.engine.result": "BatchResult",
        "alight.engine.scene": "Scene scenes",
        "alight.engine.stop": "Stop",
        "alight.engine.stops": "StopLaw",
    },
)
