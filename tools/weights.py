"""What an installation weighs, package by package, and what each extra adds to it."""

from __future__ import annotations

import importlib.metadata
import pathlib
import re

from packaging.requirements import Requirement

MB = 1e6
#: Brought by every virtual environment, not by Alight.
NOT_OURS = frozenset({"pip", "setuptools", "wheel"})


def key(name: str) -> str:
    """A name of a package as all spellings of it compare."""
    return re.sub(r"[-_.]+", "-", name).lower()


def weight(package: importlib.metadata.Distribution) -> float:
    """Bytes on disk of a package, byte code left out, in MB."""
    files = [pathlib.Path(str(package.locate_file(f))) for f in package.files or []]
    return sum(f.stat().st_size for f in files if f.suffix != ".pyc" and f.is_file()) / MB


def installed(site: pathlib.Path) -> dict[str, float]:
    """Every package of an environment and its weight in MB, heaviest first."""
    found = importlib.metadata.distributions(path=[str(site)])
    weights = {key(package.name): weight(package) for package in found}
    ours = {name: heavy for name, heavy in weights.items() if name not in NOT_OURS}
    return dict(sorted(ours.items(), key=lambda pair: -pair[1]))


def brought_by(extra: str, declared: dict[str, list[str]]) -> set[str]:
    """Every package that an extra brings along, as this environment has them."""
    waiting = [Requirement(line) for line in declared[extra]]
    found: set[str] = set()
    while waiting:
        asked = waiting.pop()
        if key(asked.name) in found:
            continue
        found.add(key(asked.name))
        needs = importlib.metadata.distribution(asked.name).requires or []
        for need in map(Requirement, needs):
            marked = need.marker is None or any(
                need.marker.evaluate({"extra": name}) for name in {"", *asked.extras}
            )
            if marked:
                waiting.append(need)
    return found


def added(extra: str, declared: dict[str, list[str]], base: dict[str, float]) -> float:
    """MB that an extra adds to an installation without extras."""
    more = brought_by(extra, declared) - base.keys() - NOT_OURS
    return sum(weight(importlib.metadata.distribution(name)) for name in more)
