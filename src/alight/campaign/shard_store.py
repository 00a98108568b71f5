"""Shards on disk: whole or not at all, and checked.

A folder of a campaign::

    plan.json                     what is run (``plan``)
    scenario.toml                 the resolved scenario
    runs/runs-000012.parquet      one row a run
    contacts/contacts-000012.parquet
    hops/hops-000012.parquet      one row a manoeuvre, where the lander has some
    trajectories/run-000003001.parquet    runs whose whole trajectory is kept
    shards/shard-000012.json      the seal: written last, with size and SHA-256 of each file

A file is written under a name that readers pass over, forced to the disk, then renamed. A shard
counts once its seal is there and agrees with its files; anything less is computed again. Since a
run depends on nothing but its number, what is computed again has the same bytes.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import pathlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from alight.campaign.plan import MOST_BYTES, Plan, canonical, digest
from alight.core.ahead import ahead
from alight.core.errors import FileError
from alight.core.files import read_bounded

TABLES = ("runs", "contacts", "hops", "trajectories")
SEALS = "shards"

_PART = ".part"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class StoreError(FileError):
    """A folder that cannot be written; what was finished is safe."""


def runs_name(shard: int) -> str:
    """File of a shard's runs, within the folder."""
    return f"runs/runs-{shard:06d}.parquet"


def contacts_name(shard: int) -> str:
    """File of a shard's contacts."""
    return f"contacts/contacts-{shard:06d}.parquet"


def hops_name(shard: int) -> str:
    """File of a shard's hops."""
    return f"hops/hops-{shard:06d}.parquet"


def trajectory_name(run: int) -> str:
    """File of one run's trajectory."""
    return f"trajectories/run-{run:09d}.parquet"


def seal_name(shard: int) -> str:
    """File that makes a shard count."""
    return f"{SEALS}/shard-{shard:06d}.json"


# ---------------------------------------------------------------------------------------------
# Writing
# ---------------------------------------------------------------------------------------------


