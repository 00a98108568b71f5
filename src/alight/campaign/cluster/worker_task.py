"""What a worker of a Dask cluster does with shards (``executor`` is the other end).

A ``Parcel`` stays in the worker's memory as long as the campaign runs, and with it the meshes and
fields that were made for its first shard; when the campaign ends, Dask drops it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import pathlib
import pickle
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from alight.campaign.jobs.flow import Flow
from alight.campaign.jobs.shard import ShardBar, Work
from alight.campaign.shard_store import Shard
from alight.campaign.study.study import Study
from alight.core import devices
from alight.core.errors import AlightError, FileError
from alight.core.extras import require
from alight.core.files import MOST_BYTES, read_bounded
from alight.core.progress import Silent
from alight.core.registry import registry
from alight.scenario.registered import known_here_alone, packages_of

#: Packages that decide the bytes of a table: of its numbers, and of its file.
DECIDING = ("alight", "warp-lang", "numpy", "scipy", "pyarrow")

# Least time between two reports on a shard [s].
_REPORT = 1.0

# Shards take all threads of a worker, or its GPU, so others in the same process wait.
_turn = threading.Lock()


#: Ends every message about a cluster: nobody should fear for what is done.
SAFE = "Finished shards are safe: run the same command to resume."


class ClusterError(AlightError, RuntimeError):
    """A cluster that cannot be reached, has no workers, or whose workers do not fit."""


class AbandonedError(RuntimeError):
    """Shards that nobody waits for any more; ends their computation on the worker."""


def versions_here(more: Iterable[str] = ()) -> dict[str, str]:
    """Of the packages that decide the bytes of a table, in this process; ``more`` are extensions.

    One that is absent has the version "none".
    """
    own = {name: importlib.metadata.version(name) for name in DECIDING}
    there = registry.packages()
    return {**own, **{name: there.get(name, "none") for name in more}}


def extensions_of(work: Work) -> list[str]:
    """Packages whose names the scenario of a campaign has; all of them must be on every worker."""
    alone = known_here_alone(work.scenario)
    if alone:
        raise ClusterError(
            f"{alone[0]} is known to this process only, not to the workers. Put it into a "
            f"package that is installed on every worker (docs/how_to/extending.md). {SAFE}"
        )
    return list(packages_of(work.scenario))


def devices_here() -> list[str]:
    """Names of this machine's devices."""
    return [device.name for device in devices.available()]


def packed(work: Work, topic: str) -> bytes:
    """A parcel for workers that share no disk with this process: meshes and maps go with it."""
    if isinstance(work.scenario, Study):
        return _packed_study(work, work.scenario, topic)
    files = {}
    for name in type(work.scenario).model_fields:
        section = getattr(work.scenario, name)
        if getattr(section, "sha256", None) is not None:
            files[name] = _file_of(section)
    versions = versions_here(extensions_of(work))
    return pickle.dumps(Parcel(replace(work, show="silent"), files, versions, topic))


def _packed_study(work: Work, study: Study, topic: str) -> bytes:
    """A parcel with a study: functions of a script go by value, classes of modules by name."""
    dumps, versions = require("cloudpickle", "cluster").dumps, versions_here(extensions_of(work))
    try:
        parcel: bytes = dumps(Parcel(replace(work, show="silent"), {}, versions, topic))
        return parcel
    except Exception as cause:
        raise _unsendable(study, dumps, cause) from cause


def _unsendable(study: Study, dumps: Any, cause: Exception) -> ClusterError:
    """Which part of a study cannot be sent, and why."""
    said, who = cause, "the study"
    for name, part in study.parts().items():
        try:
            dumps(part)
        except Exception as own:
            said, who = own, f"{name} of the study, a {type(part).__qualname__},"
            break
    return ClusterError(
        f"{who} cannot be sent to the workers of a cluster: {type(said).__name__}: {said}. Laws "
        "with Warp functions, and what else no process can send, belong into a module that the "
        "workers can import: put it into a separate file next to the script, on the path "
        "(PYTHONPATH) of every worker, and import it from there."
    )


