"""``campaign.replay(17)``: one run of a stored campaign again, with its whole history.

A run depends on nothing but its number and its campaign's plan, so what is computed again has the
bits of its row in the table. That is checked, value by value. Another device or version of the code
may round differently; then what differs is reported, and by how much.
"""

from __future__ import annotations

import os
import pathlib
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from alight.campaign.dispersions.sampling import sample
from alight.campaign.jobs.job import Job
from alight.campaign.jobs.shard import Work
from alight.campaign.plan import Plan, PlanError, differences, make_plan
from alight.campaign.replayed_row import Difference, unlike
from alight.campaign.run_or_resume import check_maker, naming_packages, versions_of, with_runs
from alight.campaign.shard_store import contacts_name, hops_name, runs_name
from alight.campaign.study.study import Study
from alight.campaign.tables.arrow import table_from
from alight.core import devices
from alight.core.checks import checked_whole
from alight.core.compile_notice import reported
from alight.core.errors import DeviceError, FileError, InputError
from alight.core.html import facts_html
from alight.core.outcomes import AnyEnding, Outcome
from alight.core.paths import user_path
from alight.core.progress import Progress, progress
from alight.core.stages import stage
from alight.engine.batch import Batch
from alight.engine.columns import Source
from alight.engine.history import Thinning
from alight.engine.motion import EACH_STEP
from alight.scenario import load
from alight.scenario.document import Document
from alight.scenario.errors import ScenarioError
from alight.scenario.reader import from_dict

if TYPE_CHECKING:
    from alight.campaign.reader import Campaign

#: Versions and devices are named so in a plan's differences; they change bits, not the problem.
_ROUNDING = ("version of ", "kind of device")
#: Values that differ by no more than this part of their size count as the same but for rounding.
ROUNDING = 1e-6


#: By campaign that is open, and by device.
_works: weakref.WeakKeyDictionary[Campaign, dict[str, tuple[Work, tuple[str, ...]]]]
_works = weakref.WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Replay:
    """One run of a campaign, computed again."""

    campaign: Campaign
    run: int
    solution: Any
    """Its history, as ``alight.simulate`` returns it; None of a run that was released inside the
    ground, which has none."""
    row: Any
    """Its row of the table of runs as computed now, a ``pyarrow.Table``."""
    contacts: Any
    """Its contacts as computed now."""
    differences: tuple[Difference, ...]
    """Where row and contacts differ from those that are stored; none if all bits are the same."""
    notes: tuple[str, ...]
    """What may change bits: another device, other versions."""
    device: devices.Device
    thinning: Thinning | None
    """Which lines of the history are kept; all of them in most runs."""
    model: Any

    @property
    def identical(self) -> bool:
        """Whether all values of row and contacts have the bits of those that are stored."""
        return not self.differences

    @property
    def outcome(self) -> AnyEnding:
        """How the run ended now."""
        return self.campaign.kind.ending(self._code(self.row))

    @property
    def stored_outcome(self) -> AnyEnding:
        """How it ended according to the table."""
        return self.campaign.kind.ending(self._code(stored_row(self.campaign, self.run)))

    @staticmethod
    def _code(row: Any) -> int:
        name = "outcome_code" if "outcome_code" in row.column_names else "outcome"
        return int(row[name][0].as_py())

    @cached_property
    def history(self) -> Any:
        """The ``pyarrow.Table`` of the history, with the columns of kept trajectories."""
        if self.solution is None:
            raise InputError(f"run {self.run} was released inside the ground: it has no history.")
        source = Source(self.solution, np.array([self.run]), self.model, self.device.name)
        return table_from(self.model.columns.course, source)

    def to_pandas(self) -> Any:
        """The history as a ``pandas.DataFrame``."""
        from alight.core.extras import require

        require("pandas", "pandas")
        return self.history.to_pandas()

    def save(self, out: str | os.PathLike[str]) -> pathlib.Path:
        """Write the history to a file: Parquet, or CSV where its name ends in .csv."""
        path = history_file(out)
        try:
            if path.suffix.lower() == ".csv":
                from pyarrow import csv

                csv.write_csv(self.history, path)
            else:
                pq.write_table(self.history, path, compression="zstd")
        except OSError as cause:
            raise FileError(f"{path} could not be written: {cause.strerror or cause}.") from None
        return path

    def verdict(self) -> str:
        """How it compares with what is stored, in a sentence or a few."""
        columns = self.row.num_columns
        if self.identical:
            return f"The {columns} columns of its row{self._met()} have the same bits as stored."
        same = self.outcome is self.stored_outcome or self.outcome == self.stored_outcome
        ended = (
            f"It ends as stored: {self.outcome.name.lower()}."
            if same
            else f"It ends differently: {self.outcome.name.lower()} now, "
            f"{self.stored_outcome.name.lower()} as stored."
        )
        ruled = [one for one in self.differences if one.table == "runs"]
        near = [one for one in ruled if one.relative <= ROUNDING]
        return (
            f"{ended} Of the {columns} columns of its row {columns - len(ruled)} have the same "
            f"bits, {len(near)} differ by {ROUNDING:g} of their value at most and "
            f"{len(ruled) - len(near)} by more. {' '.join(self.notes) or _UNEXPLAINED}"
        )

    def _met(self) -> str:
        """Contacts that were compared, as the end of a list."""
        count = self.contacts.num_rows
        if not count or _stored(self.campaign, self.run, contacts_name) is None:
            return ""
        return " and its contact" if count == 1 else f" and its {count} contacts"

    def __str__(self) -> str:
        said = str(self.outcome if self.solution is None else _plain(self.solution))
        return f"Run {self.run} of {self.campaign.folder}: {said}. {self.verdict()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [
            ("campaign", str(self.campaign.folder)),
            ("outcome", self.outcome.message),
            ("history", "none" if self.solution is None else f"{self.history.num_rows} lines"),
            ("contacts", str(self.contacts.num_rows)),
            ("compared with its row", self.verdict()),
        ]
        return facts_html(f"Run {self.run}", rows)


