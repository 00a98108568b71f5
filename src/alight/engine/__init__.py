"""The engine: laws composed into one kernel that carries landers from release to rest."""

from alight.engine.batch import Batch, BatchResult, run_batch
from alight.engine.model import Model, Steps, Stop
from alight.engine.release import Release
from alight.engine.simulate import Solution, simulate

__all__ = [
    "Batch",
    "BatchResult",
    "Model",
    "Release",
    "Solution",
    "Steps",
    "Stop",
    "run_batch",
    "simulate",
]
