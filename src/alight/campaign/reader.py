"""Reading a campaign: shard by shard, as one data set, or as a data frame."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from alight.campaign.plan import PLAN_FILE, Plan, read_plan
from alight.campaign.run_kinds import run_kind
from alight.campaign.shard_store import (
    Seal,
    contacts_name,
    find_shards,
    hops_name,
    runs_name,
    trajectory_name,
)
from alight.core.ahead import ahead
from alight.core.errors import FileError, InputError, unknown_name
from alight.core.extras import require
from alight.core.html import facts_html
from alight.core.outcomes import AnyEnding
from alight.core.paths import user_path
from alight.core.requirements import Requirement
from alight.engine.run_kind import RunKind
from alight.scenario.dispersion import SWEEP
from alight.scenario.schema.requirement import requirements_of

if TYPE_CHECKING:
    from alight.campaign.replay import Replay

#: Rows of a shard for which threads of their own cost more than they save.
FEW_ROWS = 50_000

_NAMES = {"runs": runs_name, "contacts": contacts_name, "hops": hops_name}


@dataclass(frozen=True, eq=False, repr=False)
class Campaign:
    """The finished shards of a campaign's folder.

    ``table`` is ``"runs"``, ``"contacts"`` or ``"hops"`` wherever one is asked for. Memory:
    ``shards`` and ``dataset`` hold a few parts at a time, ``read`` and ``to_pandas`` the columns
    asked for.
    """

    folder: pathlib.Path
    plan: Plan
    seals: dict[int, Seal]

    @property
    def complete(self) -> bool:
        """True when every run of the plan is there."""
        return len(self.seals) == self.plan.shards

    @property
    def scenario(self) -> dict[str, Any]:
        """The resolved scenario."""
        return self.plan.scenario

    def __len__(self) -> int:
        """Runs that are there."""
        return sum(seal.runs for seal in self.seals.values())

    @property
    def kind(self) -> RunKind:
        """What kind of runs it has."""
        return run_kind(self.scenario).having(self.plan.endings)

    @property
    def sweep_keys(self) -> list[str]:
        """Keys whose values a sweep goes through; empty where runs are a random sample.

        Runs of a sweep are no sample of what may happen: shares of them have no confidence.
        """
        spreads = self.scenario.get("dispersions", {})
        named = {k: s for k, s in spreads.items() if isinstance(s, dict)}
        return sorted(key for key, spread in named.items() if spread.get("kind") == SWEEP)

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """What the scenario asks of its runs, for ``analysis.requirements.judge``."""
        return requirements_of(self.scenario)

    def count(self) -> dict[Any, int]:
        """How many runs ended in each way, by ``Outcome`` or ``Ending``."""
        out: dict[AnyEnding, int] = {}
        kind = self.kind
        for seal in self.seals.values():
            for code, n in seal.outcomes.items():
                end = kind.ending(code)
                out[end] = out.get(end, 0) + n
        return dict(sorted(out.items()))

    def files(self, table: str = "runs") -> list[pathlib.Path]:
        """The Parquet files of a table, in order of runs."""
        if table not in _NAMES:
            raise unknown_name("table", str(table), _NAMES)
        names = {shard: _NAMES[table](shard) for shard in sorted(self.seals)}
        if any(name not in self.seals[shard].files for shard, name in names.items()):
            if table == "hops":
                raise InputError(
                    f"{self.folder} has no table of hops: its lander has no manoeuvres."
                )
            raise InputError(
                f"{self.folder} has no table of {table}: an earlier version of Alight, which wrote "
                f"none of {self.kind.noun.lower()}, has made it."
            )
        return [self.folder / name for name in names.values()]

    def schema(self, table: str = "runs") -> Any:
        """The ``pyarrow.Schema`` of a table, the same for all shards."""
        return pq.read_schema(self._some_files(table)[0])

    def shards(self, table: str = "runs", columns: Sequence[str] | None = None) -> Iterator[Any]:
        """The ``pyarrow.Table`` of each shard in turn: memory stays that of a few."""
        return ahead(partial(_read, columns=columns), self.files(table))

    def dataset(self, table: str = "runs") -> Any:
        """All shards as one ``pyarrow.dataset``, to scan and filter without reading it all."""
        files = [str(path) for path in self._some_files(table)]
        import pyarrow.dataset as pads  # it imports pandas: half a second that no command needs

        return pads.dataset(files, format="parquet")

    def _some_files(self, table: str) -> list[pathlib.Path]:
        """The files of a table, of which there must be one."""
        if files := self.files(table):
            return files
        raise InputError(f"{self.folder} has no finished shard yet.")

    def read(self, table: str = "runs", columns: Sequence[str] | None = None) -> Any:
        """All shards as one ``pyarrow.Table``."""
        parts = list(self.shards(table, columns))
        if not parts:
            raise InputError(f"{self.folder} has no finished shard yet.")
        return pa.concat_tables(parts)

    def to_pandas(self, table: str = "runs", columns: Sequence[str] | None = None) -> Any:
        """All shards as one ``pandas.DataFrame``."""
        require("pandas", "pandas")
        return self.read(table, columns).to_pandas()

    @property
    def trajectories(self) -> list[int]:
        """Runs whose trajectory was kept."""
        kept = {name for seal in self.seals.values() for name in seal.files}
        start = trajectory_name(0).partition("/")[0] + "/"
        return sorted(int(pathlib.Path(n).stem.split("-")[1]) for n in kept if n.startswith(start))

    def trajectory(self, run: int) -> Any:
        """The ``pyarrow.Table`` of one run's trajectory."""
        kept = self.trajectories
        if run not in kept:
            raise InputError(
                f"the trajectory of run {run} was not kept; kept are {kept or 'none'}. Name runs "
                "in [record] trajectories of the scenario, in another folder."
            )
        return _read(self.folder / trajectory_name(run), None)

    def replay(
        self,
        run: int,
        scenario: Any = None,
        *,
        device: str = "auto",
        threads: int | None = None,
        max_lines: int | None = None,
        show: Any = "auto",
    ) -> Replay:
        """Compute a run again, with its whole history, and compare it with its row.

        Parameters
        ----------
        run:
            Number of the run; it need not be one whose trajectory was kept.
        scenario:
            The ``Study`` of a campaign that was made in Python. Of others the scenario, or its
            file, where the one in the folder cannot be used, as files that it names have moved.
        device:
            ``"cpu"``, ``"cuda:0"``, or ``"auto"``: the kind that the campaign was computed on; a
            CPU where there is no GPU.
        max_lines:
            Lines of the history that are kept, at most (see ``alight.simulate``).
        show:
            How progress is reported: "silent", "auto", "text" or "rich".
        """
        from alight.campaign.replay import replay

        options: dict[str, Any] = {"device": device, "threads": threads, "max_lines": max_lines}
        return replay(self, run, scenario, **options, show=show)

    def __str__(self) -> str:
        ended = ", ".join(f"{n} {way.name.lower()}" for way, n in self.count().items())
        there = f"{len(self)} of {self.plan.total} runs"
        return f"Campaign {self.folder}: {there}, {ended or 'none finished'}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        plan = self.plan
        rows = [
            ("folder", str(self.folder)),
            ("runs", f"{len(self)} of {plan.total}"),
            *((way.message, str(n)) for way, n in self.count().items()),
            ("dispersed", ", ".join(sorted(self.scenario.get("dispersions", {}))) or "nothing"),
            ("computed on", f"a {plan.device.upper()}, seed {self.scenario.get('seed', 0)}"),
        ]
        return facts_html(str(self.scenario.get("title") or f"{self.kind.noun}"), rows)


