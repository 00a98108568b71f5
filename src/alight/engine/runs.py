"""``run_batch`` and ``simulate`` for models of every kind: rigid landers and articulated ones."""

from __future__ import annotations

from typing import Any, overload

from alight.core.errors import InputError
from alight.core.progress import Progress
from alight.engine.batch import BatchResult
from alight.engine.batch import run_batch as run_rigid
from alight.engine.model import Model
from alight.engine.release import Release
from alight.engine.simulate import Solution
from alight.engine.simulate import simulate as simulate_rigid
from alight.engine.tree_model import TreeModel, TreeRelease
from alight.engine.tree_runs import TreeResult, run_trees
from alight.engine.tree_simulate import TreeSolution, simulate_tree


@overload
def run_batch(
    model: Model,
    release: Release,
    *,
    device: str = ...,
    threads: int | None = ...,
    show: str | Progress = ...,
) -> BatchResult: ...


@overload
def run_batch(
    model: TreeModel,
    release: TreeRelease,
    *,
    device: str = ...,
    threads: int | None = ...,
    show: str | Progress = ...,
) -> TreeResult: ...


def run_batch(
    model: Model | TreeModel,
    release: Release | TreeRelease,
    *,
    device: str = "auto",
    threads: int | None = None,
    show: str | Progress = "silent",
) -> BatchResult:
    """Carry every run of ``release`` to its end: final states and all contacts.

    That of a ``TreeModel`` is a ``TreeResult``, which has its loads too. ``show`` is how progress
    is told: "silent", "auto", "text" or "rich".
    """
    _require_match(model, release)
    run: Any = run_trees if isinstance(model, TreeModel) else run_rigid
    found: BatchResult = run(model, release, device=device, threads=threads, show=show)
    return found


@overload
def simulate(
    model: Model,
    release: Release,
    *,
    device: str = ...,
    threads: int | None = ...,
    max_lines: int | None = ...,
) -> Solution: ...


@overload
def simulate(
    model: TreeModel,
    release: TreeRelease,
    *,
    device: str = ...,
    threads: int | None = ...,
    max_lines: int | None = ...,
) -> TreeSolution: ...


@overload
def simulate(
    model: Model | TreeModel,
    release: Release | TreeRelease,
    *,
    device: str = ...,
    threads: int | None = ...,
    max_lines: int | None = ...,
) -> Solution | TreeSolution: ...


def simulate(
    model: Model | TreeModel,
    release: Release | TreeRelease,
    *,
    device: str = "cpu",
    threads: int | None = None,
    max_lines: int | None = None,
) -> Solution | TreeSolution:
    """Carry one lander from its release to its end, with its steps kept.

    At most ``max_lines`` lines are kept (``engine.history.MAX_LINES`` if not given): long runs are
    thinned, as ``solution.thinning`` says.
    """
    _require_match(model, release)
    follow: Any = simulate_tree if isinstance(model, TreeModel) else simulate_rigid
    options = {"device": device, "threads": threads, "max_lines": max_lines}
    found: Solution | TreeSolution = follow(model, release, **options)
    return found


def _require_match(model: Model | TreeModel, release: Release | TreeRelease) -> None:
    if isinstance(model, TreeModel) == isinstance(release, TreeRelease):
        return
    raise InputError(
        f"the model is a {type(model).__name__} and the release a {type(release).__name__}; a "
        "TreeModel goes with a TreeRelease, a Model with a Release."
    )
