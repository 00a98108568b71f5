"""Computing shards: values drawn, landings run, tables made. No files, no folders.

A ``Work`` can be pickled: an executor may send it to other machines. The costly parts of a model
(meshes, fields) are made once in each process, when its first shard is computed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from alight.campaign.dispersions import sample
from alight.campaign.plan import Plan
from alight.campaign.store import Shard, contacts_name, runs_name, trajectory_name
from alight.campaign.tables import contact_table, run_table, to_bytes, trajectory_table
from alight.campaign.tree_tables import Filled, course_columns, load_columns
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.core.progress import Progress
from alight.engine import TreeSolution, run_batch, simulate
from alight.engine.run import Touch
from alight.engine.slots import stacked, state_dtype
from alight.scenario import prepare
from alight.scenario.dispersion import Pair
from alight.scenario.fields import Kind, Measure, Moments, OneOf, Row
from alight.scenario.quantities import DIMENSIONS
from alight.scenario.schema import kind_of


class Landed(NamedTuple):
    """How the landings of a shard ended."""

    final: Any
    loads: list[Filled]
    """Columns of loads with their values; none for rigid landers."""


@dataclass
class Work:
    """All that computing a shard needs."""

    scenario: Any
    plan: Plan
    device: str = "auto"
    threads: int | None = None
    show: str = "silent"
    """How the making of meshes and fields is told."""

    @functools.cached_property
    def prepared(self) -> Any:
        """The scenario with its costly parts made."""
        return prepare(self.scenario, self.device, self.show)

    def __getstate__(self) -> dict[str, Any]:
        kept = ("scenario", "plan", "device", "threads", "show")
        return {name: self.__dict__[name] for name in kept}

    def compute(self, shard: int, bar: Progress | None = None) -> Shard:
        """Run all landings of a shard; ``bar`` is advanced as they end."""
        (only,) = self.compute_together([shard], bar)
        return only

    def compute_together(
        self, shards: Sequence[int], bar: Progress | None = None
    ) -> Iterator[Shard]:
        """Run all landings of several shards at once; each is what ``compute`` makes of it."""
        members = [self.plan.runs(shard) for shard in shards]
        runs = np.concatenate(members)
        try:
            values = sample(self.scenario, runs, total=self.plan.total)
            final, loads, touches, owners = self._land(runs, values, bar)
        except InputError as cause:
            named = f"shard {shards[0]}" if len(shards) == 1 else f"shards {shards[0]} ..."
            raise InputError(
                f"{named} (runs {runs[0]} to {runs[-1]}) cannot be run: {cause}"
            ) from cause
        rows = np.cumsum([0, *(len(m) for m in members)])
        hits = np.searchsorted(owners, rows)
        for i, shard in enumerate(shards):
            own = slice(rows[i], rows[i + 1])
            drawn = {key: a[own] for key, a in values.items()}
            met = slice(hits[i], hits[i + 1])
            mine = Landed(final[own], [(c, a[own]) for c, a in loads])
            yield self._shard(shard, runs[own], drawn, mine, runs[owners[met]], touches[met])

    def _shard(
        self,
        shard: int,
        runs: npt.NDArray[np.int64],
        values: dict[str, Array],
        landed: Landed,
        owners: npt.NDArray[np.int64],
        touches: Any,
    ) -> Shard:
        """The files of a shard, whose landings are done."""
        final, known = landed.final, self.scenario.kind_here
        units = {
            key: units_of(key, a.shape[1] if a.ndim > 1 else 0, known(key))
            for key, a in values.items()
        }
        files = {
            runs_name(shard): to_bytes(run_table(runs, final, values, units, landed.loads)),
            contacts_name(shard): to_bytes(contact_table(owners, touches)),
            **self._trajectories(runs, final),
        }
        codes, counts = np.unique(final["outcome"], return_counts=True)
        outcomes = {int(c): int(n) for c, n in zip(codes, counts, strict=True)}
        return Shard(shard, files, len(touches), outcomes)

    def _land(
        self, runs: npt.NDArray[np.int64], values: dict[str, Array], bar: Progress | None
    ) -> tuple[Any, list[Filled], Any, npt.NDArray[np.int64]]:
        """Final states and loads in the order of runs; contacts by run and time, and their rows."""
        final: Any = np.zeros(len(runs), dtype=state_dtype())
        parts, owners, loads = [], [], dict[str, Filled]()
        for model, release, rows in self._groups(len(runs), values):
            result = run_batch(
                model, release, device=self.device, threads=self.threads, show=bar or "silent"
            )
            final[rows] = result.final
            for column, array in load_columns(result):
                loads.setdefault(column.name, (column, np.zeros(len(runs))))[1][rows] = array
            parts.append(result.touches)
            owners.append(rows[result.touches["run"]])
        touches, row = stacked(Touch, parts), np.concatenate(owners)
        # Groups come one after the other; within a run contacts are already in order of time.
        order = np.argsort(row, kind="stable")
        return final, list(loads.values()), touches[order], row[order]

    def _groups(
        self, count: int, values: dict[str, Array]
    ) -> list[tuple[Any, Any, npt.NDArray[np.int64]]]:
        """Models, the releases of their runs, and which runs these are."""
        groups = self.prepared.groups(values)
        if not values:  # nothing is dispersed: every run is the nominal one
            (only,) = groups
            same = only.release[np.zeros(count, dtype=np.int64)]
            return [(only.model, same, np.arange(count))]
        return [(g.model, g.release, np.asarray(g.rows, dtype=np.int64)) for g in groups]

    def _trajectories(self, runs: npt.NDArray[np.int64], final: Any) -> dict[str, bytes]:
        """Files of the runs whose course is kept; a run released inside the ground has none."""
        out = {}
        for run in sorted(set(map(int, self.scenario.record.trajectories)) & set(runs.tolist())):
            if final["outcome"][run - runs[0]] == Outcome.STARTED_INSIDE:
                continue
            values = sample(self.scenario, [run], total=self.plan.total)
            ((model, release, _),) = self._groups(1, values)
            solution = simulate(model, release, device=self.device, threads=self.threads)
            joints = course_columns(solution) if isinstance(solution, TreeSolution) else None
            out[trajectory_name(run)] = to_bytes(trajectory_table(run, solution, joints))
        return out


class ShardBar:
    """A bar of the whole campaign, as the batches of one shard see it, one after the other."""

    def __init__(self, whole: Progress, before: dict[str, int]) -> None:
        self._whole, self._before, self._own = whole, dict(before), dict[str, int]()

    def start(self, title: str, total: int | None = None) -> None:
        """A batch begins: the bar of the campaign stays, with what the last batch came to."""
        self._before, self._own = self._counts(), {}

    def advance(self, n: int = 1, **facts: object) -> None:
        """Report ``n`` more runs, with outcomes of this batch added to those before."""
        self._own.update({name: int(str(count)) for name, count in facts.items()})
        self._whole.advance(n, **self._counts())

    def _counts(self) -> dict[str, int]:
        names = [*self._before, *(name for name in self._own if name not in self._before)]
        return {name: self._before.get(name, 0) + self._own.get(name, 0) for name in names}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@functools.cache
def units_of(key: str, width: int = 0, known: Kind | None = None) -> tuple[str, ...]:
    """The SI unit of each component of a quantity of the scenario; "" for plain numbers.

    ``width`` is the number of components, 0 for a single number: some keys take either. ``known``
    is the kind of quantity where the scenario's laws decide it.
    """
    kind = kind_of(key, (0.0,) * width if width else 0.0)
    if isinstance(kind, OneOf) and known is not None:
        kind = known
    parts: Any = kind.kinds if isinstance(kind, Pair) else None
    if parts is None:
        parts = [kind.of if isinstance(kind, Row | Moments) else kind] * max(1, width)
    return tuple(DIMENSIONS[p.dimension].si if isinstance(p, Measure) else "" for p in parts)
