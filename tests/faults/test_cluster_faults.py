"""Clusters that lose workers or scheduler, or gain workers that do not fit, lose no shard.

Workers are real processes and die by kill -9. The reference is the campaign on this machine alone,
compared file by file.
"""

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import time

import pytest

from alight.campaign import Cluster, open_campaign, run_campaign
from alight.campaign.cluster import executor as cluster_module
from alight.campaign.cluster.worker_task import ClusterError
from alight.campaign.shard_store import StoreError

distributed = pytest.importorskip("distributed")

CHANGES = {
    "dispersions": {"release.velocity": {"kind": "normal", "sigma": "2 cm/s"}},
    "campaign": {"runs": 192, "shard": 8},
    "record": {"trajectories": [3]},
}
SHARDS = 24


@pytest.fixture(scope="module")
def path(tmp_path_factory, cube_drop):
    """The scenario's file."""
    path = tmp_path_factory.mktemp("cluster") / "drop.toml"
    path.write_text(cube_drop(**CHANGES))
    return path


@pytest.fixture(scope="module")
def whole(path):
    """What the campaign leaves, undisturbed."""
    run(path, path.parent / "whole")
    return contents(path.parent / "whole")


@pytest.fixture(scope="module")
def cluster():
    """A scheduler in this process, and workers as each test asks for them."""
    made = distributed.LocalCluster(
        n_workers=0, dashboard_address=":0", silence_logs=logging.CRITICAL
    )
    with made, contextlib.closing(Workers(made)) as workers:
        yield workers


def until(true, *processes):
    """Wait for what must come, however long a busy machine takes, unless who brings it has died."""
    while not true():
        assert all(process.poll() is None for process in processes)
        time.sleep(0.01)


class Workers:
    """Worker processes of a scheduler, by address."""

    def __init__(self, cluster):
        self.cluster, self.scheduler = cluster, cluster.scheduler_address
        self.processes = {}

    def take(self, count):
        """Addresses of so many workers, and no others: those there are, more started or killed."""
        for address in list(self.processes)[count:]:
            self.kill(address)
        while len(self.processes) < count:
            self.add()
        return list(self.processes)

    def add(self, path=None):
        """Start one more, with a folder before all others where it looks for packages."""
        known = set(self.addresses())
        before = [str(path)] if path else []
        found = os.pathsep.join([*before, *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": found}
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.scheduler]
        command += ["--no-nanny", "--no-dashboard", "--nthreads", "1"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment)
        until(lambda: len(self.addresses()) > len(known), process)
        (address,) = set(self.addresses()) - known
        self.processes[address] = process
        return address

    def kill(self, address):
        """Kill -9, and wait until the scheduler has seen it."""
        process = self.processes.pop(address)
        process.kill()
        process.wait()
        until(lambda: address not in self.addresses())

    def addresses(self):
        return list(self.cluster.scheduler.workers)

    def close(self):
        for process in self.processes.values():
            process.kill()
            process.wait()


class Disturbed(Cluster):
    """Calls ``action`` when so many shards have come back, before the last of them is written."""

    def __init__(self, scheduler, after, action, **options):
        super().__init__(scheduler, **options)
        self.after, self.action = after, action

    def compute(self, work, shards, tally):
        with contextlib.closing(super().compute(work, shards, tally)) as done:
            for number, shard in enumerate(done, start=1):
                if number == self.after:
                    self.action()
                yield shard


@pytest.fixture
def sent(monkeypatch):
    """Which shards were given to which worker; those that have come back are taken out."""
    sent, submit = {}, cluster_module._Flow._submit
    received = cluster_module._Flow._received

    def submitted(self, shards, worker):
        sent.setdefault(worker, []).extend(shards)
        submit(self, shards, worker)

    def came(self, future):
        done = received(self, future)
        for shards in sent.values():
            for shard in done:
                if shard.number in shards:
                    shards.remove(shard.number)
        return done

    monkeypatch.setattr(cluster_module._Flow, "_submit", submitted)
    monkeypatch.setattr(cluster_module._Flow, "_received", came)
    return sent


def run(path, out, **options):
    return run_campaign(path, out=out, **{"device": "cpu", "show": "silent", **options})


def contents(folder):
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != ".lock"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def goes_on(path, out, whole, least):
    """What was finished is kept, and the rest makes the folder what it would have been."""
    finished = len(open_campaign(out).seals)
    assert least <= finished < SHARDS
    result = run(path, out)
    assert (result.kept, result.computed) == (finished, SHARDS - finished)
    assert not result.notes
    assert contents(out) == whole


# ---------------------------------------------------------------------------------------------
# Workers
# ---------------------------------------------------------------------------------------------


def test_a_worker_killed_in_mid_run(path, whole, cluster, sent, tmp_path):
    """Its shards are computed elsewhere, none is lost or doubled, and one that comes gets some."""
    first, second = cluster.take(2)
    lost = []

    def kill():
        lost.extend(sent[first])
        cluster.kill(first)
        cluster.add()

    result = run(path, tmp_path / "out", executor=Disturbed(cluster.scheduler, 3, kill))
    assert lost, "the killed worker had nothing to do"
    assert result.computed == SHARDS
    assert set(sent) > {first, second}, "the third worker had nothing to do"
    assert contents(tmp_path / "out") == whole
    runs = open_campaign(tmp_path / "out").read("runs", ["run"])["run"].to_pylist()
    assert runs == list(range(192))


@pytest.mark.validate
def test_all_workers_killed(path, whole, cluster, tmp_path):
    (only,) = cluster.take(1)
    alone = Disturbed(cluster.scheduler, 2, lambda: cluster.kill(only), patience=0.1)
    with pytest.raises(ClusterError, match=r"no worker .* run the same command to resume"):
        run(path, tmp_path, executor=alone)
    goes_on(path, tmp_path, whole, 2)


@pytest.mark.validate
def test_a_shard_that_takes_its_worker_with_it(path, whole, cluster, tmp_path, monkeypatch):
    """It is not tried for ever: here a single time."""
    monkeypatch.setattr(cluster.cluster.scheduler, "allowed_failures", 0)
    first, _ = cluster.take(2)
    deadly = Disturbed(cluster.scheduler, 2, lambda: cluster.kill(first))
    with pytest.raises(ClusterError, match=r"shard \d+ was not computed: .* memory"):
        run(path, tmp_path, executor=deadly)
    goes_on(path, tmp_path, whole, 1)


def test_a_folder_that_is_moved_away(path, whole, cluster, tmp_path):
    """Told as on one machine, not written to as if it were new; workers are let go of."""
    cluster.take(1)
    out, left = tmp_path / "out", tmp_path / "moved"

    def move():
        # Threads write the first two shards: a folder moved before that has fewer of them.
        until(lambda: len(open_campaign(out).seals) == 2)
        out.rename(left)

    gone = Disturbed(cluster.scheduler, 3, move)
    with pytest.raises(StoreError, match=rf"{out} was moved.* now {left}.* same command again"):
        run(path, out, executor=gone)
    assert not out.exists()
    goes_on(path, left, whole, 2)


@pytest.fixture
def other_version(tmp_path):
    """A folder in which another version of Alight is installed, as far as metadata tell."""
    folder = tmp_path / "other" / "alight-99.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: alight\nVersion: 99.0\n")
    return folder.parent


