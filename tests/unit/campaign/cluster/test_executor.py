"""Campaigns on a Dask cluster: a real scheduler, and workers that are processes of their own."""

import logging
import operator
import pathlib
import pickle
import subprocess
import sys
import time
import types

import numpy as np
import pytest
from typer.testing import CliRunner

from alight.campaign import Cluster, executors, run_campaign
from alight.campaign.cluster import executor as cluster_module
from alight.campaign.cluster import worker_task
from alight.campaign.cluster.worker_task import AbandonedError, ClusterError, packed, versions_here
from alight.campaign.jobs import shard as work_module
from alight.campaign.jobs.shard import Work
from alight.campaign.plan import make_plan
from alight.cli.main import app
from alight.core import devices
from alight.core.errors import AlightError, DeviceError, FileError, InputError, MissingExtraError
from alight.core.outcomes import Outcome
from alight.core.progress import Silent
from alight.scenario import loads

distributed = pytest.importorskip("distributed")

ON_CPU_ONLY = pytest.mark.skipif(len(devices.available()) > 1, reason="every worker has a GPU here")


def contents(folder):
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != ".lock"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def run(scenario, out, **options):
    options = {"device": "cpu", "show": "silent", **options}
    return run_campaign(scenario, out=out, **options)


@pytest.fixture(scope="module")
def scheduler():
    """A scheduler without workers."""
    with distributed.LocalCluster(
        n_workers=0, dashboard_address=":0", silence_logs=logging.CRITICAL
    ) as made:
        yield made


