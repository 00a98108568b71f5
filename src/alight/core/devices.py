"""Devices and launches: one call runs a kernel on every core of the CPU, or on a GPU.

A Warp launch on the CPU runs on the calling thread alone, but it releases Python's global lock.
``launch`` therefore cuts the range of a CPU launch into pieces that Python threads take in
turn. Kernels launched here follow one rule: their first argument is ``offset: int``, and their
item is ``wp.tid() + offset``. Items must be independent of each other, so the result has the
same bits whatever the number of threads.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import pathlib
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import compile_effort, kernels, stale_files
from alight.core import warp_setup as _warp_setup  # noqa: F401  (settings before any kernel)
from alight.core.checks import checked_whole
from alight.core.errors import DeviceError, FileError, InputError, did_you_mean

#: Items a thread gets at least, unless the caller says otherwise: splitting costs about 0.1 ms,
#: which 256 items of the cheapest kernels are not worth and of the dear ones pay back tenfold.
MIN_ITEMS_PER_THREAD = 256

# Pieces per thread: they even out items of unequal cost and cores of unequal speed, and an
# interrupted launch ends with the piece it is at.
_PIECES_PER_THREAD = 16

_NO_DRIVER = b"Could not find or load the NVIDIA CUDA driver"


@dataclass(frozen=True)
class Device:
    """Where kernels run."""

    name: str
    """``"cpu"``, ``"cuda:0"``, ...: what Warp calls it."""
    label: str
    """What a person calls it, such as ``"NVIDIA H200"``."""
    memory: int | None = None
    """Memory of a GPU [bytes]; None for the CPU."""

    @property
    def is_cpu(self) -> bool:
        """True when kernels run on the host's cores."""
        return self.name == "cpu"

    @property
    def is_gpu(self) -> bool:
        """True when kernels run on a CUDA device."""
        return not self.is_cpu

    def synchronize(self) -> None:
        """Wait until every launch on this device is done (a CPU launch already is)."""
        if self.is_gpu:
            wp.synchronize_device(self.name)

    def __str__(self) -> str:
        """The name Warp understands."""
        return self.name


def available() -> list[Device]:
    """The devices of this machine, the CPU first."""
    _initialise()
    cpu = Device("cpu", f"{os.cpu_count()} cores")
    return [cpu, *_gpus()]


@functools.cache
def _gpus() -> tuple[Device, ...]:
    """The GPUs; asked for once, as a card takes 40 ms to say how much memory it has."""
    return tuple(Device(d.alias, d.name, d.total_memory) for d in wp.get_cuda_devices())


def resolve(device: str | Device = "auto") -> Device:
    """Find the device that ``device`` names.

    ``"auto"`` takes the first GPU if there is one and the CPU otherwise; ``"cpu"``, ``"cuda"``
    (the first GPU) and ``"cuda:1"`` ask for one and fail where it is absent.
    """
    if isinstance(device, Device):
        return device
    if not isinstance(device, str):
        raise DeviceError(
            f'device must be a name such as "auto", "cpu" or "cuda:0"; got {device!r}.'
        )
    found = {d.name: d for d in available()}
    gpus = [d for d in found.values() if d.is_gpu]
    wanted = device.strip().lower()
    if wanted == "auto":
        return gpus[0] if gpus else found["cpu"]
    if wanted in ("cuda", "gpu") and gpus:
        return gpus[0]
    if wanted in found:
        return found[wanted]
    raise _absent(device, list(found))


def alike(device: Device) -> list[Device]:
    """Further GPUs of the same kind in this machine: those that compute the same bits."""
    if device.is_cpu:
        return []
    return [d for d in available() if d.is_gpu and d.label == device.label and d != device]


def _absent(device: str, names: list[str]) -> DeviceError:
    """An error for a device that is misspelt or not there."""
    here = ", ".join(names)
    if device.strip().lower().startswith(("cuda", "gpu")):
        why = "No such GPU was found." if len(names) > 1 else "No usable NVIDIA GPU was found."
    else:
        why = f"That is not the name of a device.{did_you_mean(device, ['auto', *names])}"
    return DeviceError(f'device "{device}" cannot be used. {why} On this machine: auto, {here}.')


def thread_count(threads: int | None = None) -> int:
    """Threads a CPU launch may use: ``threads`` or else every core open to this process.

    The environment variable ``ALIGHT_THREADS`` limits either.
    """
    wanted = _usable_cores() if threads is None else checked_whole("threads", threads, 1)
    given = os.environ.get("ALIGHT_THREADS", "").strip()
    if not given:
        return wanted
    if not given.isdecimal() or int(given) < 1:
        raise InputError(
            f'the environment variable ALIGHT_THREADS is "{given}"; it must be a whole number '
            "of at least 1, such as 4. Unset it to use every core."
        )
    return min(wanted, int(given))


