"""Campaigns that are killed, interrupted, damaged or out of disk end with the bytes of those not.

The reference is always the same campaign run without disturbance, compared file by file.
"""

import errno
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from alight.campaign import CampaignInterruptedError, open_campaign, run_campaign, shard_writer
from alight.campaign import shard_store as store_module
from alight.campaign.executors import Local
from alight.campaign.folder_lock import LOCK_FILE, BusyError
from alight.campaign.shard_store import StoreError
from alight.core.errors import FileError

MORE = {
    "dispersions": {"release.velocity": {"kind": "normal", "sigma": "2 cm/s"}},
    "record": {"trajectories": [3]},
}

CHILD = """
import sys
from alight.campaign import run_campaign
from alight.core.errors import AlightError
try:
    run_campaign(sys.argv[1], out=sys.argv[2], device="cpu", show="silent")
except (AlightError, KeyboardInterrupt) as error:
    print(type(error).__name__, error, file=sys.stderr)
    sys.exit(3)
"""


@pytest.fixture
def scenario(tmp_path, cube_drop):
    """``scenario(runs, shard)``: the path of a file."""

    def make(runs=20, shard=5, stop="150 s"):
        path = tmp_path / f"{runs}_{shard}.toml"
        campaign = {"runs": runs, "shard": shard}
        path.write_text(cube_drop(campaign=campaign, stop={"max_time": stop}, **MORE))
        return path

    return make


