"""What a figure was measured on, in words: models and versions, no names of hosts or people."""

import datetime
import os
import pathlib
import platform
from importlib import metadata

from alight.core.devices import Device

#: Named where they are installed: a source tree on the path will do to run them.
PACKAGES = ("alight", "numpy", "warp-lang", "polyhedral-gravity", "coal", "pin", "mujoco",
            "mujoco-warp")  # fmt: skip


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
    found += [f"{name} {version(name)}" for name in PACKAGES if version(name)]
    return f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}: " + ", ".join(found)


def version(name: str) -> str:
    """The version of a package; nothing where it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
