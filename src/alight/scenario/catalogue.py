"""The scenarios that come with Alight: names, files, and what the two lines on top say."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from alight.core.errors import InputError, did_you_mean

#: Names a folder of scenarios to use instead of the package's own.
VARIABLE = "ALIGHT_SCENARIOS"


@dataclass(frozen=True)
class Shipped:
    """A scenario that comes with Alight."""

    name: str
    path: Path
    about: str
    """What it shows: the comment at its top."""


def folder() -> Path:
    """The folder of shipped scenarios."""
    given = os.environ.get(VARIABLE)
    return Path(given) if given else Path(__file__).parent / "shipped"


def shipped() -> dict[str, Shipped]:
    """Every shipped scenario by its name; none where the folder is not there."""
    files = sorted(folder().glob("*.toml")) if folder().is_dir() else []
    return {f.stem: Shipped(f.stem, f, _about(f)) for f in files}


def find(name: str) -> Shipped:
    """The shipped scenario of that name."""
    known = shipped()
    plain = name.removesuffix(".toml")
    if plain in known:
        return known[plain]
    listed = ", ".join(known) or f"none: there is no folder {folder()}"
    raise InputError(f'unknown scenario "{name}".{did_you_mean(plain, known)} Known: {listed}.')


def _about(file: Path) -> str:
    lines = []
    for line in file.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# ").strip())
    return " ".join(lines[:2])