def _file_of(section: Any) -> tuple[str, str, bytes]:
    """Key, name and contents of the file whose digest a section has."""
    texts = {key: getattr(section, key) for key in type(section).model_fields}
    # A scenario that was read has full paths, and only files have one.
    (found,) = [(k, v) for k, v in texts.items() if isinstance(v, str) and _is_full_path(v)]
    key, path = found[0], pathlib.Path(found[1])
    try:
        data = read_bounded(path, MOST_BYTES, "the file")
    except FileError as cause:
        raise FileError(f"{cause} The workers need it.") from None
    if hashlib.sha256(data).hexdigest() != section.sha256:
        raise FileError(
            f"{path} has changed since the scenario was read. Start the campaign again."
        )
    return key, path.name, data


def _is_full_path(text: str) -> bool:
    return pathlib.Path(text).is_absolute()


class Parcel:
    """All that a worker needs to compute shards of a campaign."""

    def __init__(
        self,
        work: Work,
        files: dict[str, tuple[str, str, bytes]],
        versions: dict[str, str],
        topic: str,
    ) -> None:
        self._work, self._files, self._versions, self._topic = work, files, versions, topic
        self._opened: Work | None = None
        self._folder: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": None, "_folder": None}

    def compute(self, shards: Sequence[int]) -> list[Shard]:
        """One shard on all threads of this worker, or several as one flow, on its GPU."""
        worker = require("distributed", "cluster").get_worker()
        report = _Report(worker, self._topic, shards)
        with _turn:
            report.check()
            self._check(worker)
            work, bar = self._open(worker.state.nthreads), ShardBar(report, {})
            if len(shards) == 1:
                return [work.compute(shards[0], bar)]
            return list(Flow(work, shards, bar).shards())

    def _check(self, worker: Any) -> None:
        """Dask may give a shard to a worker that has just come and was not looked at yet."""
        here = versions_here(name for name in self._versions if name not in DECIDING)
        if here != self._versions:
            other = [f"{name} {v}" for name, v in here.items() if v != self._versions[name]]
            raise ClusterError(
                f"worker {worker.address} has {', '.join(other)}, which is not what the campaign "
                f"was started with. Give every worker the same versions. {SAFE}"
            )

    def _open(self, threads: int) -> Work:
        if self._opened is None:
            # One thread of Dask is one core: eight workers of one thread each share a machine.
            count = self._work.threads or threads
            self._opened = replace(self._work, scenario=self._with_files(), threads=count)
        return self._opened

    def _with_files(self) -> Any:
        """The scenario with its files in a folder of this machine, gone with the parcel."""
        if not self._files:
            return self._work.scenario
        self._folder = tempfile.TemporaryDirectory(prefix="alight-")
        update = {}
        for name, (key, file, data) in self._files.items():
            path = pathlib.Path(self._folder.name) / name / file
            path.parent.mkdir()
            path.write_bytes(data)
            section = getattr(self._work.scenario, name)
            update[name] = section.model_copy(update={key: path.as_posix()})
        return self._work.scenario.model_copy(update=update)


def named(shards: Sequence[int]) -> str:
    """Shards that follow each other, in words."""
    first, last = shards[0], shards[-1]
    return f"shard {first}" if len(shards) == 1 else f"shards {first} to {last}"


class _Report(Silent):
    """Reports runs of some shards now and then, and ends what nobody waits for."""

    def __init__(self, worker: Any, topic: str, shards: Sequence[int]) -> None:
        self._worker, self._topic, self._shards = worker, topic, shards
        self._key = worker.get_current_task()
        self._done, self._last = 0, time.monotonic()

    def check(self) -> None:
        """Stop here when the task has been taken back: the campaign was interrupted, or has ended.

        Dask cannot stop a thread, and shards may have hours to go.
        """
        task = self._worker.state.tasks.get(self._key)
        if task is None or task.state == "cancelled":
            raise AbandonedError(f"nobody waits for {named(self._shards)} any more")

    def advance(self, n: int = 1, **facts: object) -> None:
        """Runs have ended, or at least steps were taken."""
        self.check()
        self._done += n
        now = time.monotonic()
        if now - self._last >= _REPORT:
            self._last = now
            said = {"first": self._shards[0], "done": self._done, "facts": facts}
            self._worker.log_event(self._topic, said)
