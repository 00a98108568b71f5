"""The scenarios that come with Alight: names, files, and what the two lines on top say."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from alight.core.errors import FileError, InputError, did_you_mean
from alight.core.files import read_bounded

#: Largest scenario file [bytes]: a person's text is far smaller.
MOST_BYTES = 4_000_000

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
    try:
        text = read_bounded(file, MOST_BYTES, "the scenario").decode("utf-8", "replace")
    except FileError as cause:  # it is listed with what is wrong with it, as the others are
        return cause.reason
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# ").strip())
    return " ".join(lines[:2])