_UNEXPLAINED = (
    "Device and versions are those of the campaign: another processor may round differently (with "
    "or without AVX-512), and bounces amplify rounding differences."
)


def _plain(solution: Any) -> str:
    return str(solution).rstrip(".")


def replay(
    campaign: Campaign,
    run: int,
    scenario: Document | Study | str | os.PathLike[str] | None = None,
    *,
    device: str = "auto",
    threads: int | None = None,
    max_lines: int | None = None,
    show: str | Progress = "auto",
) -> Replay:
    """Compute run ``run`` of a campaign again; see ``Campaign.replay``."""
    number = checked_run_number(campaign, run)
    with reported(show), stage(f"Replaying run {number}"):
        return _replayed(campaign, number, scenario, device, threads, max_lines, show)


def _replayed(
    campaign: Campaign,
    number: int,
    scenario: Document | Study | str | os.PathLike[str] | None,
    device: str,
    threads: int | None,
    max_lines: int | None,
    show: str | Progress,
) -> Replay:
    stored = stored_row(campaign, number)
    place, more = _place(device, campaign.plan)
    told = show if isinstance(show, str) else "silent"
    work, notes = _work(campaign, scenario, place.name, told)
    given, work.threads = work.scenario, threads
    job = Job(work, np.array([number]), sample(given, [number], total=campaign.plan.total))
    model, solution, thinning = _followed(job, number, place, threads, max_lines, show)
    row, contacts, hops = _tables(job)
    found = [
        *unlike("runs", stored, row),
        *unlike("contacts", _stored(campaign, number, contacts_name), contacts),
        *unlike("hops", _stored(campaign, number, hops_name), hops),
    ]
    reasons = (*more, *notes)
    return Replay(
        *(campaign, number, solution, row, contacts, tuple(found), reasons, place, thinning, model)
    )


def _followed(
    job: Job,
    run: int,
    place: devices.Device,
    threads: int | None,
    max_lines: int | None,
    show: str | Progress,
) -> tuple[Any, Any, Thinning | None]:
    """Do the only run of a job with its history kept; its model and solution."""
    (part,) = job.parts
    # Steps must end where they ended in the campaign, so records are made wherever they do.
    model = part.model.followed(EACH_STEP)
    with job.blamed():
        kept = model.keeping(1, max_lines)
        batch = Batch(model, part.release, device=place.name, threads=threads, **kept)
        _carried(batch, run, show)
        result = batch.result()
        job.take(part, result)
        job.close()
        if int(job.codes[0]) == Outcome.STARTED_INSIDE:
            return model, None, None
        thinning = batch.histories[0].thinning(int(model.tells_release))
        return model, model.solution(batch, result), thinning


def _carried(batch: Batch, run: int, show: str | Progress) -> None:
    """Carry the run to its end, with its steps and the time reached reported."""
    with progress(show) as bar:
        bar.start(f"Replaying run {run}: steps")
        steps = 0
        while batch.advance():
            if history := batch.histories.get(0):
                taken = history.thinning(0).steps
                time = float(history.parts[-1][-1, 0])
                bar.advance(taken - steps, simulated=f"{time:.4g} s")
                steps = taken


def _tables(job: Job) -> tuple[Any, Any, Any]:
    """Row, contacts and hops of the only run, as a shard would have them in its files; None where
    it has none of hops."""
    files, _ = job.files(0, slice(0, 1), {})
    row, contacts, hops = (
        pq.read_table(pa.BufferReader(files[name(0)])) if name(0) in files else None
        for name in (runs_name, contacts_name, hops_name)
    )
    return row, contacts, hops


# -- what is stored ------------------------------------------------------------------------------


def checked_run_number(campaign: Campaign, run: int) -> int:
    """The number of a run that is there."""
    total = campaign.plan.total
    number = checked_whole("run", run, 0)
    if number >= total:
        raise InputError(f"run {number} is asked for; {campaign.folder} has runs 0 to {total - 1}.")
    if number // campaign.plan.shard not in campaign.seals:
        raise InputError(
            f"run {number} of {campaign.folder} is not computed yet: {len(campaign)} of {total} "
            "runs are there. Resume the campaign first."
        )
    return number


