"""What a person names on the command line: scenarios, and how shells complete names.

A shell asks for names each time Tab is pressed, so completion reads the catalogues' files and
loads neither NumPy nor Warp. Where no name fits, shells complete file names.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alight.core import files
from alight.core.errors import InputError
from alight.core.paths import user_path
from alight.core.text import printable

if TYPE_CHECKING:
    from alight.scenario.document import Document

# Longest first line of a scenario that is shown [bytes].
_LONGEST = 1000

#: Stands for a scenario that comes from standard input.
STDIN = "-"


def scenario_of(given: str) -> Document:
    """The scenario in a file, on standard input (``-``), or of a shipped one's name.

    A file goes before a shipped scenario of the same name; a folder does not.
    """
    from alight import scenario
    from alight.scenario import shipped_scenarios

    if given == STDIN:
        return scenario.loads(_standard_input(), source="standard input")
    if _is_name(given) and (os.path.isdir(given) or not os.path.lexists(given)):
        if given in shipped_scenarios.shipped():
            return scenario.load(shipped_scenarios.find(given).path)
        if not _is_near(given):
            shipped_scenarios.find(given)  # which says what is known
    return scenario.load(given)


def _is_name(given: str) -> bool:
    """True for a plain word, which may be a shipped scenario's name."""
    return bool(given) and given == Path(given).name and not Path(given).suffix


def _is_near(given: str) -> bool:
    """True where the word is that of a file here, but for its ending."""
    return any(path.stem == given for path in Path().glob("*.toml"))


def _standard_input() -> str:
    """All of standard input, up to the size of a scenario."""
    from alight.scenario.reader import text_of
    from alight.scenario.shipped_scenarios import MOST_BYTES

    who = "standard input"
    return text_of(files.read_stream(sys.stdin.buffer, MOST_BYTES, who), who)


# -- completion -----------------------------------------------------------------------------------


def complete_scenario(incomplete: str) -> list[tuple[str, str]]:
    """Shipped scenarios whose name begins so, and what each shows."""
    folder = os.environ.get("ALIGHT_SCENARIOS") or str(_data("scenario", "shipped"))
    found = sorted(Path(folder).glob("*.toml"))
    return _beginning(((file.stem, _first_line(file)) for file in found), incomplete)


def complete_body(incomplete: str) -> list[tuple[str, str]]:
    """Bodies of the catalogue whose name begins so."""
    return _beginning(_entries("bodies.toml"), incomplete)


def complete_lander(incomplete: str) -> list[tuple[str, str]]:
    """Landers of the catalogue whose name begins so."""
    return _beginning(_entries("landers.toml"), incomplete)


def _beginning(entries: Iterable[tuple[str, str]], start: str) -> list[tuple[str, str]]:
    """Names that begin with ``start`` in any letter case, and their help."""
    return [entry for entry in entries if entry[0].lower().startswith(start.lower())]


def _entries(file: str) -> list[tuple[str, str]]:
    """Names as they are typed, without blanks and in small letters, and designations."""
    tables = tomllib.loads(_data("scenario", "data", file).read_text("utf-8"))
    return [
        (str(table["name"]).lower().replace(" ", "-"), str(table.get("designation", "")))
        for table in tables.values()
    ]


def _data(*parts: str) -> Any:
    """A file of the package; its rooms are not imported."""
    return resources.files("alight").joinpath(*parts)


def _first_line(file: Path) -> str:
    """What a scenario's first comment says."""
    try:
        with files.opened(file, "the scenario") as lines:
            line = lines.readline(_LONGEST).decode("utf-8", "replace")
            return printable(line.lstrip("# ").strip())
    except OSError:
        return ""


def page_path(out: str) -> Path:
    """The page that ``--out`` names: a .html file, or a folder."""
    path = user_path(out, "--out")
    if not out.strip() or (
        path.suffix and path.suffix.lower() not in (".html", ".htm") and not path.is_dir()
    ):
        raise InputError(f'--out "{out}": name a file that ends in .html, or a folder.')
    return path
