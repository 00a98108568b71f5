"""Short HTML for notebooks: a title and a few facts, escaped, with nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

#: Characters of a value, at most: a notebook shows a summary, not a file.
LONGEST = 300


def facts_html(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A small table of names and values below a title."""
    body = "".join(
        f'<tr><th style="text-align:left;font-weight:normal;opacity:0.7">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(_short(value))}</td></tr>'
        for name, value in rows
    )
    return f"<div><strong>{escape(_short(title))}</strong><table>{body}</table></div>"


def in_short(table: Mapping[str, Any]) -> str:
    """The values of a table on one line; of tables and long lists in it how many entries."""
    told = []
    for key, value in table.items():
        inner = isinstance(value, Mapping) or (isinstance(value, list) and len(str(value)) > 60)
        told.append(f"{key} ({len(value)} entries)" if inner else f"{key} {value}")
    return ", ".join(told)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
