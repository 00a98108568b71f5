"""Writing TOML: the few kinds of values that a scenario holds."""

from __future__ import annotations

import math
import re
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def dumps(table: dict[str, Any]) -> str:
    """The text of a TOML file that reads back to ``table``."""
    return "\n".join(_lines(table, ())).strip() + "\n"


def _lines(table: dict[str, Any], path: tuple[str, ...]) -> list[str]:
    """Values first, then sub-tables and lists of them; a dispersion stays on one line."""
    flat = path == ("dispersions",)
    values = {k: v for k, v in table.items() if flat or not _holds_tables(v)}
    lines = [f"{_key(k)} = {_value(v)}" for k, v in values.items()]
    if path and (lines or not table):
        lines.insert(0, f"[{'.'.join(map(_key, path))}]")
    if lines:
        lines.append("")
    for name, inner in table.items():
        if isinstance(inner, dict) and name not in values:
            lines += _lines(inner, (*path, name))
        elif name not in values:
            for one in inner:
                head = ".".join(map(_key, (*path, name)))
                lines += [f"[[{head}]]", *(f"{_key(k)} = {_value(v)}" for k, v in one.items()), ""]
    return lines


def _holds_tables(value: Any) -> bool:
    many = isinstance(value, list) and bool(value)
    return isinstance(value, dict) or (many and all(isinstance(v, dict) for v in value))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, float):
        return _float(value)
    return str(value)


def _float(value: float) -> str:
    """The shortest text that reads back to the same bits."""
    if math.isinf(value) or math.isnan(value):
        return str(float(value)).replace("Infinity", "inf")
    return repr(float(value))


def _text(value: str) -> str:
    def one(c: str) -> str:
        return _ESCAPES.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else c)

    return '"' + "".join(map(one, value)) + '"'