def launch(
    kernel: wp.Kernel,
    dim: int,
    inputs: Sequence[Any],
    device: Device,
    threads: int | None = None,
    *,
    outputs: Sequence[Any] = (),
    min_items: int = MIN_ITEMS_PER_THREAD,
    block: int = 256,
) -> None:
    """Run ``kernel`` on items ``0 .. dim-1``; on a GPU without waiting for it to finish.

    Parameters
    ----------
    kernel:
        A one-dimensional kernel whose first argument is ``offset: int`` (see the module's
        text). It must not use Warp tiles, whose CPU storage is shared between threads.
    inputs, outputs:
        The arguments after ``offset``, in order; ``outputs`` follow ``inputs``.
    threads:
        At most this many threads on the CPU; None takes every core (see ``thread_count``).
    min_items:
        A thread gets no fewer items than this: lower it for kernels of heavy items.
    block:
        Threads of a block on a GPU: lower it for kernels that need many registers.
    """
    arguments = [*inputs, *outputs]
    workers = 1
    if device.is_cpu:
        workers = max(1, min(thread_count(threads), dim // max(1, min_items)))
    if dim > 0:
        _initialise()
        kernels.load(kernel, device.name, 1 if device.is_cpu else block)
    begun = time.perf_counter()
    if workers == 1:
        inputs = [0, *arguments]
        wp.launch(kernel, dim=dim, inputs=inputs, device=device.name, block_dim=block)
    else:
        _launch_split(kernel, dim, arguments, workers, min_items)
    if device.is_cpu:
        compile_effort.note(kernel.module, time.perf_counter() - begun)


def compile_together(wanted: Sequence[tuple[wp.Kernel, Device, int]]) -> None:
    """Compile what ``launch`` would compile when it comes to it, at the same time on all cores.

    Each kernel comes with its device and the ``block`` of its launches, as it is compiled for that;
    those that take longest come first.
    """
    _initialise()
    sized = [(kernel, on.name, 1 if on.is_cpu else block) for kernel, on, block in wanted]
    kernels.compile_together(sized, thread_count())


def compile_headers(kernel: wp.Kernel, device: Device) -> None:
    """Begin to compile what all kernels of a CPU have in common, with a small one."""
    if device.is_cpu and compile_effort.wanted() != "full":
        _initialise()
        kernels.compile_headers(kernel)


def recorded(
    kernel: wp.Kernel, dim: int, arguments: Sequence[Any], device: Device, block: int = 256
) -> wp.Launch:
    """A launch that is made later, many times, by its ``launch()``: then it takes microseconds.

    It holds addresses: who keeps it keeps ``arguments`` too. On a CPU it uses one thread.
    """
    _initialise()
    kernels.load(kernel, device.name, 1 if device.is_cpu else block)
    how: dict[str, Any] = {"device": device.name, "block_dim": block, "record_cmd": True}
    return wp.launch(kernel, dim=dim, inputs=[0, *arguments], **how)


#: Longest that a thread keeps Python's lock from others [s]. One that hands work to a GPU needs it
#: for microseconds, hundreds of times a second, and must not wait 5 ms for it each time.
_TURN = 1e-4


def take_short_turns() -> None:
    """Let threads of Python take turns quickly: for one that feeds a GPU beside others."""
    if sys.getswitchinterval() > _TURN:
        sys.setswitchinterval(_TURN)


#: Warp has one current stream a GPU for all threads: who changes it, or launches and then reads
#: what came of it, has the GPU to himself meanwhile.
_gpu = threading.RLock()


@contextlib.contextmanager
def on_stream(stream: Any) -> Iterator[None]:
    """Launches and copies go to a stream of a GPU (None: of the CPU, which has none); other threads
    that use the GPU wait."""
    if stream is None:
        yield
        return
    with _gpu, wp.ScopedStream(stream):
        yield


def array(values: npt.ArrayLike, kind: Any, device: Device) -> wp.array:
    """Values of the host as an array of ``kind`` on a device."""
    return wp.array(np.ascontiguousarray(values), dtype=kind, device=device.name)


def prepared(
    kernel: wp.Kernel,
    dim: int,
    inputs: Sequence[Any],
    kinds: Sequence[Any],
    device: Device,
    threads: int | None = None,
    **how: int,
) -> tuple[Callable[[], None], tuple[wp.array, ...]]:
    """A ``launch`` as a call, and the arrays it fills: ``dim`` items of each of ``kinds``."""
    out = tuple(wp.empty(dim, dtype=kind, device=device.name) for kind in kinds)

    def fill() -> None:
        if dim:
            launch(kernel, dim, inputs, device, threads, outputs=out, **how)

    return fill, out


def computed(
    kernel: wp.Kernel,
    dim: int,
    inputs: Sequence[Any],
    kinds: Sequence[Any],
    device: Device,
    threads: int | None = None,
    **how: int,
) -> tuple[Any, ...]:
    """What a kernel leaves in its outputs, as arrays of the host; see ``prepared``."""
    fill, out = prepared(kernel, dim, inputs, kinds, device, threads, **how)
    with contextlib.nullcontext() if device.is_cpu else _gpu:
        fill()
        return tuple(each.numpy() for each in out)


def _launch_split(
    kernel: wp.Kernel, dim: int, arguments: list[Any], workers: int, min_items: int
) -> None:
    """Run a CPU launch in pieces that ``workers`` threads, this one included, take in turn."""
    count = min(workers * _PIECES_PER_THREAD, max(workers, dim // max(1, min_items)))
    edges = [dim * i // count for i in range(count + 1)]
    pieces = _Taken(list(itertools.pairwise(edges)))
    # A recorded launch packs its arguments once; each thread needs its own, as pieces change it.
    commands = [
        wp.launch(kernel, dim=1, inputs=[0, *arguments], device="cpu", record_cmd=True)
        for _ in range(workers)
    ]
    futures = [_pool().submit(_work, command, pieces, arguments) for command in commands[1:]]
    try:
        _work(commands[0], pieces, arguments)
        for future in futures:
            future.result()
    except BaseException:
        # Interrupted, perhaps while waiting: the other threads finish the piece they are at, and
        # only then may the caller read or free what they write.
        pieces.stop()
        wait(futures)
        raise


class _Taken:
    """An iterator over pieces of work that several threads may share."""

    def __init__(self, pieces: list[tuple[int, int]]) -> None:
        self._pieces = iter(pieces)
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return self

    def __next__(self) -> tuple[int, int]:
        with self._lock:
            return next(self._pieces)

    def stop(self) -> None:
        """Give out no further piece."""
        with self._lock:
            self._pieces = iter(())


def _work(command: wp.Launch, pieces: _Taken, keep: list[Any]) -> None:
    """Run pieces until none is left.

    ``keep`` is not read: a recorded launch holds addresses only, and the arrays behind them must
    outlive every thread, also when the one that launched was interrupted and has continued.
    """
    for begin, end in pieces:
        command.set_param_at_index(0, begin)
        command.set_dim(end - begin)
        command.launch()


_executor: ThreadPoolExecutor | None = None
_executor_lock = threading.Lock()


def _pool() -> ThreadPoolExecutor:
    """The threads that help CPU launches; started once, idle between launches."""
    global _executor
    with _executor_lock:
        if _executor is None:
            # Threads start on demand: the bound covers callers that ask for more than the cores.
            most = max(64, 4 * (os.cpu_count() or 1))
            _executor = ThreadPoolExecutor(most, thread_name_prefix="alight")
        return _executor


def _forget_pool() -> None:
    """A forked child has none of its parent's threads: it starts its own."""
    global _executor, _executor_lock
    _executor, _executor_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def _usable_cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_initialised = False
_initialise_lock = threading.Lock()


def _initialise() -> None:
    """Start Warp without its line on standard error about an absent GPU driver.

    That line comes from native code, past Warp's log level, and a machine without a GPU is
    nothing to warn about. Everything else Warp says there is passed on.
    """
    global _initialised
    with _initialise_lock:
        if _initialised:
            return
        with tempfile.TemporaryFile() as caught:
            saved = os.dup(2)
            os.dup2(caught.fileno(), 2)
            try:
                wp.init()
            except OSError as cause:
                raise FileError(
                    f"the kernel cache cannot be used: {cause}. Set the environment variable "
                    "WARP_CACHE_PATH to a writable folder, or unset it."
                ) from None
            finally:
                os.dup2(saved, 2)
                os.close(saved)
                caught.seek(0)
                said = [line for line in caught if _NO_DRIVER not in line]
                sys.stderr.write(b"".join(said).decode(errors="replace"))
        stale_files.sign_kernels(pathlib.Path(wp.config.kernel_cache_dir))
        _initialised = True