def write_whole(path: pathlib.Path, data: bytes) -> None:
    """Write a file so that at any time it is either absent (or the old one) or complete.

    Its folder is made where it is absent, and none above it: a campaign that was moved away is not
    begun again where it was.
    """
    temporary = path.parent / f".{path.name}{_PART}"
    try:
        path.parent.mkdir(exist_ok=True)
        try:
            with open(temporary, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            _sync_folder(path.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
    except OSError as cause:
        raise cannot_write(path, cause) from cause


def _sync_folder(folder: pathlib.Path) -> None:
    """Force a renaming to the disk (Windows does not open folders, and needs none of it)."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def cannot_write(path: pathlib.Path, cause: OSError) -> StoreError:
    """An error for a file that the disk did not take."""
    if cause.errno in _FULL:
        return StoreError(
            f"the disk is full: {path} could not be written ({cause.strerror}). Finished shards "
            "are safe. Free some space and run the same command again to resume."
        )
    return StoreError(
        f"{path} could not be written: {cause.strerror or cause}. Finished shards are safe. When "
        "the folder can be written, run the same command again to resume."
    )


@dataclass(frozen=True)
class Seal:
    """What a shard must look like to count."""

    shard: int
    plan: str
    """Hash of the plan it belongs to."""
    runs: int
    contacts: int
    outcomes: dict[int, int]
    """How many runs ended with each code."""
    files: dict[str, tuple[int, str]]
    """Size [bytes] and SHA-256 of each file, by name within the folder."""

    def to_json(self) -> bytes:
        """The text of the seal, with a hash of its own."""
        body = self._body()
        return canonical({**body, "seal": digest(body)}) + b"\n"

    def _body(self) -> dict[str, Any]:
        return {
            "shard": self.shard,
            "plan": self.plan,
            "runs": self.runs,
            "contacts": self.contacts,
            "outcomes": {str(code): n for code, n in sorted(self.outcomes.items())},
            "files": {name: list(known) for name, known in sorted(self.files.items())},
        }


@dataclass(frozen=True)
class Shard:
    """A computed shard, ready to be written."""

    number: int
    files: dict[str, bytes]
    """Contents by name within the folder."""
    contacts: int
    outcomes: dict[int, int]
    """How many runs ended with each code."""


def _nothing() -> None:
    pass


def write_shard(
    folder: pathlib.Path, plan: Plan, shard: Shard, check: Callable[[], None] = _nothing
) -> Seal:
    """Write the files of a shard, then its seal; ``check`` is called before each of the two."""
    known = {name: (len(data), _digest(data)) for name, data in shard.files.items()}
    runs = len(plan.runs(shard.number))
    seal = Seal(shard.number, plan.hash, runs, shard.contacts, shard.outcomes, known)
    check()
    for name, data in shard.files.items():
        write_whole(folder / name, data)
    check()
    write_whole(folder / seal_name(shard.number), seal.to_json())
    return seal


# ---------------------------------------------------------------------------------------------
# Checking
# ---------------------------------------------------------------------------------------------


def find_shards(folder: pathlib.Path, plan: Plan) -> Iterator[tuple[int, Seal | str | None]]:
    """Each shard of the plan with its seal, with what is wrong with it, or with None if absent."""
    return enumerate(ahead(partial(check_shard, folder, plan), range(plan.shards)))


def check_shard(folder: pathlib.Path, plan: Plan, shard: int) -> Seal | str | None:
    """The seal of a whole shard, a sentence on what is wrong with it, or None where it is absent.

    Files without a seal are what a killed process left: the shard is absent.
    """
    path = folder / seal_name(shard)
    try:
        seal = read_seal(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return f"its seal {path.name} is damaged"
    if seal.plan != plan.hash or seal.shard != shard:
        return f"its seal {path.name} belongs to another campaign"
    if seal.runs != len(plan.runs(shard)):
        return None  # the last, smaller shard of a campaign that has grown
    for name, (size, known) in seal.files.items():
        wrong = _fault(folder / name, size, known)
        if wrong:
            return f"{name} {wrong}"
    return seal


def read_seal(path: pathlib.Path) -> Seal:
    """The seal in a file; ValueError where it is not what was written."""
    if not path.exists():
        raise FileNotFoundError(path)
    body = json.loads(read_bounded(path, MOST_BYTES, "the seal"))
    own = body.pop("seal")
    if own != digest(body):
        raise ValueError("the seal has been changed")
    return Seal(
        shard=body["shard"],
        plan=body["plan"],
        runs=body["runs"],
        contacts=body["contacts"],
        outcomes={int(code): n for code, n in body["outcomes"].items()},
        files={name: (size, known) for name, (size, known) in body["files"].items()},
    )


def _fault(path: pathlib.Path, size: int, known: str) -> str:
    """What is wrong with a file, or nothing."""
    try:
        found = path.stat().st_size
        if found != size:
            return f"has {found} bytes where {size} were written"
        with open(path, "rb") as file:
            same = hashlib.file_digest(file, "sha256").hexdigest() == known
    except FileNotFoundError:
        return "is missing"
    except OSError as cause:
        return f"cannot be read ({cause.strerror})"
    return "" if same else "has been changed since it was written"


def clear_leftovers(folder: pathlib.Path) -> None:
    """Remove half-written files of a killed process; only for who holds the lock."""
    for place in (folder, *(folder / name for name in (*TABLES, SEALS))):
        for path in place.glob(f".*{_PART}"):
            path.unlink(missing_ok=True)


def count_seals(folder: pathlib.Path) -> int:
    """How many shards were ever finished here, unchecked."""
    return sum(1 for _ in (folder / SEALS).glob("shard-*.json"))


def check_there(folder: pathlib.Path, plan: Plan) -> None:
    """An error if what was written has gone since; contents are not read again."""
    names = (seal_name, runs_name)
    gone = [n for n in range(plan.shards) if not all((folder / f(n)).exists() for f in names)]
    if gone:
        raise StoreError(
            f"{len(gone)} finished shards of {folder} are no longer there (the first is shard "
            f"{gone[0]}): something else has deleted them while the campaign was running. Run the "
            "same command again: it recomputes them and keeps the others."
        )


def clear_tables(folder: pathlib.Path) -> None:
    """Remove tables that no seal vouches for, where there is no seal at all."""
    for table in TABLES:
        for path in (folder / table).glob("*.parquet"):
            path.unlink()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
