"""docs/reference/installation.md: Pythons that were tried, and what an installation weighs."""

from __future__ import annotations

from dataclasses import dataclass

from tools import packaging_checks as package
from tools import weights

PAGE = package.ROOT / "docs" / "reference" / "installation.md"
#: Packages lighter than this are summed in one row.
LIGHT = 8.0

#: What each heavy package is for: why it is not an extra.
FOR = {
    "warp-lang": "every kernel, on CPU and GPU; it carries its own compiler",
    "pyarrow": "tables of campaigns (Parquet)",
    "scipy": "root finding, trees, statistics of reports",
    "numpy": "arrays everywhere",
    "matplotlib": "figures and reports",
    "fonttools": "needed by matplotlib",
    "pillow": "pictures",
    "pygments": "needed by rich",
    "alight": "this package",
}

HEAD = """# Installation

```sh
pip install .               # from the root of the source tree, without extras
pip install '.[film,spice]' # with extras
alight doctor               # devices, versions, extras, kernel cache
```

`recipe/meta.yaml` is a recipe for conda (`conda build -c conda-forge recipe`). Nothing is compiled
when Alight is installed; kernels are compiled when they are first used, and kept.

This page is written by `make release-check`, which builds sdist and wheel, installs the wheel
without extras into an empty environment of each Python below, and there, from an empty folder,
runs a shipped scenario and a campaign and writes its report.

Last written on **{date}**, for version {version}.

## Python

Stated: {stated}. Tried: {tried}.
"""

NEEDED = """Every one of them is used by `run`, `campaign` and `report`: no heavy part serves few.
Warp is nearly half, with a compiler for CPUs and what GPUs need."""

EXTRAS = """
## Extras

What only some need is installed only when asked for; a command that needs an extra says in one line
which one. Sizes are what the extra adds to the packages above.

| extra | brings | MB |
|---|---|---:|
"""


@dataclass
class Tried:
    """One Python that a wheel was installed into."""

    version: str
    machine: str
    weights: dict[str, float]
    """Every package, in MB."""


def write(tried: list[Tried], extras: dict[str, float | None], date: str) -> None:
    """Write the page."""
    PAGE.write_text(text(tried, extras, date), "utf-8")


def text(tried: list[Tried], extras: dict[str, float | None], date: str) -> str:
    """The page."""
    named = ", ".join(f"{one.version} ({one.machine})" for one in tried)
    head = HEAD.format(
        date=date,
        version=package.version(),
        stated=package.project()["requires-python"],
        tried=named,
    )
    return head + _sizes(tried[0]) + EXTRAS + _extras(extras)


def _sizes(tried: Tried) -> str:
    heavy = {name: mb for name, mb in tried.weights.items() if mb >= LIGHT or name == "alight"}
    light = {name: mb for name, mb in tried.weights.items() if name not in heavy}
    whole = sum(tried.weights.values())
    lines = [
        "\n## Size\n",
        f"An installation without extras weighs **{whole:.0f} MB** on Python {tried.version}"
        f" ({tried.machine}), byte code left out:\n",
        "| package | for | MB |\n|---|---|---:|",
    ]
    lines += [f"| {name} | {FOR.get(name, '')} | {mb:.0f} |" for name, mb in heavy.items()]
    lines.append(
        f"| {len(light)} others | {', '.join(sorted(light))} | {sum(light.values()):.0f} |"
    )
    lines.append(f"\n{NEEDED}")
    return "\n".join(lines) + "\n"


def _extras(extras: dict[str, float | None]) -> str:
    declared = package.project()["optional-dependencies"]
    lines = []
    for name, mb in sorted(extras.items()):
        brings = ", ".join(weights.key(line.partition(">")[0]) for line in declared[name])
        lines.append(f"| `{name}` | {brings} | {'not measured' if mb is None else f'{mb:.0f}'} |")
    return "\n".join(lines) + "\n"
