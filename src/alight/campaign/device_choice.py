"""Which device a campaign runs on where its user leaves it open.

A GPU takes a minute to compile its kernels and to wait for its last runs, and then does thousands
of rigid landings a second; cores of a CPU begin at once. Landers with joints and captures, whose
models are made one by one on the host, run faster on a few cores than on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from alight.campaign.study.study import Study
from alight.core import devices
from alight.scenario.document import LANDING

#: Rigid landings a second: of one core, and of a GPU once it runs (``ryugu_minerva`` on an EPYC and
#: an H200, benchmarks/RESULTS.md); and how long a GPU takes beside them [s].
CORE_RATE, GPU_RATE, GPU_START = 90.0, 7000.0, 60.0


@dataclass(frozen=True)
class Choice:
    """A device, and why."""

    device: devices.Device
    reason: str = ""
    """Empty where there was nothing to choose."""


def choose(
    given: Any, runs: int, threads: int | None, resolve: Callable[[str], devices.Device]
) -> Choice:
    """The device on which ``runs`` of a scenario or study will end first."""
    best = resolve("auto")
    if best.is_cpu:
        return Choice(best)
    cpu = resolve("cpu")
    if not _is_rigid(given):
        return Choice(cpu, "landers with joints, captures and drops run faster on cores")
    cores = devices.thread_count(threads)
    on_cpu = runs / (CORE_RATE * cores)
    on_gpu = GPU_START + runs / GPU_RATE
    said = f"{runs} landings take about {on_cpu:.0f} s on {cores} cores, {on_gpu:.0f} s on the GPU"
    return Choice(best if on_gpu < on_cpu else cpu, said)


def _is_rigid(given: Any) -> bool:
    """Whether its runs are landings of rigid bodies."""
    if isinstance(given, Study):
        from alight.motions.rigid.model import Model

        return isinstance(given.first, Model)
    return given.KIND == LANDING and not given.lander.is_tree
