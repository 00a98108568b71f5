"""``alight doctor``: what this machine offers, and whether what Alight needs works."""

from __future__ import annotations

import os
import platform
import re
import sys
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alight.cli import screen
from alight.cli.names import complete_scenario
from alight.cli.options import Json
from alight.core.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True)
class Package:
    """A package that Alight names in its requirements."""

    name: str
    needed: str
    """Oldest version that will do; empty when any will."""
    installed: str | None
    """Version found; None when absent."""
    extra: str
    """The extra that asks for it; empty for a plain dependency."""

    @property
    def fine(self) -> bool:
        """True when it is installed and new enough."""
        return self.installed is not None and _numbers(self.installed) >= _numbers(self.needed)


@dataclass(frozen=True)
class DeviceState:
    """A device, and what a kernel found on it."""

    name: str
    label: str
    memory_bytes: int | None
    problem: str | None
    """What is wrong; None when the smoke kernel computed right."""


@dataclass(frozen=True)
class Extension:
    """A package that adds names to scenario files."""

    package: str
    version: str
    adds: tuple[str, ...]
    """Kind and name of each."""


@dataclass
class Report:
    """Everything the doctor looked at."""

    alight: str
    python: str
    platform: str
    cpu_count: int
    threads: int | None = None
    warp: str | None = None
    kernel_cache: str | None = None
    kernel_cache_bytes: int | None = None
    devices: list[DeviceState] = field(default_factory=list)
    packages: list[Package] = field(default_factory=list)
    extensions: list[Extension] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def command(
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SCENARIO]...",
            help="With --warm: files or names of shipped scenarios; all shipped ones if none.",
            autocompletion=complete_scenario,
            show_default=False,
        ),
    ] = None,
    warm: Annotated[
        bool,
        typer.Option(
            "--warm",
            help="Build tables and compile kernels of scenarios in advance, on every device.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Show devices, versions, extras and the kernel cache, and try a kernel on every device.

    The exit code is 1 when something Alight needs is broken.

    Example: alight doctor --warm ryugu_minerva
    """
    if scenarios and not warm:
        raise InputError(
            f'"{scenarios[0]}" goes with --warm only: alight doctor --warm {scenarios[0]} builds '
            "its tables and kernels in advance."
        )
    report = examine()
    if warm:
        from alight.cli import doctor_warm

        report.problems += doctor_warm.warm(scenarios or [], as_json)
    if as_json:
        screen.echo_json(asdict(report))
    else:
        _show(report)
    raise typer.Exit(1 if report.problems else 0)


def examine() -> Report:
    """Look at Python, packages and devices."""
    report = Report(
        alight=metadata.version("alight"),
        python=platform.python_version(),
        platform=platform.platform(),
        cpu_count=os.cpu_count() or 1,
        packages=packages(metadata.requires("alight") or []),
    )
    if sys.version_info < OLDEST_PYTHON:
        report.problems.append(f"Python {report.python} is too old: 3.11 or newer is needed")
    for package in report.packages:
        if not package.extra and not package.fine:
            report.problems.append(_package_problem(package))
    _examine_devices(report)
    _examine_extensions(report)
    return report


def _examine_extensions(report: Report) -> None:
    """Let packages that add names to scenario files do so."""
    try:
        from alight.core.registry import registry
        from alight.scenario import document_kinds  # noqa: F401  (shipped names come first)
    except Exception as error:
        report.problems.append(f"scenarios do not load: {error}")
        return
    added: dict[str, list[str]] = {name: [] for name in registry.packages()}
    for entry in registry.entries():
        if entry.package in added:
            added[entry.package].append(f"{entry.kind} {entry.name}")
    versions = registry.packages()
    report.extensions = [Extension(n, versions[n], tuple(names)) for n, names in added.items()]
    report.problems += registry.broken.values()


def packages(requirements: list[str]) -> list[Package]:
    """The packages behind requirement lines such as ``numpy>=1.26; extra == "dev"``."""
    found = []
    for line in requirements:
        match = re.match(r"\s*([\w.-]+)\s*(?:\[[^]]*\])?\s*(?:>=\s*([\w.]+))?", line)
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", line)
        if match is None:
            continue
        name = match[1]
        found.append(Package(name, match[2] or "", _version(name), extra[1] if extra else ""))
    return found


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: ``2.4.6rc1`` gives ``(2, 4, 6)``."""
    return tuple(int(n) for n in re.findall(r"\d+", re.split(r"[a-zA-Z+-]", version)[0]))


def _package_problem(package: Package) -> str:
    line = f'pip install "{package.name}>={package.needed}"'
    if package.installed is None:
        return f"{package.name} is not installed: run {line}"
    return f"{package.name} {package.installed} is too old: run {line}"


def _examine_devices(report: Report) -> None:
    """Start Warp and try every device; whatever goes wrong is a finding, not a crash."""
    try:
        import warp as wp

        from alight.core import devices, selftest
    except Exception as error:
        report.problems.append(f"Warp does not load: {error}")
        return
    try:
        report.threads = devices.thread_count()
    except ValueError as error:
        report.problems.append(str(error))
        return
    report.warp = wp.config.version
    try:
        found = devices.available()
    except OSError as error:
        report.problems.append(
            f'Warp cannot keep its kernels in "{error.filename}": {error.strerror}; set '
            "WARP_CACHE_PATH to a writable folder"
        )
        return
    for device in found:
        problem = selftest.problem(device)
        report.devices.append(DeviceState(device.name, device.label, device.memory, problem))
        if problem:
            report.problems.append(f"device {device.name}: {problem}")
    report.kernel_cache = wp.config.kernel_cache_dir
    report.kernel_cache_bytes = _folder_size(Path(wp.config.kernel_cache_dir))


def _folder_size(folder: Path) -> int:
    """Bytes of all files under ``folder``; files may vanish while we look."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.path.getsize(os.path.join(parent, name))
            except OSError:
                continue
    return total


# ---------------------------------------------------------------------------------------------
# What a person sees
# ---------------------------------------------------------------------------------------------


def _show(report: Report) -> None:
    console = screen.console()
    tables = [_machine_table(report), _package_table(report), _extras_table(report)]
    if report.extensions:
        rows = [(e.package, e.version, ", ".join(e.adds) or "nothing") for e in report.extensions]
        tables.append(
            screen.table(("package", "version", "adds to scenarios"), rows, title="Extensions")
        )
    for table in tables:
        console.print(table)
    if not report.problems:
        screen.lines(console, ["Everything Alight needs is working."], "green")
    screen.lines(console, (f"broken: {problem}" for problem in report.problems), "red")


def _machine_table(report: Report) -> Table:
    rows = [
        ("Alight", report.alight),
        ("Python", report.python),
        ("Platform", report.platform),
        ("CPU", f"{report.cpu_count} cores, {report.threads or '?'} threads for kernels"),
        ("Warp", report.warp or "does not load"),
    ]
    for device in report.devices:
        memory = f", {device.memory_bytes / 2**30:.0f} GiB" if device.memory_bytes else ""
        state = device.problem or "computes correctly"
        rows.append((f"Device {device.name}", f"{device.label}{memory}: {state}"))
    if report.kernel_cache is not None and report.kernel_cache_bytes is not None:
        size = f"{report.kernel_cache_bytes / 2**20:.1f} MiB"
        rows.append(("Kernel cache", f"{report.kernel_cache} ({size})"))
    return screen.table(("", ""), rows, title="This machine")


def _package_table(report: Report) -> Table:
    rows = [
        (p.name, p.installed or "absent", f">= {p.needed}" if p.needed else "any", _verdict(p))
        for p in report.packages
        if not p.extra
    ]
    return screen.table(("package", "installed", "needed", ""), rows, title="Dependencies")


def _extras_table(report: Report) -> Table:
    rows = []
    for extra in sorted({p.extra for p in report.packages if p.extra}):
        members = [p for p in report.packages if p.extra == extra]
        lacking = [p.name for p in members if not p.fine]
        if lacking:
            state = f'without {", ".join(lacking)}: pip install "alight[{extra}]"'
        else:
            state = "complete"
        rows.append((extra, ", ".join(p.name for p in members), state))
    return screen.table(("extra", "packages", ""), rows, title="Extras")


def _verdict(package: Package) -> str:
    if package.fine:
        return "fine"
    return "absent" if package.installed is None else "too old"
