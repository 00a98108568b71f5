"""The engine: laws composed into one kernel that carries landers from release to rest."""

from alight.engine.batch import Batch, BatchResult
from alight.engine.model import Model, Steps, Stop
from alight.engine.release import Release
from alight.engine.runs import run_batch, simulate
from alight.engine.simulate import Solution
from alight.engine.tree_model import TreeModel, TreeRelease, TreeSteps, TreeStop
from alight.engine.tree_runs import TreePeaks, TreeResult, TreeRuns, run_trees
from alight.engine.tree_simulate import TreeSolution, simulate_tree

__all__ = [
    "Batch",
    "BatchResult",
    "Model",
    "Release",
    "Solution",
    "Steps",
    "Stop",
    "TreeModel",
    "TreePeaks",
    "TreeRelease",
    "TreeResult",
    "TreeRuns",
    "TreeSolution",
    "TreeSteps",
    "TreeStop",
    "run_batch",
    "run_trees",
    "simulate",
    "simulate_tree",
]
