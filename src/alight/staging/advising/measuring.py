"""A campaign of one alternative: kept in a folder, resumed, and timed without its preparation."""

from __future__ import annotations

import json
import pathlib
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from alight.campaign import run_campaign
from alight.campaign.executors import Local, Tally
from alight.campaign.jobs.shard import Work
from alight.campaign.shard_store import Shard
from alight.scenario.document import Document

#: Shards that the runs of an alternative are cut into: each is timed by itself.
SHARDS = 16
#: Runs that are tried where one is quick: a run among others is cheaper than a run alone.
MANY = 64


@dataclass(frozen=True)
class Cost:
    """What runs of an alternative cost on the cores of this machine."""

    run_s: float
    """Processor time of a run, once kernels are compiled and tables are built [s]: the median over
    shards."""
    setup_s: float
    """Until its first run could begin: tables are built or read from disk [s]."""
    wall_s: float
    """How long a run took on the clock [s]."""


class Stopwatch(Local):
    """Computes shards on this machine's cores, and times them.

    The first shard does not count where there are others: kernels may be compiled in it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setup_s = 0.0
        self.timed: list[tuple[float, float]] = []

    def prepare(self, work: Work) -> None:
        """Make meshes and fields, and time it."""
        began = time.process_time()
        super().prepare(work)
        self.setup_s = time.process_time() - began

    def compute(self, work: Work, shards: Sequence[int], tally: Tally) -> Iterator[Shard]:
        """Yield the shards in order, each timed."""
        for number, shard in enumerate(shards):
            began = time.process_time(), time.perf_counter()
            (made,) = super().compute(work, [shard], tally)
            if number > 0 or len(shards) == 1:
                self._note(began, len(work.plan.runs(shard)))
            yield made

    def _note(self, began: tuple[float, float], runs: int) -> None:
        spent = time.process_time() - began[0], time.perf_counter() - began[1]
        self.timed.append((spent[0] / runs, spent[1] / runs))

    def cost(self) -> Cost | None:
        """What was found; None where nothing was computed."""
        if not self.timed:
            return None
        run, wall = (statistics.median(column) for column in zip(*self.timed, strict=True))
        return Cost(run, self.setup_s, wall)


def measured(
    scenario: Document, folder: pathlib.Path, runs: int, minutes: float, show: str
) -> tuple[Cost, int]:
    """Run an alternative, or resume it; fewer than ``runs`` where they would take longer.

    A few runs that are not kept tell how many fit into ``minutes``.
    """
    plain = scenario.replaced({"campaign.sampling": "random", "record.trajectories": None})
    kept = _read(folder)
    if kept is None:
        tried = _tried(plain, 2, folder.parent, show)
        if runs > MANY and MANY * tried.wall_s < 6.0 * minutes:  # a tenth of the time
            tried = _after(tried, _tried(plain, MANY, folder.parent, show))
        fit = int(60.0 * minutes / max(tried.wall_s, 1e-9))
        kept = Kept(max(2, min(runs, fit)), tried, done=False)
        _keep(folder, kept)
    watch = Stopwatch()
    shard = max(1, -(-kept.runs // SHARDS))
    cut = plain.replaced({"campaign.shard": shard})
    run_campaign(cut, kept.runs, out=folder, device="cpu", executor=watch, show=show)
    found = watch.cost()
    if not kept.done and found is not None:
        kept = Kept(kept.runs, _after(kept.cost, found), done=True)
        _keep(folder, kept)
    return kept.cost, kept.runs


def _after(first: Cost, later: Cost) -> Cost:
    """The cost of later runs, with the set-up of the first: later ones read tables from disk."""
    return replace(later, setup_s=max(first.setup_s, later.setup_s))


def _tried(scenario: Document, runs: int, place: pathlib.Path, show: str) -> Cost:
    """Some runs in two halves: in the first kernels are compiled, the second is timed."""
    with tempfile.TemporaryDirectory(dir=place, prefix=".trial-") as folder:
        watch = Stopwatch()
        halves = scenario.replaced({"campaign.shard": runs // 2})
        out = pathlib.Path(folder) / "runs"
        run_campaign(halves, runs, out=out, device="cpu", executor=watch, show=show)
    found = watch.cost()
    assert found is not None, "both halves were computed"
    return found


@dataclass(frozen=True)
class Kept:
    """What is known of an alternative, beside its folder."""

    runs: int
    cost: Cost
    done: bool
    """Whether its cost is that of the campaign; else of two runs that were tried."""


def _path(folder: pathlib.Path) -> pathlib.Path:
    return folder.parent / f"{folder.name}.cost.json"


def _read(folder: pathlib.Path) -> Kept | None:
    """What was kept; a damaged file is as good as none."""
    try:
        found = json.loads(_path(folder).read_text("utf-8"))
        return Kept(int(found["runs"]), Cost(**found["cost"]), bool(found["done"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _keep(folder: pathlib.Path, kept: Kept) -> None:
    path = _path(folder)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(asdict(kept)), "utf-8")
    part.replace(path)