@pytest.fixture(scope="module")
def address(scheduler):
    """Address of a scheduler with two workers, one of them with two threads."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler.scheduler_address]
    command += ["--no-nanny", "--no-dashboard", "--nthreads"]
    workers = [subprocess.Popen([*command, n], stderr=subprocess.DEVNULL) for n in "12"]
    until(lambda: len(scheduler.scheduler.workers) == 2, workers)
    yield scheduler.scheduler_address
    for worker in workers:
        worker.kill()
        worker.wait()


FOR_EVER = """[dispersions]
"release.velocity" = { kind = "normal", sigma = "2 cm/s" }
"contact.restitution" = { kind = "choice", values = [0.3, 1.0] }
"""


def until(true, processes=()):
    """Wait for what must come, however long a busy machine takes, unless who brings it has died."""
    while not true():
        assert all(process.poll() is None for process in processes)
        time.sleep(0.01)


class Heard(Silent):
    """What a bar is told; ``until`` ends the campaign by Ctrl-C after so many reports."""

    def __init__(self, until=None):
        self.stages, self.done, self.facts, self.calls, self.until = [], 0, {}, 0, until

    def start(self, title, total=None):
        self.stages.append((title, total))

    def advance(self, n=1, **facts):
        assert n > 0
        self.done += n
        self.facts.update(facts)
        self.calls += 1
        assert sum(self.facts.values()) <= self.done
        if self.calls == self.until:
            raise KeyboardInterrupt


# ---------------------------------------------------------------------------------------------
# The same tables
# ---------------------------------------------------------------------------------------------


def test_bytes_are_those_of_this_machine_alone(scenario, address, tmp_path):
    given, bar = scenario(runs=100, shard=8, trajectories=[3, 70]), Heard()
    run(given, tmp_path / "local")
    result = run(given, tmp_path / "cluster", scheduler=address, show=bar)
    assert (result.computed, result.kept) == (13, 0)
    assert contents(tmp_path / "cluster") == contents(tmp_path / "local")
    assert bar.stages == [("Landings", 100)]
    assert bar.done == 100
    assert bar.facts["settled"] == result.outcomes[Outcome.SETTLED]


def test_workers_with_a_gpu_take_many_shards_at_once(scenario, address, tmp_path, monkeypatch):
    """As one flow; each of two has some, whatever their number. (Here flows run on CPUs.)"""
    sent, submit = [], cluster_module._Flow._submit

    def seen(self, shards, worker):
        submit(self, shards, worker)
        sent.append(list(shards))

    monkeypatch.setattr(cluster_module._Flow, "_submit", seen)
    monkeypatch.setattr(cluster_module, "many_at_once", lambda device: True)
    given, bar = scenario(runs=100, shard=8, trajectories=[3, 70]), Heard()
    run(given, tmp_path / "local")
    result = run(given, tmp_path / "two", scheduler=address, show=bar)
    assert (result.computed, sent) == (13, [[*range(7)], [*range(7, 13)]])
    assert contents(tmp_path / "two") == contents(tmp_path / "local")
    assert bar.done == 100
    assert bar.facts["settled"] == result.outcomes[Outcome.SETTLED]
    monkeypatch.setattr(cluster_module, "GPU_RUNS", 40)
    sent.clear()
    run(given, tmp_path / "more", scheduler=address)
    assert sorted(map(len, sent)) == [3, 5, 5]
    assert contents(tmp_path / "more") == contents(tmp_path / "local")


def test_a_folder_goes_on_here_and_there(scenario, address, tmp_path):
    """Grown on the cluster, mended here; a finished folder needs no cluster at all."""
    given = scenario(runs=30)
    run(given, tmp_path / "whole")
    run(given, tmp_path / "out", runs=14)
    result = run(given, tmp_path / "out", scheduler=address, device="auto")
    assert (result.kept, result.computed) == (2, 3)
    (tmp_path / "out" / "shards" / "shard-000003.json").unlink()
    assert run(given, tmp_path / "out").computed == 1
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    nobody = Cluster("tcp://127.0.0.1:1", patience=0.0)
    assert run(given, tmp_path / "out", executor=nobody, device="auto").computed == 0


def test_a_client_that_was_made_before_stays_open(scenario, address, tmp_path):
    given = scenario()
    run(given, tmp_path / "local")
    with distributed.Client(address, set_as_default=False) as client:
        run(given, tmp_path / "cluster", executor=Cluster(client))
        assert client.status == "running"
        until(lambda: not client.futures)  # shards are let go of
    assert contents(tmp_path / "cluster") == contents(tmp_path / "local")


def test_shards_in_flight_are_bounded(scenario, address, tmp_path, monkeypatch):
    """However slowly tables are written: two a worker, spread evenly."""
    most, submit, workers = [], cluster_module._Flow._submit, set()

    def counted(self, shard, worker):
        submit(self, shard, worker)
        workers.add(worker)
        most.append(len(self._sent))

    monkeypatch.setattr(cluster_module._Flow, "_submit", counted)
    run(scenario(runs=40, shard=2), tmp_path, scheduler=address)
    assert len(most) == 20
    assert max(most) == 2 * cluster_module.AHEAD
    assert len(workers) == 2


def test_models_are_made_once_and_one_shard_runs_at_a_time(scenario, tmp_path, monkeypatch):
    """In a worker of four threads that lives in this process."""
    made, inside, real = [], [], work_module.Work.compute

    def prepare(*args):
        made.append(args)
        return real_prepare(*args)

    def compute(self, *args):
        inside.append(self)
        assert len(inside) == 1
        assert self.threads == 4
        try:
            return real(self, *args)
        finally:
            inside.pop()

    real_prepare = work_module.prepare
    monkeypatch.setattr(work_module, "prepare", prepare)
    monkeypatch.setattr(work_module.Work, "compute", compute)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=4, processes=False, dashboard_address=":0"
    ) as cluster:
        run(scenario(runs=30, shard=3), tmp_path, scheduler=cluster.scheduler_address)
    assert len(made) == 1


def test_progress_is_told_within_shards_and_ctrl_c_frees_the_workers(
    scenario, address, tmp_path, scheduler
):
    """Of shards whose last runs bounce for ever: workers drop them, as nobody waits for them."""
    long = scenario(runs=80, shard=20, dispersions=FOR_EVER, values={"stop.max_time": "1e12 s"})
    bar = Heard(until=1)
    with pytest.raises(KeyboardInterrupt, match="0 of 4 shards"):
        run(long, tmp_path / "long", scheduler=address, show=bar)
    assert 0 < bar.done < 40
    until(lambda: not scheduler.scheduler.tasks)
    with distributed.Client(address, set_as_default=False) as client:
        until(lambda: not any(client.run(lambda dask_worker: dask_worker.active_threads).values()))
    assert run(scenario(), tmp_path / "next", scheduler=address).computed == 4


def test_ctrl_c_within_a_call_of_dask_leaves_no_traceback(address, caplog):
    """Dask's ``sync`` logs a NameError when Ctrl-C comes before its call has begun."""
    log = logging.getLogger("tornado.application")
    with Cluster(address)._connected():
        log.error("Exception in callback %s", "<function sync.<locals>.cancel at 0x7f3c53702480>")
        log.error("Exception in callback %s", "<function other at 0x7f3c53702480>")
    log.error("sync.<locals>.cancel again")
    said = [record.getMessage() for record in caplog.records if record.name == log.name]
    assert len(said) == 2
    assert "other" in said[0]


