"""The engine: laws composed into one kernel that carries runs of every motion to their ends."""

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