@pytest.fixture
def broken(tmp_path):
    """A folder with an Alight that does not load."""
    folder = tmp_path / "broken" / "alight"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise ImportError('libsolid.so is missing')\n")
    return folder.parent


def test_a_worker_with_another_version(path, whole, cluster, other_version, tmp_path):
    """Refused before any shard is computed; a cluster without it is taken."""
    (good,) = cluster.take(1)
    bad = cluster.add(other_version)
    said = rf"{bad}: has alight 99.0 where .* is here\. Give every worker .*pip install \"alight=="
    for device in ("auto", "cpu"):
        with pytest.raises(ClusterError, match=said) as found:
            run(path, tmp_path / "out", scheduler=cluster.scheduler, device=device)
        assert good not in str(found.value)
    cluster.kill(bad)
    assert run(path, tmp_path / "out", scheduler=cluster.scheduler).computed == SHARDS
    assert contents(tmp_path / "out") == whole


@pytest.mark.validate
def test_a_worker_that_cannot_load_alight_comes_late(path, whole, cluster, broken, tmp_path):
    cluster.take(1)
    late = Disturbed(cluster.scheduler, 2, lambda: cluster.add(broken))
    with pytest.raises(ClusterError, match=r"cannot load alight: tcp.*libsolid\.so is missing"):
        run(path, tmp_path / "out", executor=late)
    cluster.take(1)
    goes_on(path, tmp_path / "out", whole, 2)


# ---------------------------------------------------------------------------------------------
# Scheduler and client
# ---------------------------------------------------------------------------------------------


@contextlib.contextmanager
def own_scheduler(folder):
    """A scheduler that is a process of its own, with a worker: the process, and its address."""
    file = folder / "scheduler.json"
    python = [sys.executable, "-m"]
    command = ["distributed.cli.dask_scheduler", "--port", "0", "--host", "127.0.0.1"]
    command += ["--no-dashboard", "--scheduler-file", file]
    scheduler = subprocess.Popen([*python, *command], stderr=subprocess.DEVNULL)
    command = ["distributed.cli.dask_worker", "--scheduler-file", file, "--no-nanny"]
    worker = subprocess.Popen([*python, *command, "--nthreads", "1"], stderr=subprocess.DEVNULL)
    try:
        until(lambda: file.exists() and file.read_text().endswith("}"), scheduler)
        with distributed.Client(scheduler_file=file, set_as_default=False) as client:
            until(client.nthreads, scheduler, worker)
        yield scheduler, json.loads(file.read_text())["address"]
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


@pytest.mark.validate
def test_the_scheduler_killed_in_mid_run(path, whole, tmp_path):
    with own_scheduler(tmp_path) as (process, address):

        def kill():
            process.kill()
            process.wait()

        with pytest.raises(ClusterError, match=rf"{address} was reached before, and now .* lost"):
            run(path, tmp_path / "out", executor=Disturbed(address, 2, kill))
    goes_on(path, tmp_path / "out", whole, 2)


@pytest.mark.validate
def test_ctrl_c_at_the_command_line(path, whole, cluster, tmp_path):
    """The command ends with its message, nothing is left at the scheduler, the folder goes on."""
    cluster.take(1)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "alight", "campaign", path, "--out", out, "--device", "cpu"]
    command += ["--scheduler", cluster.scheduler, "--runs", "40000"]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    until(lambda: any(out.glob("shards/*.json")), child)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate()
    assert child.returncode == 130
    assert "of 5000 shards are finished and safe" in said
    assert "Traceback" not in said
    until(lambda: not cluster.cluster.scheduler.tasks)
    finished = open_campaign(out)
    assert 1 <= len(finished.seals) < 5000
    for seal in finished.seals.values():
        if seal.runs and seal.shard < SHARDS:
            name = f"runs/runs-{seal.shard:06d}.parquet"
            assert (out / name).read_bytes() == whole[name]