def test_the_scheduler_needs_no_alight(scenario):
    """What it unpickles is Python's own: bytes, and calls of their contents by name."""
    given = scenario()
    blob = packed(Work(given, make_plan(given, "cpu", {}), "cpu"), "topic")
    tasks = pickle.dumps((pickle.loads, blob, operator.methodcaller("compute", [3])))
    code = "import pickle, sys; pickle.load(sys.stdin.buffer); print('alight' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], input=tasks, capture_output=True)
    assert found.stdout.strip() == b"False"


# ---------------------------------------------------------------------------------------------
# On a worker
# ---------------------------------------------------------------------------------------------


def mesh_scenario(cube_drop, path):
    """A hull of a file in place of the cube, four runs in one shard."""
    hull = f'shape = "mesh"\nmesh = "{path.as_posix()}"\nunit = "m"'
    text = cube_drop(campaign={"shard": 4})
    return loads(text.replace('shape = "cube"\nside = "20 cm"', hull))


@pytest.fixture
def tetrahedron(tmp_path):
    path = tmp_path / "tetrahedron.obj"
    corners = 0.1 * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    faces = ("1 2 3", "1 4 2", "1 3 4", "2 4 3")
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {face}" for face in faces]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_meshes_travel_with_the_scenario(tetrahedron, cube_drop):
    given = mesh_scenario(cube_drop, tetrahedron)
    work = Work(given, make_plan(given, "cpu", {}), "cpu")
    here = work.compute(0)
    blob = packed(work, "topic")
    tetrahedron.unlink()
    parcel = pickle.loads(blob)
    opened = parcel._open(3)
    assert opened.threads == 3
    path = pathlib.Path(opened.scenario.lander.mesh)
    assert path.name == tetrahedron.name
    assert opened.compute(0) == here
    # Another machine again: what was made here stays here.
    assert pickle.loads(pickle.dumps(parcel))._opened is None
    del parcel, opened
    assert not path.exists()


def test_a_mesh_that_has_changed_or_gone_is_not_sent(tetrahedron, cube_drop):
    given = mesh_scenario(cube_drop, tetrahedron)
    work = Work(given, make_plan(given, "cpu", {}), "cpu", threads=5)
    assert pickle.loads(packed(work, "topic"))._open(3).threads == 5
    tetrahedron.write_text(tetrahedron.read_text() + "# more\n")
    with pytest.raises(FileError, match="has changed since"):
        packed(work, "topic")
    tetrahedron.unlink()
    with pytest.raises(FileError, match=r"cannot read .*workers need it"):
        packed(work, "topic")


def test_a_worker_refuses_a_parcel_of_other_versions(scenario, monkeypatch):
    given = scenario()
    parcel = pickle.loads(packed(Work(given, make_plan(given, "cpu", {})), "topic"))
    worker = types.SimpleNamespace(address="tcp://there:1")
    parcel._check(worker)
    monkeypatch.setattr(worker_task, "versions_here", lambda _: {**versions_here(), "numpy": "0"})
    with pytest.raises(ClusterError, match=r"tcp://there:1 has numpy 0, which .* same versions"):
        parcel._check(worker)


