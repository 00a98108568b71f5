"""What a figure was measured on, in words: models and versions, no names of hosts or people."""

import datetime
import os
import pathlib
import platform
from importlib import metadata

from alight.core.devices import Device

#: Named where they are installed: a source tree on the path will do to run them.
PACKAGES = ("alight", "numpy", "warp-lang", "polyhedral-gravity", "coal", "pin")


def label(device: Device) -> str:
    """The machine in a line, such as ``AMD EPYC 9654, 2 cores, NVIDIA H200``."""
    parts = [cpu_model(), f"{len(os.sched_getaffinity(0))} cores"]
    return ", ".join(parts + ([device.label] if device.is_gpu else []))


def cpu_model() -> str:
    """The processor's model name."""
    info = pathlib.Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def versions() -> str:
    """The day, and the versions of what was run."""
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}: " + ", ".join(found)
