"""What moves, and how: the motions that run under the engine."""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
    from alight.motions.rigid.model import Model, Steps
    from alight.motions.rigid.release import Release
    from alight.motions.rigid.solution import Solution
    from alight.motions.tree.model import TreeModel, TreeRelease, TreeSteps, TreeStop
    from alight.motions.tree.result import TreePeaks, TreeResult
    from alight.motions.tree.solution import TreeSolution

__all__ = [
    "Model",
    "Release",
    "Solution",
    "Steps",
    "TreeModel",
    "TreePeaks",
    "TreeRelease",
    "TreeResult",
    "TreeSolution",
    "TreeSteps",
    "TreeStop",
]

lazy.door(
    __name__,
    {
        "alight.motions.rigid.model": "Model Steps",
        "alight.motions.rigid.release": "Release",
        "alight.motions.rigid.solution": "Solution",
        "alight.motions.tree.model": "TreeModel TreeRelease TreeSteps TreeStop",
        "alight.motions.tree.result": "TreePeaks TreeResult",
        "alight.motions.tree.solution": "TreeSolution",
    },
)