def stored_row(campaign: Campaign, run: int) -> Any:
    """The row of a run, as a ``pyarrow.Table`` of one."""
    shard = run // campaign.plan.shard
    table = pq.read_table(campaign.folder / runs_name(shard))
    return table.slice(run - shard * campaign.plan.shard, 1)


def _stored(campaign: Campaign, run: int, named: Callable[[int], str]) -> Any:
    """The contacts or hops of a run; None in folders that have no table of them."""
    shard = run // campaign.plan.shard
    name = named(shard)
    if name not in campaign.seals[shard].files:
        return None
    return pq.read_table(campaign.folder / name, filters=[("run", "=", run)])


# -- what is run ---------------------------------------------------------------------------------


def _work(
    campaign: Campaign, scenario: Any, device: str, show: str
) -> tuple[Work, tuple[str, ...]]:
    """What computing runs of a campaign needs, and what may change their bits.

    Made once for each open campaign: meshes and fields take longer than most runs.
    """
    made = _works.setdefault(campaign, {})
    if scenario is not None or device not in made:
        given = _given(campaign, scenario)
        notes = _other(campaign, given, mine=scenario is None)
        work = Work(given, campaign.plan, device, None, show)
        if scenario is not None:
            return work, tuple(notes)
        made[device] = (work, tuple(notes))
    return made[device]


def _given(campaign: Campaign, scenario: Any) -> Document | Study:
    """The scenario or study of a campaign: as given, or from its plan."""
    plan, folder = campaign.plan, campaign.folder
    if scenario is None:
        if "study" in plan.scenario:
            raise InputError(
                f"{folder} is the campaign of a study made in Python, which no file holds: replay "
                "it from Python, with that study: "
                "alight.open_campaign(folder).replay(run, study)."
            )
        return with_runs(_from_plan(campaign), plan.total)
    with naming_packages(folder):
        given = load(scenario) if isinstance(scenario, str | os.PathLike) else scenario
    if not isinstance(given, Document | Study):
        raise InputError(
            f"scenario is {given!r}; it must be the path of a scenario file, a scenario, or the "
            "alight.Study that the campaign was made from."
        )
    check_maker(plan, given, folder)
    return with_runs(given, plan.total)


def _from_plan(campaign: Campaign) -> Document:
    """The scenario that stands in a plan."""
    source = str(campaign.folder / "plan.json")
    with naming_packages(campaign.folder):
        try:
            made: Document = from_dict(dict(campaign.plan.scenario), source, campaign.folder)
        except ScenarioError as cause:
            made_by = ", ".join(f"{name} {v}" for name, v in campaign.plan.versions.items())
            raise InputError(
                f"the scenario of {campaign.folder}, computed with {made_by}, cannot be built "
                f"here: {cause}\nIf a file has been moved, give the scenario with its new path "
                "(--scenario FILE; in Python replay(run, scenario))."
            ) from cause
    return made


def _other(campaign: Campaign, given: Document | Study, mine: bool) -> list[str]:
    """What has changed since the campaign was computed and may change bits.

    A scenario that a user gives must be that of the campaign. One from its plan is; a later version
    of Alight may know more keys, whose defaults are then named.
    """
    plan = campaign.plan
    now = make_plan(given, plan.device, versions_of(given), plan.total)
    lines = differences(plan, now)
    problem = [line for line in lines if not line.startswith(_ROUNDING)]
    if problem and not mine:
        raise PlanError(
            f"what is given is not what {campaign.folder} was made from: {'; '.join(problem[:6])}"
            f"{'; ...' if len(problem) > 6 else ''}. Give the scenario or study of the campaign."
        )
    changed = [line for line in lines if line not in problem]
    notes = [f"Computed with other versions ({'; '.join(changed)})."] if changed else []
    if problem:
        notes.append(f"This version reads its scenario otherwise ({'; '.join(problem[:6])}).")
    return notes


def _place(device: str, plan: Plan) -> tuple[devices.Device, list[str]]:
    """Where to compute: the kind of device that the campaign was computed on, if there is one."""
    wanted = device
    if device == "auto":
        wanted = "cpu"
        if plan.device == "gpu":
            try:
                return devices.resolve("cuda"), []
            except DeviceError:
                pass  # told by the note below
    place = devices.resolve(wanted)
    kind = "gpu" if place.is_gpu else "cpu"
    if kind == plan.device:
        return place, []
    names = {"gpu": "a GPU", "cpu": "a CPU"}
    return place, [
        f"The campaign was computed on {names[plan.device]} and this run on {names[kind]}, which "
        "rounds differently, and bounces amplify that: the draws are the same, the rest of the row "
        "is equally valid."
    ]


def history_file(out: str | os.PathLike[str]) -> pathlib.Path:
    """The file that a history is written to; refused before anything long begins."""
    path = user_path(out, "out")
    if path.suffix.lower() not in (".parquet", ".csv"):
        raise InputError(f'"{path}" must end in .parquet or .csv.')
    if path.is_dir() or not path.parent.is_dir():
        raise FileError(f'cannot write "{path}": it is a folder, or there is no {path.parent}.')
    return path
