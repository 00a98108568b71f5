"""Devices are found or refused with a reason; split launches give the same bits as whole ones."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import warp as wp

from alight.core import devices
from alight.core.devices import Device, available, launch, resolve, thread_count
from alight.core.errors import DeviceError, InputError
from alight.core.types import scalar

CPU = resolve("cpu")


@wp.kernel
def _mix(offset: int, x: wp.array(dtype=scalar), y_out: wp.array(dtype=scalar)):
    # Multiply-adds, roots and sines: where vectorised and scalar code could round differently.
    i = wp.tid() + offset
    s = x[i]
    for j in range(20):
        s = wp.sqrt(s * s + x[i] * scalar(1.3)) + wp.sin(s) * scalar(0.7) - scalar(j) * x[i]
    y_out[i] = s


@wp.kernel
def _count(offset: int, visits_out: wp.array(dtype=int)):
    i = wp.tid() + offset
    visits_out[i] = visits_out[i] + 1


@pytest.fixture(autouse=True)
def _no_limit(monkeypatch):
    """A limit set by whoever runs the tests would leave nothing to split."""
    monkeypatch.delenv("ALIGHT_THREADS", raising=False)


@pytest.fixture(scope="module")
def numbers():
    return np.random.default_rng(1).uniform(0.1, 2.0, 4099)


def _mixed(numbers, threads, min_items=1):
    x = wp.array(numbers, dtype=scalar, device="cpu")
    y = wp.zeros_like(x)
    launch(_mix, x.size, [x], CPU, threads, outputs=[y], min_items=min_items)
    return y.numpy()


def test_bits_do_not_depend_on_the_number_of_threads(numbers):
    whole = _mixed(numbers, 1)
    assert np.all(np.isfinite(whole))
    for threads in (2, 3, 7, 40):
        assert np.array_equal(_mixed(numbers, threads), whole)


def test_bits_do_not_depend_on_neighbours(numbers):
    whole = _mixed(numbers, 1)
    assert np.array_equal(_mixed(numbers[17:30], 1), whole[17:30])


@pytest.mark.parametrize("dim", [0, 1, 2, 5, 255, 256, 512, 1000, 4099])
@pytest.mark.parametrize("threads", [1, 2, 3, 16])
@pytest.mark.parametrize("min_items", [1, 256])
def test_every_item_is_visited_once(dim, threads, min_items):
    visits = wp.zeros(dim, dtype=int, device="cpu")
    launch(_count, dim, [], CPU, threads, outputs=[visits], min_items=min_items)
    assert np.all(visits.numpy() == 1)


def _threads_used(monkeypatch, **options):
    """Names of the threads that ran a piece, and how many pieces there were."""
    seen = []
    work = devices._work

    def spy(command, pieces, keep):
        seen.append(threading.current_thread().name)
        work(command, pieces, keep)

    monkeypatch.setattr(devices, "_work", spy)
    visits = wp.zeros(options.pop("dim"), dtype=int, device="cpu")
    launch(_count, visits.size, [], CPU, outputs=[visits], **options)
    return seen


def test_small_launches_are_not_split(monkeypatch):
    assert _threads_used(monkeypatch, dim=511, threads=2) == []


def test_large_launches_are_split(monkeypatch):
    seen = _threads_used(monkeypatch, dim=512, threads=2)
    assert len(seen) == 2
    assert threading.current_thread().name in seen


def test_environment_limits_threads(monkeypatch):
    monkeypatch.setenv("ALIGHT_THREADS", "3")
    assert thread_count(8) == 3
    assert thread_count(2) == 2
    assert len(_threads_used(monkeypatch, dim=10_000, threads=8)) == 3


@pytest.mark.parametrize("bad", ["0", "-2", "two", "1.5"])
def test_bad_thread_limit_is_refused(monkeypatch, bad):
    monkeypatch.setenv("ALIGHT_THREADS", bad)
    with pytest.raises(InputError, match="ALIGHT_THREADS"):
        thread_count()


def test_a_failure_in_a_helping_thread_is_raised(monkeypatch):
    caller = threading.current_thread()
    work = devices._work

    def fail_elsewhere(command, pieces, keep):
        if threading.current_thread() is not caller:
            raise ValueError("from a helper")
        work(command, pieces, keep)

    monkeypatch.setattr(devices, "_work", fail_elsewhere)
    visits = wp.zeros(4096, dtype=int, device="cpu")
    with pytest.raises(ValueError, match="from a helper"):
        launch(_count, 4096, [], CPU, 2, outputs=[visits])


def test_launches_from_several_threads_do_not_mix(numbers):
    whole = _mixed(numbers, 1)
    results = [None] * 6

    def evaluate(i):
        results[i] = _mixed(numbers, 3)

    callers = [threading.Thread(target=evaluate, args=(i,)) for i in range(len(results))]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all(np.array_equal(r, whole) for r in results)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_starts_its_own_threads(numbers):
    _mixed(numbers, 4)
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if np.all(np.isfinite(_mixed(numbers, 4))) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_auto_takes_a_gpu_if_there_is_one():
    found = available()
    assert found[0].name == "cpu"
    assert resolve("auto") == (found[1] if len(found) > 1 else found[0])


def test_auto_prefers_a_gpu(monkeypatch):
    gpus = [Device("cuda:0", "first", 1), Device("cuda:1", "second", 1)]
    monkeypatch.setattr(devices, "available", lambda: [Device("cpu", "cores"), *gpus])
    assert resolve().name == "cuda:0"
    assert resolve("cuda").name == "cuda:0"
    assert resolve("CUDA:1").name == "cuda:1"
    assert resolve("cpu").is_cpu
    with pytest.raises(DeviceError, match=r"cuda:7.*auto, cpu, cuda:0, cuda:1"):
        resolve("cuda:7")


def test_a_device_resolves_to_itself():
    assert resolve(CPU) is CPU


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("cuda:99", r'"cuda:99".*On this machine: auto, cpu'),
        ("cpuu", 'Did you mean "cpu"'),
        ("", "On this machine"),
    ],
)
def test_absent_device_says_what_is_there(name, told):
    with pytest.raises(DeviceError, match=told):
        resolve(name)


def test_device_must_be_a_name():
    with pytest.raises(DeviceError, match="got 3"):
        resolve(3)


def test_warp_says_nothing():
    script = (
        "import numpy as np, warp as wp\n"
        "from alight.core import devices, frames, random\n"
        "d = devices.resolve('cpu')\n"
        "wp.array(np.zeros(3), device=d.name)\n"
        "assert wp.config.enable_backward is False\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("threads", [0, -1, 1.5, "two", True])
def test_thread_counts_that_cannot_be_used(threads):
    with pytest.raises(InputError, match=r"threads is .*whole number of at least 1"):
        devices.thread_count(threads)


def test_a_kernel_cache_that_cannot_be_used_is_one_line():
    """In a process of its own: Warp is started once."""
    code = "from alight.core import devices; devices.resolve()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "WARP_CACHE_PATH": "/proc/nope"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "FileError" in done.stderr
    assert "WARP_CACHE_PATH" in done.stderr


INTERRUPTED = """
import gc, os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np, warp as wp
from alight.core import devices
from alight.core.types import scalar

@wp.struct
class Table:
    a: wp.array(dtype=scalar)

@wp.kernel
def slow(offset: int, rounds: int, table: Table, out: wp.array(dtype=scalar)):
    i = wp.tid() + offset
    s = scalar(0.0)
    # Items of unequal length: when one thread is interrupted, the others are still at theirs.
    for r in range(rounds * (1 + i % 3)):
        for k in range(table.a.shape[0]):
            s += wp.sin(table.a[k] + scalar(i))
    out[i] = s

cpu = devices.resolve("cpu")

def work(n, rounds):
    # Large enough to be given back to the system when freed: a late reader would crash.
    table = Table()
    table.a = wp.array(np.arange(1e6), dtype=scalar, device="cpu")
    out = wp.zeros(n, dtype=scalar, device="cpu")
    devices.launch(slow, n, [rounds, table, out], cpu, threads=4, min_items=1)

work(4, 1)
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
interrupted = False
try:
    work(64, 10)
except KeyboardInterrupt:
    interrupted = True
gc.collect()
time.sleep(1.0)
print("interrupted" if interrupted else "finished")
"""


def test_an_interrupted_launch_leaves_no_thread_without_its_arrays(tmp_path):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "interrupted"), done.stderr
