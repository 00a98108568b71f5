"""The engine: laws composed into one kernel that carries landers from release to rest."""

from alight.engine.batch import Batch, run_batch, simulate
from alight.engine.model import Model, Steps, Stop
from alight.engine.motion import Motion
from alight.engine.release import Release
from alight.engine.result import BatchResult
from alight.engine.solution import Solution
from alight.engine.tree_model import TreeModel, TreeRelease, TreeSteps, TreeStop
from alight.engine.tree_result import TreePeaks, TreeResult
from alight.engine.tree_solution import TreeSolution

__all__ = [
    "Batch",
    "BatchResult",
    "Model",
    "Motion",
    "Release",
    "Solution",
    "Steps",
    "Stop",
    "TreeModel",
    "TreePeaks",
    "TreeRelease",
    "TreeResult",
    "TreeSolution",
    "TreeSteps",
    "TreeStop",
    "run_batch",
    "simulate",
]
