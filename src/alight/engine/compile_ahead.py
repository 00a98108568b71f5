"""The kernels of a model, compiled at the same time before the first of them is needed.

What a batch will launch is known when its model is made: the loop, whole or by phases, what sorts
and moves runs, and what places them. One after the other they would be compiled where each is first
launched, by one core.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from alight.core import devices
from alight.engine import records
from alight.engine.deck import ever_whole, launches_apart
from alight.engine.grouping import grouping_kernel
from alight.engine.loop import GPU_BLOCK, loop_kernel
from alight.engine.motion import Motion

#: Threads of a block of all launches but those of the loop.
BLOCK = 256


def compile_ahead(
    model: Motion, device: devices.Device, *, history: bool = False, own: str = ""
) -> None:
    """Compile all that a ``Batch`` of these options launches; what is loaded already is left."""
    devices.compile_together(kernels_of(model, device, history, own))


def compile_for_all(models: Sequence[tuple[Motion, devices.Device]], own: str) -> None:
    """Compile all that any run of a model launches on a device, at the same time: one whose steps
    are kept, a batch of equal ones, and a campaign, whose runs have so much of their ``own``."""
    wanted = [
        each
        for model, device in models
        for way in ((False, ""), (False, own), (True, ""))
        for each in kernels_of(model, device, *way)
    ]
    # Loops first, and those for a GPU: they take longest.
    wanted.sort(key=lambda each: (each[2] != GPU_BLOCK, each[1].is_cpu))
    devices.compile_together(wanted)


@contextlib.contextmanager
def compiled_meanwhile(model: Motion, device: devices.Device) -> Iterator[None]:
    """The kernels of one run of a model are compiled beside what is done here.

    What goes wrong is not reported: it comes again where the kernel is needed.
    """
    if devices.thread_count() == 1:
        yield
        return
    thread = threading.Thread(target=_compile_quietly, args=(model, device))
    thread.start()
    try:
        yield
    finally:
        thread.join()


def _compile_quietly(model: Motion, device: devices.Device) -> None:
    with contextlib.suppress(Exception):
        compile_ahead(model, device, history=True)


def kernels_of(
    model: Motion, device: devices.Device, history: bool, own: str
) -> list[tuple[Any, devices.Device, int]]:
    """The kernels of a batch with device and size of blocks, those that take longest first.

    Runs are placed, and their ends examined, on the host wherever they go: kernels that do so are
    not among a GPU's.
    """
    loop = dataclasses.replace(model.loop(), own=own)
    apart = launches_apart(loop, device, history)
    whole = [loop_kernel(loop)] if ever_whole(apart) else []
    loops = [*(loop_kernel(loop, launch) for launch in apart), *whole]
    others = [*(model.kernels() if device.is_cpu else ()), records._put]
    if apart:
        others.append(grouping_kernel(loop))
    sized = [(kernel, GPU_BLOCK) for kernel in loops] + [(kernel, BLOCK) for kernel in others]
    return [(kernel, device, block) for kernel, block in sized]
