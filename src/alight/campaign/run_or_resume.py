"""``run_campaign``: a plan carried out in a folder, however often it has to be started.

What is finished is kept and checked, what is missing is computed. A shard is written and sealed as
soon as it is computed, by a thread of its own, so an interruption costs the shards that are under
way: one, or on a cluster and on a GPU some.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

from alight.campaign.device_choice import choose
from alight.campaign.executors import Executor, Local, Tally, executor_of, resolver_of
from alight.campaign.folder_lock import FolderLock, locked
from alight.campaign.jobs.shard import Work
from alight.campaign.plan import PLAN_FILE, Plan, PlanError, agreed, make_plan, read_plan
from alight.campaign.reader import Campaign, open_campaign
from alight.campaign.run_kinds import run_kind
from alight.campaign.shard_store import (
    SEALS,
    Seal,
    Shard,
    StoreError,
    check_there,
    clear_leftovers,
    clear_tables,
    count_seals,
    find_shards,
    write_whole,
)
from alight.campaign.shard_writer import ShardWriter
from alight.campaign.study.study import Study
from alight.campaign.study.subject import BODY_FILE
from alight.core import devices
from alight.core.checks import checked_whole
from alight.core.compile_notice import reported
from alight.core.errors import DeviceError, InputError
from alight.core.interrupts import interrupts
from alight.core.outcomes import AnyEnding
from alight.core.paths import user_path
from alight.core.progress import Progress, progress
from alight.core.registry import registry
from alight.core.text import printable
from alight.scenario import load
from alight.scenario.document import Document
from alight.scenario.errors import Fault, ScenarioError
from alight.scenario.registered import missing_package, packages_of
from alight.scenario.sweeps import too_many_runs, wrong_runs

SCENARIO_FILE = "scenario.toml"
# Packages whose versions every plan has.
_OWN = ("alight", "warp-lang")


class CampaignInterruptedError(KeyboardInterrupt):
    """Ctrl-C during a campaign; the message says what is finished and how to resume."""


@dataclass(frozen=True, eq=False, repr=False)
class CampaignResult:
    """A finished campaign."""

    folder: pathlib.Path
    plan: Plan
    outcomes: dict[AnyEnding, int]
    """How many runs ended in each way."""
    kept: int
    """Shards that were found finished."""
    computed: int
    """Shards computed this time."""
    notes: tuple[str, ...]
    """What was found wrong and fixed."""

    @property
    def runs(self) -> int:
        """Runs of the campaign."""
        return self.plan.total

    def open(self) -> Campaign:
        """The tables."""
        return open_campaign(self.folder)

    def __str__(self) -> str:
        ended = ", ".join(
            f"{n} {outcome.name.lower().replace('_', ' ')}" for outcome, n in self.outcomes.items()
        )
        return f"{self.runs} runs in {self.folder}: {ended}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.open()._repr_html_()


def run_campaign(
    scenario: Document | Study | str | os.PathLike[str],
    runs: int | None = None,
    *,
    out: str | os.PathLike[str],
    device: str = "auto",
    executor: str | Executor = "local",
    scheduler: Any = None,
    threads: int | None = None,
    show: str | Progress = "auto",
) -> CampaignResult:
    """Run the campaign of a scenario or study into the folder ``out``, or resume it.

    Parameters
    ----------
    scenario:
        A scenario or the path of its file; or a ``Study`` made in Python.
    runs:
        Number of runs instead of the scenario's own. A folder begun with fewer grows, where
        sampling is random. Left out, a folder continues with what it was begun with.
    device:
        ``"cpu"``, ``"cuda:0"``, ``"cuda"`` (every GPU like the first), or ``"auto"``: where the
        campaign will end first, which a line reports where there is a choice; a folder continues
        with the kind it was begun with.
    executor:
        ``"local"``, or an ``Executor``.
    scheduler:
        Address of a Dask scheduler, such as ``"tcp://host:8786"``, whose workers compute.
    show:
        How progress is reported: "silent", "auto", "text" or "rich".
    """
    with naming_packages(out):
        given = load(scenario) if isinstance(scenario, str | os.PathLike) else scenario
    if not isinstance(given, Document | Study):
        raise InputError(
            f"scenario is {given!r}; it must be the path of a scenario file, a scenario, or an "
            "alight.Study of a model and its release."
        )
    chosen = executor_of(executor, scheduler)
    folder = user_path(out, "out")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"out is {folder}, which is a file; it must be a folder, new or existing.")
    notes = _Notes(show)
    with reported(show), locked(folder) as hold:
        clear_leftovers(folder)
        old = _begun(folder)
        if old is not None:
            check_maker(old, given, folder)
        total = _total(given, runs, old)
        place = _device(device, old, resolver_of(chosen))
        if device == "auto" and old is None and isinstance(chosen, Local):
            choice = choose(given, total, threads, resolver_of(chosen))
            place = choice.device
            if choice.reason:
                notes.remark(f"Running on {place.label}: {choice.reason}.")
        given = with_runs(given, total)
        kind = "gpu" if place.is_gpu else "cpu"
        plan = make_plan(given, kind, versions_of(given), total)
        if old is not None:
            plan = agreed(old, plan, folder)
        _keep(folder / PLAN_FILE, plan.to_json())
        _keep_beside(folder, given, plan)
        told = show if isinstance(show, str) else "silent"
        beside = _beside(device, place, chosen)
        if beside:
            notes.remark(
                f"{len(beside) + 1} GPUs share the runs: {place.name}, {', '.join(beside)}."
            )
        work = Work(given, plan, place.name, threads, told, beside)
        return _carry_out(hold, work, chosen, show, notes)


def _carry_out(
    hold: FolderLock, work: Work, executor: Executor, show: str | Progress, notes: _Notes
) -> CampaignResult:
    """Check what is there, compute what is not."""
    folder, plan, computed = hold.folder, work.plan, 0
    kind = run_kind(plan.scenario).having(plan.endings)
    tally = Tally(kind)
    try:
        with progress(show) as bar:
            seals, wanted = _found(folder, plan, bar, notes)
        for seal in seals.values():
            tally.add(seal.outcomes)
        # Closed at once when a shard cannot be written, so that no bar outlives the message.
        made = contextlib.closing(_computed(executor, work, wanted, tally, show))
        writer = ShardWriter(folder, plan, hold.check)
        with interrupts() as check_interrupts, writer, made as shards:
            for shard in shards:
                writer.write(shard)
                tally.add(shard.outcomes)
                computed += 1
                check_interrupts()
        hold.check()
        check_there(folder, plan)
    except StoreError:
        hold.check()  # which may know better why a file could not be written
        raise
    except KeyboardInterrupt:
        hold.check()
        raise CampaignInterruptedError(
            f"interrupted: {count_seals(folder)} of {plan.shards} shards are finished and safe in "
            f"{folder}. Run the same command again to resume, with the same results."
        ) from None
    ended = {kind.ending(code): n for code, n in sorted(tally.outcomes.items())}
    return CampaignResult(folder, plan, ended, len(seals), computed, tuple(notes.lines))


def _computed(
    executor: Executor, work: Work, wanted: list[int], tally: Tally, show: str | Progress
) -> Generator[Shard, None, None]:
    """The shards that are wanted, as they are done; nothing is made where none is."""
    if not wanted:
        return
    executor.prepare(work)
    before = sum(tally.outcomes.values())
    with progress(show) as bar:
        tally.bar = bar
        noun = tally.kind.noun
        title = f"{noun} ({before} more kept)" if before else noun
        bar.start(title, total=work.plan.total - before)
        yield from executor.compute(work, wanted, tally)


def _found(
    folder: pathlib.Path, plan: Plan, bar: Progress, notes: _Notes
) -> tuple[dict[int, Seal], list[int]]:
    """Shards that are whole, and those to compute; damaged ones are named."""
    if not (folder / SEALS).is_dir():
        return {}, list(range(plan.shards))
    seals: dict[int, Seal] = {}
    wanted: list[int] = []
    bar.start("Checking shards", total=plan.shards)
    for shard, found in find_shards(folder, plan):
        if isinstance(found, Seal):
            seals[shard] = found
        else:
            wanted.append(shard)
        if isinstance(found, str):
            notes.say(f"shard {shard} is damaged and is recomputed: {found}.")
        bar.advance()
    return seals, wanted


# ---------------------------------------------------------------------------------------------
# What is run
# ---------------------------------------------------------------------------------------------


def check_maker(old: Plan, given: Document | Study, folder: pathlib.Path) -> None:
    """An error where a folder of a study is to be resumed with a scenario, or the reverse."""
    if "study" in old.scenario and not isinstance(given, Study):
        title = old.scenario.get("title")
        raise PlanError(
            f"{folder} is the campaign of a study made in Python{f' ({title})' if title else ''}, "
            "which no scenario file holds: resume it from Python, by the same "
            "alight.run_campaign(study, out=...)."
        )
    if "study" not in old.scenario and isinstance(given, Study):
        raise PlanError(
            f"{folder} is the campaign of a scenario, and a study is to be run; take another "
            f"folder, or resume {folder / SCENARIO_FILE}."
        )


def with_runs(scenario: Document | Study, total: int) -> Document | Study:
    """The scenario or study with another number of runs."""
    if scenario.campaign.runs == total:
        return scenario
    if isinstance(scenario, Study):
        return scenario.with_runs(total)
    campaign = scenario.campaign.model_copy(update={"runs": total})
    return scenario.model_copy(update={"campaign": campaign})


def _total(scenario: Document | Study, runs: int | None, old: Plan | None) -> int:
    own = int(scenario.campaign.runs)
    keys = scenario.sweep_keys()
    if runs is not None:
        total = checked_whole("runs", runs, 1)
        if keys and total != own:
            raise InputError(f"runs {wrong_runs(scenario, total, keys)}.")
        if isinstance(scenario, Document) and (wrong := too_many_runs(scenario, total)):
            raise InputError(f"runs {wrong}.")
        return total
    if keys:
        return own
    return own if old is None else max(own, old.total)


def _device(
    device: str, old: Plan | None, resolve: Callable[[str], devices.Device]
) -> devices.Device:
    """The device asked for; left open, one of the kind that the folder was begun with."""
    if device != "auto" or old is None:
        return resolve(device)
    try:
        return resolve("cpu" if old.device == "cpu" else "cuda")
    except DeviceError as cause:
        raise DeviceError(
            "this campaign was started on a GPU, and a CPU rounds differently: resume it on a "
            f"GPU, or in another folder. {cause}"
        ) from None


def _beside(device: str, place: devices.Device, executor: Executor) -> tuple[str, ...]:
    """Further GPUs of this machine that share a campaign for which none was named."""
    if not isinstance(executor, Local) or device.strip().lower() not in ("auto", "cuda", "gpu"):
        return ()
    return tuple(other.name for other in devices.alike(place))


def versions_of(scenario: Document | Study) -> dict[str, str]:
    """Of what decides the bits of a run."""
    own = {name: importlib.metadata.version(name) for name in _OWN}
    return {**own, **packages_of(scenario)}


@contextlib.contextmanager
def naming_packages(out: str | os.PathLike[str]) -> Iterator[None]:
    """Where a scenario cannot be read, name the packages that its folder was begun with and needs.

    What such a package brings is an unknown name without it.
    """
    try:
        yield
    except ScenarioError as cause:
        folder = user_path(out, "out")
        old = read_plan(folder) if folder.is_dir() else None
        there = {*_OWN, *registry.packages()}
        lacking = {k: v for k, v in old.versions.items() if k not in there} if old else {}
        if not lacking:
            raise
        faults = [Fault("", missing_package(name, v)) for name, v in lacking.items()]
        raise ScenarioError(cause.source, [*faults, *cause.problems]) from None


def _begun(folder: pathlib.Path) -> Plan | None:
    """The plan that the folder must be resumed with; None where nothing is finished yet."""
    old = read_plan(folder)
    names = sorted(p.name for p in folder.iterdir() if not p.name.startswith("."))
    if old is None and names:
        raise InputError(
            f"{folder} is not empty and not the folder of a campaign: it holds "
            f"{', '.join(names[:3])}{', ...' if len(names) > 3 else ''}. Take a new folder."
        )
    if count_seals(folder):
        return old
    # Stopped before its first shard, perhaps by a mistake in the scenario, which may be mended.
    clear_tables(folder)
    return None


def _keep_beside(folder: pathlib.Path, given: Document | Study, plan: Plan) -> None:
    """The resolved scenario; of a study, whose plan says what can be said, its body."""
    if isinstance(given, Document):
        _keep(folder / SCENARIO_FILE, given.to_toml(plan.device).encode())
    elif given.mesh is not None:
        with tempfile.TemporaryDirectory(prefix="alight-") as place:
            file = pathlib.Path(place) / BODY_FILE
            given.mesh.save(file, unit="m")
            _keep(folder / BODY_FILE, file.read_bytes())


def _keep(path: pathlib.Path, data: bytes) -> None:
    """Write a file unless it is there already."""
    if not (path.exists() and path.read_bytes() == data):
        write_whole(path, data)


class _Notes:
    """What a person reads on standard error, unless silence is asked for."""

    def __init__(self, show: str | Progress) -> None:
        self._silent = show == "silent"
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        """What was found wrong: the result has it too."""
        self.lines.append(line)
        self.remark(line)

    def remark(self, line: str) -> None:
        if not self._silent:
            print(printable(line), file=sys.stderr, flush=True)