def test_what_nobody_waits_for_is_dropped():
    state = types.SimpleNamespace(state="executing")
    worker = types.SimpleNamespace(
        state=types.SimpleNamespace(tasks={"key": state}), get_current_task=lambda: "key"
    )
    report = worker_task._Report(worker, "topic", [7])
    report.advance(3)
    state.state = "cancelled"
    with pytest.raises(AbandonedError, match="shard 7"):
        report.advance(3)


# ---------------------------------------------------------------------------------------------
# Refused
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("tcp://127.0.0.1:1", r"127.0.0.1:1\" cannot be reached .*dask scheduler prints"),
        ("127.0.0.1", "cannot be reached .missing port"),
        ("carrier-pigeon://there:1", "cannot be reached .unknown address scheme"),
    ],
)
def test_an_address_where_no_scheduler_is(scenario, tmp_path, given, said):
    for device in ("auto", "cpu"):
        with pytest.raises(ClusterError, match=said) as found:
            run(scenario(), tmp_path, executor=Cluster(given, patience=0.0), device=device)
        assert isinstance(found.value, AlightError)
        assert "run the same command to resume" in str(found.value)
    assert run(scenario(), tmp_path).computed == 4, "the folder can be used"


def test_from_the_command_line(cube_drop, tmp_path):
    path = tmp_path / "drop.toml"
    path.write_text(cube_drop())
    options = ["--out", str(tmp_path / "out"), "--scheduler", "carrier-pigeon://there:1"]
    ended = CliRunner().invoke(app, ["campaign", str(path), *options])
    assert isinstance(ended.exception, ClusterError)
    assert 'the Dask scheduler "carrier-pigeon://there:1"' in str(ended.exception)


def test_no_workers(scenario, tmp_path):
    with distributed.LocalCluster(
        n_workers=0, dashboard_address=":0", silence_logs=logging.CRITICAL
    ) as cluster:
        alone = Cluster(cluster.scheduler_address, patience=0.0)
        with pytest.raises(ClusterError, match=r"has no worker .* Start some \(dask worker tcp:"):
            run(scenario(), tmp_path, executor=alone)


@ON_CPU_ONLY
def test_devices_are_those_of_the_workers(scenario, address, tmp_path):
    cluster = Cluster(address)
    assert cluster.resolve("auto").name == "cpu"
    names = [cluster.resolve(name).name for name in ("cuda", "GPU", "cuda:1")]
    assert names == ["cuda:0", "cuda:0", "cuda:1"]
    with pytest.raises(DeviceError, match=r'"abacus" cannot be used.*take auto, cpu'):
        cluster.resolve("abacus")
    with pytest.raises(DeviceError, match=r'"cuda:0" .* not every worker has it: tcp.* has cpu'):
        run(scenario(), tmp_path, executor=cluster, device="cuda")


def test_mistakes_come_back_from_the_workers(scenario, address, tmp_path):
    bad = '[dispersions]\n"contact.restitution" = { kind = "log-normal", sigma = 5.0 }'
    with pytest.raises(InputError, match=r"shard \d \(runs \d+ to \d+\) cannot be run"):
        run(scenario(dispersions=bad), tmp_path, scheduler=address)


def test_what_is_no_scheduler(scenario, tmp_path):
    for given in ("", " ", 8786):
        with pytest.raises(InputError, match="address of a Dask scheduler"):
            run(scenario(), tmp_path, scheduler=given)
    with pytest.raises(InputError, match="give one of them"):
        run(scenario(), tmp_path, scheduler="tcp://there:1", executor=executors.Local())
    later = types.SimpleNamespace(submit=1, run=1, nthreads=1, asynchronous=True)
    with pytest.raises(InputError, match="asynchronous"):
        Cluster(later)


def test_without_the_extra(scenario, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r'pip install "alight\[cluster\]"'):
        run(scenario(), tmp_path, scheduler="tcp://there:1")
    assert not list(tmp_path.iterdir())


@pytest.mark.validate
def test_dask_is_not_imported_before_it_is_needed():
    code = "import sys, alight.campaign; print({'dask', 'distributed'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout.strip() == "set()"