def open_campaign(folder: str | os.PathLike[str]) -> Campaign:
    """Open a campaign's folder to read it, finished or not; every file is checked.

    A shard that was damaged after it was written is an error: the tables would lack runs unnoticed.
    """
    place = user_path(folder, "folder")
    plan = read_plan(place)
    if plan is None:
        raise FileError(
            f"{place} is not the folder of a campaign: it has no {PLAN_FILE}. "
            "Name the folder that the campaign was written to (out=...)."
        )
    seals: dict[int, Seal] = {}
    for shard, found in find_shards(place, plan):
        if isinstance(found, str):
            raise FileError(
                f"shard {shard} of {place} is damaged: {found}. Run the campaign again with the "
                "same scenario and folder: it recomputes this shard and keeps the others."
            )
        if found is not None:
            seals[shard] = found
    return Campaign(place, plan, seals)


def _read(path: pathlib.Path, columns: Sequence[str] | None) -> Any:
    with pq.ParquetFile(path) as file:
        if columns is None:
            return file.read(use_threads=file.metadata.num_rows > FEW_ROWS)
        known = file.schema_arrow.names
        for name in columns:
            if name not in known:
                raise unknown_name("column", name, known)
        threads = file.metadata.num_rows > FEW_ROWS
        return file.read(columns=list(columns), use_threads=threads).select(list(columns))
