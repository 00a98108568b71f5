"""Names of scenarios, landers and bodies as files and other tools can take them.

A title may hold anything: quotes, line ends, ``<script>``, ``../``. Each kind of file has its own
letters that mean something; here is what becomes of the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape

from alight.core.text import printable

#: Longest line of a CCSDS message, and longest name that is kept of a title.
_LINE, _NAME = 254, 60
#: What XML 1.0 cannot hold, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def one_line(text: str, most: int = 200) -> str:
    """``text`` on one line, control characters written out."""
    flat = " ".join(printable(text).split())
    return flat if len(flat) <= most else flat[: most - 3] + "..."


def plain_ascii(text: str, most: int = 200) -> str:
    """``text`` on one line of printable ASCII, all else written out (CCSDS, SPICE)."""
    return one_line(one_line(text).encode("ascii", "backslashreplace").decode(), most)


def xml_text(text: str) -> str:
    """``text`` as XML content or between double quotes."""
    return escape(_NOT_XML.sub("?", text), {'"': "&quot;", "\n": " ", "\r": " "})


def file_stem(text: str, otherwise: str) -> str:
    """``text`` as the name of a file without its ending: letters, digits, ``-`` and ``_``."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_")[:_NAME].strip("_")
    return name or otherwise


def spice_name(text: str, otherwise: str, most: int = 24) -> str:
    """``text`` as SPICE spells names of bodies and frames: capitals, digits and ``_``."""
    return file_stem(text, otherwise).replace("-", "_").upper()[:most].strip("_") or otherwise


def comment_lines(prefix: str, lines: Iterable[str]) -> list[str]:
    """Lines of ASCII behind a ``prefix``, none of them longer than messages may have."""
    return [plain_ascii(f"{prefix}{line}", _LINE) for line in lines]


def distinct(names: Iterable[str], most: int = 0) -> list[str]:
    """The names, with a number behind those that came before; ``most`` characters long if given."""
    seen: set[str] = set()
    found = []
    for name in names:
        given, count = name, 1
        while name in seen:
            count += 1
            tail = f"_{count}"
            name = (given[: most - len(tail)] if most else given) + tail
        seen.add(name)
        found.append(name)
    return found
