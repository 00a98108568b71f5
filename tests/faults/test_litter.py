"""What killed processes leave in caches goes at the next start; what others still write stays.

Processes are real and die by kill -9.
"""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from alight.core import stale_files, store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kill -9")

#: Writes half a table, says so, and waits.
SAVING = """
import pathlib, sys
import numpy as np
from alight.core import store
real = np.savez
def half(file, **arrays):
    file.write(b"half")
    file.flush()
    print("written", flush=True)
    sys.stdin.read()
store.np.savez = half
store.save(pathlib.Path(sys.argv[1]), "table", {"a": np.zeros(3)})
"""

#: Starts Warp with a cache of its own and is killed where the first kernel is compiled.
COMPILING = """
import os, signal, sys
import warp as wp
from alight.core import devices, selftest
devices.available()
def killed(*_, **__):
    if sys.argv[1] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    print("compiling", flush=True)
    sys.stdin.read()
wp._src.build.build_cpu = killed
selftest.problem(devices.resolve("cpu"))
"""

START = "from alight.core import devices; devices.available()"


def begun(script, *words, **more):
    """A process that runs until it is told to end; it has said that it is there."""
    child = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **more},
    )
    assert child.stdout.readline().strip() in ("written", "compiling")
    return child


def ended(child):
    child.kill()
    child.communicate()
    assert child.returncode == -signal.SIGKILL


def parts(folder):
    return sorted(path.name for path in folder.glob("*.part"))


def test_half_a_table_of_a_killed_process(tmp_path):
    """It stays as long as its process lives, and goes when the next one looks for the table."""
    child = begun(SAVING, tmp_path)
    (written,) = parts(tmp_path)
    assert store.load(tmp_path, "table") is None
    assert parts(tmp_path) == [written], "a living process still writes it"
    ended(child)
    assert parts(tmp_path) == [written]
    assert store.load(tmp_path, "table") is None
    assert parts(tmp_path) == []
    store.save(tmp_path, "table", {"a": np.arange(3)})
    assert store.load(tmp_path, "table")["a"].tolist() == [0, 1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["table.npz"]


def test_what_another_host_writes_is_left_alone(tmp_path, monkeypatch):
    (tmp_path / "otherhost-abc.part").write_bytes(b"half")
    store.load(tmp_path, "table")
    assert parts(tmp_path) == ["otherhost-abc.part"]
    monkeypatch.setattr(stale_files.socket, "gethostname", lambda: "otherhost")
    store.load(tmp_path, "table")
    assert parts(tmp_path) == []


def test_a_table_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr(store.np, "savez", full)
    store.save(tmp_path, "table", {"a": np.zeros(3)})
    assert list(tmp_path.iterdir()) == []


def names(cache):
    """Builds under way, and signs of processes."""
    builds = [path.name for path in cache.rglob("*_p*_t*")]
    return builds, [path.name for path in cache.rglob(f"{stale_files.SIGN}*")]


def started(cache):
    environment = {**os.environ, "WARP_CACHE_PATH": str(cache)}
    subprocess.run([sys.executable, "-c", START], check=True, env=environment)


def test_kernels_that_a_killed_process_was_building(tmp_path):
    environment = {**os.environ, "WARP_CACHE_PATH": str(tmp_path)}
    command = [sys.executable, "-c", COMPILING, "kill"]
    killed = subprocess.run(command, env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    builds, signs = names(tmp_path)
    assert len(builds) == len(signs) == 1, "the process should have left both"
    started(tmp_path)
    assert names(tmp_path) == ([], [])


def test_kernels_that_living_processes_and_other_hosts_build(tmp_path):
    child = begun(COMPILING, "wait", WARP_CACHE_PATH=str(tmp_path))
    (build,), (sign,) = names(tmp_path)
    assert build.rpartition("_p")[2].startswith(f"{child.pid}_t")
    cache = next(tmp_path.rglob(sign)).parent
    other = cache / "wp_other_p4194303_t1"
    other.mkdir()
    (cache / f"{stale_files.SIGN}-otherhost-4194303").touch()
    started(tmp_path)
    assert sorted(names(tmp_path)[0]) == sorted([build, other.name])
    ended(child)
    started(tmp_path)
    builds, signs = names(tmp_path)
    assert builds == [other.name]
    assert signs == [f"{stale_files.SIGN}-otherhost-4194303"]


def test_a_number_that_another_process_has_now(tmp_path):
    """A sign that nobody holds, of a number that a process without Alight has: left for later."""
    child = begun("print('written', flush=True); input()")
    build = tmp_path / f"wp_x_p{child.pid}_t1"
    build.mkdir()
    sign = tmp_path / f"{stale_files.SIGN}-{stale_files._host()}-{child.pid}"
    sign.touch()
    started_here(tmp_path)
    assert build.exists()
    ended(child)
    started_here(tmp_path)
    assert not build.exists()
    assert not sign.exists()


def started_here(cache):
    script = "import pathlib, sys; from alight.core.stale_files import sign_kernels as sign\n"
    script += "sign(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", script, str(cache)], check=True)