@pytest.fixture(scope="module")
def small(tmp_path_factory, cube_drop):
    """Bytes of a campaign of six runs in two shards, undisturbed: nine files."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.toml").write_text(cube_drop(campaign={"runs": 6, "shard": 3}, **MORE))
    run(folder / "small.toml", folder / "whole")
    found = contents(folder / "whole")
    assert len(found) == 9
    return found


def run(path, out):
    return run_campaign(path, out=out, device="cpu", show="silent")


def contents(folder):
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != ".lock"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def start(path, out, before=None):
    command = [sys.executable, "-c", CHILD, str(path), str(out)]
    # Ctrl-C is heeded also where a shell's background, in which the tests may run, ignores it.
    heeding = before or (lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heeding)


def seals(out):
    return len(list(out.glob("shards/*.json")))


def wait_for(child, out, count):
    """Until so many shards are finished, or the child has ended."""
    while seals(out) < count and child.poll() is None:
        time.sleep(0.0005)


# ---------------------------------------------------------------------------------------------
# Killed
# ---------------------------------------------------------------------------------------------


def kill_often(path, out, kills, rng):
    """Kill -9 at random moments, one process after the other; then let one finish."""
    done = 0
    while done < kills:
        child = start(path, out)
        wait_for(child, out, seals(out) + rng.choice([0, 1, 1, 2]))
        time.sleep(rng.uniform(0.0, 0.03))
        if child.poll() is not None:
            break
        child.kill()
        child.communicate()
        done += 1
        if (out / "plan.json").exists():
            open_campaign(out)  # whatever was killed, a reader finds whole shards only
    return done


@pytest.mark.parametrize(
    ("shards", "kills"), [(16, 3), pytest.param(200, 100, marks=pytest.mark.validate)]
)
def test_killed_at_random(scenario, tmp_path, shards, kills):
    path, rng = scenario(runs=4 * shards, shard=4), random.Random(kills)
    assert kill_often(path, tmp_path / "killed", kills, rng) == kills
    assert seals(tmp_path / "killed") < shards, "nothing was left to go on with"
    result = run(path, tmp_path / "killed")
    assert result.kept + result.computed == shards
    assert not result.notes, "a killed process leaves unfinished shards, not damaged ones"
    run(path, tmp_path / "whole")
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    runs = open_campaign(tmp_path / "killed").read("runs", ["run"])["run"].to_pylist()
    assert runs == list(range(4 * shards)), "a shard was lost or doubled"


class Killed(BaseException):
    """The process ends here: nothing is tidied up after this."""


@pytest.mark.parametrize("moment", range(1, 28))
def test_killed_between_any_two_operations(scenario, small, tmp_path, monkeypatch, moment):
    """A stop before each single write, renaming and forcing to disk, with no cleaning up."""
    path, count = scenario(runs=6, shard=3), 0

    def counted(real):
        def call(*args, **options):
            nonlocal count
            count += 1
            if count == moment:
                monkeypatch.setattr(pathlib.Path, "unlink", lambda *_, **__: None)
                raise Killed
            return real(*args, **options)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", counted(os.fsync))
        patch.setattr(pathlib.Path, "replace", counted(pathlib.Path.replace))
        with pytest.raises(Killed):
            run(path, tmp_path / "killed")
    monkeypatch.undo()
    assert not run(path, tmp_path / "killed").notes
    assert contents(tmp_path / "killed") == small


@pytest.mark.parametrize("number", range(1, 10))
def test_killed_in_the_middle_of_a_file(scenario, small, tmp_path, monkeypatch, number):
    """Half of each single file is written, and then nothing more happens."""
    path, count = scenario(runs=6, shard=3), 0

    def opened(name, mode="r", **options):
        nonlocal count
        file = open(name, mode, **options)  # noqa: SIM115
        if mode == "wb":
            count += 1
        if count == number:
            monkeypatch.setattr(pathlib.Path, "unlink", lambda *_, **__: None)
            return Half(file)
        return file

    monkeypatch.setattr(store_module, "open", opened, raising=False)
    with pytest.raises(Killed):
        run(path, tmp_path / "killed")
    monkeypatch.undo()
    assert list((tmp_path / "killed").rglob("*.part"))
    assert not run(path, tmp_path / "killed").notes
    assert contents(tmp_path / "killed") == small


class Half:
    """A file that takes half of what it is given; then the process ends."""

    def __init__(self, file):
        self.file = file

    def write(self, data):
        self.file.write(data[: len(data) // 2])
        self.file.flush()
        raise Killed

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()


def test_killed_while_growing(scenario, small, tmp_path, monkeypatch):
    """Between the new plan and all else: the folder is that of the larger campaign."""
    path, out = scenario(runs=6, shard=3), tmp_path / "out"
    run_campaign(path, 4, out=out, device="cpu", show="silent")

    def refuse(self, target):
        if target.name == "scenario.toml":
            raise Killed
        return os.replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(pathlib.Path, "replace", refuse)
        with pytest.raises(Killed):
            run(path, out)
    assert run(path, out).runs == 6
    assert contents(out) == small


def test_half_written_files_of_others_are_cleared(scenario, tmp_path):
    path = scenario(runs=6, shard=3)
    run(path, tmp_path / "out")
    left = tmp_path / "out" / "runs" / ".runs-000009.parquet.part"
    left.write_bytes(b"half")
    run(path, tmp_path / "out")
    assert not left.exists()


def test_interrupted_by_ctrl_c(scenario, tmp_path):
    path, out = scenario(runs=200, shard=4), tmp_path / "out"
    child = start(path, out)
    wait_for(child, out, 2)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate()
    assert child.returncode == 3
    assert said.startswith(CampaignInterruptedError.__name__)
    assert "Run the same command again" in said
    assert not list(out.rglob("*.part"))
    finished = len(open_campaign(out).seals)
    assert 2 <= finished < 50
    assert run(path, out).kept == finished
    run(path, tmp_path / "whole")
    assert contents(out) == contents(tmp_path / "whole")


def test_two_processes_do_not_write_one_folder(scenario, tmp_path):
    path, out = scenario(runs=400, shard=4), tmp_path / "out"
    child = start(path, out)
    try:
        wait_for(child, out, 1)
        with pytest.raises(BusyError, match=f"process {child.pid} on"):
            run(path, out)
    finally:
        child.kill()
        child.communicate()
    # The lock falls with its process.
    assert run(path, out).kept >= 1


# ---------------------------------------------------------------------------------------------
# Damaged
# ---------------------------------------------------------------------------------------------


def truncate(path):
    path.write_bytes(path.read_bytes()[:-100])


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def remove(path):
    path.unlink()


def empty(path):
    path.write_bytes(b"")


RUNS, CONTACTS = "runs/runs-000002.parquet", "contacts/contacts-000002.parquet"
SEAL, COURSE = "shards/shard-000002.json", "trajectories/run-000000003.parquet"
DAMAGE = [
    (RUNS, truncate, "shard 2 .*runs-000002.parquet has .* bytes where"),
    (RUNS, flip, "shard 2 .*runs-000002.parquet has been changed"),
    (RUNS, remove, "shard 2 .*runs-000002.parquet is missing"),
    (CONTACTS, truncate, "shard 2 .*contacts-000002.parquet has .* bytes where"),
    (CONTACTS, flip, "shard 2 .*contacts-000002.parquet has been changed"),
    (COURSE, flip, "shard 0 .*run-000000003.parquet has been changed"),
    (SEAL, flip, "shard 2 .*seal shard-000002.json is damaged"),
    (SEAL, empty, "shard 2 .*seal shard-000002.json is damaged"),
]


@pytest.mark.parametrize(("name", "damage", "said"), DAMAGE)
def test_damage_is_noticed_named_and_mended(scenario, tmp_path, capsys, name, damage, said):
    path = scenario()
    run(path, tmp_path / "out")
    whole = contents(tmp_path / "out")
    damage(tmp_path / "out" / name)
    with pytest.raises(FileError, match=said):
        open_campaign(tmp_path / "out")
    result = run_campaign(path, out=tmp_path / "out", device="cpu", show="text")
    assert (result.kept, result.computed) == (3, 1)
    assert "is damaged and is recomputed" in capsys.readouterr().err
    assert len(result.notes) == 1
    assert contents(tmp_path / "out") == whole


def test_a_missing_seal_is_an_unfinished_shard(scenario, tmp_path):
    path = scenario()
    run(path, tmp_path / "out")
    whole = contents(tmp_path / "out")
    (tmp_path / "out" / SEAL).unlink()
    assert len(open_campaign(tmp_path / "out")) == 15
    assert not run(path, tmp_path / "out").notes
    assert contents(tmp_path / "out") == whole


def test_a_seal_of_another_shard_or_campaign_does_not_count(scenario, tmp_path):
    path = scenario()
    run(path, tmp_path / "out")
    whole = contents(tmp_path / "out")
    seal = tmp_path / "out" / SEAL
    seal.write_bytes((tmp_path / "out" / "shards/shard-000001.json").read_bytes())
    with pytest.raises(FileError, match="belongs to another"):
        open_campaign(tmp_path / "out")
    assert len(run(path, tmp_path / "out").notes) == 1
    assert contents(tmp_path / "out") == whole


# ---------------------------------------------------------------------------------------------
# Moved away
# ---------------------------------------------------------------------------------------------


class Disturbed(Local):
    """Calls ``action`` when so many shards are computed, before the last of them is written and
    after all others are."""

    def __init__(self, out, after, action):
        super().__init__()
        self.out, self.after, self.action = out, after, action

    def compute(self, work, shards, tally):
        for number, shard in enumerate(super().compute(work, shards, tally), start=1):
            if number == self.after:
                while seals(self.out) < number - 1:
                    time.sleep(0.0005)
                self.action()
            yield shard


def moved(out):
    out.rename(out.with_name("moved"))


def deleted(out):
    shutil.rmtree(out)


def replaced(out):
    """Another folder under the same name, as of a campaign that someone else has begun."""
    moved(out)
    out.mkdir()
    (out / LOCK_FILE).touch()


@pytest.mark.parametrize("after", [1, 2, 4])
@pytest.mark.parametrize("action", [moved, deleted, replaced])
def test_a_folder_that_goes_away_ends_the_campaign(scenario, tmp_path, action, after):
    """Not two halves and a report of success, wherever in the campaign; what is whole goes on."""
    path, out, left = scenario(), tmp_path / "out", tmp_path / "moved"
    gone = Disturbed(out, after, lambda: action(out))
    said = "moved, deleted or replaced" + ("" if action is deleted else f".* now {left}")
    with pytest.raises(StoreError, match=rf"{out} was {said}.* run the same command"):
        run_campaign(path, out=out, device="cpu", show="silent", executor=gone)
    assert not out.exists() or not contents(out), "half a campaign was begun anew"
    if action is not deleted:
        assert run(path, left).kept == after - 1
        run(path, tmp_path / "whole")
        assert contents(left) == contents(tmp_path / "whole")


def test_a_folder_that_goes_away_after_the_last_shard(scenario, tmp_path, monkeypatch):
    path, out, real = scenario(runs=6, shard=3), tmp_path / "out", shard_writer.write_shard

    def written(*args):
        real(*args)
        if seals(out) == 2:
            moved(out)

    monkeypatch.setattr(shard_writer, "write_shard", written)
    with pytest.raises(StoreError, match="was moved, deleted or replaced"):
        run(path, out)


def test_shards_that_someone_deletes_on_the_way(scenario, tmp_path):
    path, out = scenario(), tmp_path / "out"
    loss = Disturbed(out, 3, lambda: shutil.rmtree(out / "runs"))
    with pytest.raises(StoreError, match=r"2 finished shards .* are no longer there"):
        run_campaign(path, out=out, device="cpu", show="silent", executor=loss)
    assert run(path, out).computed == 2
    run(path, tmp_path / "whole")
    assert contents(out) == contents(tmp_path / "whole")


def test_ctrl_c_does_not_promise_shards_of_a_folder_that_is_gone(scenario, tmp_path):
    out = tmp_path / "out"

    def stopped():
        deleted(out)
        raise KeyboardInterrupt

    with pytest.raises(StoreError, match="was moved, deleted or replaced"):
        run_campaign(scenario(), 20, out=out, show="silent", executor=Disturbed(out, 2, stopped))


# ---------------------------------------------------------------------------------------------
# Out of disk
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", [1, 2, 3, 4, 5, 6, 8, 9])
def test_a_full_disk_is_told_and_nothing_is_lost(scenario, small, tmp_path, monkeypatch, moment):
    path, count, real = scenario(runs=6, shard=3), 0, store_module.os.fsync

    def full(handle):
        nonlocal count
        count += 1
        if count >= 2 * moment - 1:  # each file is forced to disk, then its folder
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(handle)

    with monkeypatch.context() as patch:
        patch.setattr(store_module.os, "fsync", full)
        with pytest.raises(StoreError, match=r"disk is full: .* Free some space .* to resume"):
            run(path, tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.part"))
    before = seals(tmp_path / "out")
    assert run(path, tmp_path / "out").kept == before
    assert contents(tmp_path / "out") == small


def test_a_real_limit_on_the_size_of_files(scenario, tmp_path):
    """A process that may write 8 kB a file: the first table does not fit."""
    resource = pytest.importorskip("resource")
    path, out = scenario(), tmp_path / "out"
    limit = 8192

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    child = start(path, out, limited)
    _, said = child.communicate()
    assert child.returncode == 3, said
    assert "StoreError the disk is full" in said
    assert not list(out.rglob("*.part"))
    assert run(path, out).computed == 4


def test_a_real_full_disk(scenario, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "none", str(disk)]
    try:
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("no right to mount a small disk")
    except FileNotFoundError:
        pytest.skip("no mount command")
    path, out = scenario(runs=400, shard=20), disk / "out"
    try:
        with pytest.raises(StoreError, match="disk is full"):
            run(path, out)
        finished = len(open_campaign(out).seals)
        assert finished > 0
        larger = ["mount", "-o", "remount,size=50m", str(disk)]
        subprocess.run(larger, check=True, capture_output=True)
        assert run(path, out).kept == finished
        run(path, tmp_path / "whole")
        assert contents(out) == contents(tmp_path / "whole")
    finally:
        subprocess.run(["umount", str(disk)], check=False, capture_output=True)


def test_a_folder_that_cannot_be_written(scenario, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(store_module.os, "fsync", refuse)
    with pytest.raises(StoreError, match="could not be written: Read-only file system"):
        run(scenario(), tmp_path / "out")


# ---------------------------------------------------------------------------------------------
# Memory
# ---------------------------------------------------------------------------------------------

PEAK = """
import resource, sys
from alight.campaign import run_campaign
run_campaign(sys.argv[1], out=sys.argv[2], device="cpu", show="silent")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak(path, out):
    command = [sys.executable, "-c", PEAK, str(path), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024.0  # [MiB]


@pytest.mark.validate
def test_memory_stays_flat(scenario, tmp_path):
    """Ten times the runs in shards of one size: the peak may rise by what one shard varies."""
    few = peak(scenario(5_000, 500, "40 s"), tmp_path / "few")
    many = peak(scenario(50_000, 500, "40 s"), tmp_path / "many")
    print(f"peak memory: {few:.0f} MiB with 5 000 runs, {many:.0f} MiB with 50 000")
    assert many < few + 20.0
