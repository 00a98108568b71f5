"""What to say of a file that is no TOML: the line that is wrong, and how it is written."""

from __future__ import annotations

import re

from alight.scenario.errors import told

_LINE = re.compile(r" \(at line (\d+), column \d+\)")
_PAIR = re.compile(r"([\w.\"-]+)\s*=\s*(.*?)\s*(?:#.*)?")
_NUMBER = re.compile(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?\s*[A-Za-zµ°%].*")
_TWICE = re.compile(r"Cannot declare \((.*)\) twice")


def what_is_wrong(cause: str, text: str) -> str:
    """A sentence about an error of ``tomllib`` in ``text``."""
    match = _LINE.search(cause)
    if match is None:
        last = f"at the end, line {text.count(chr(10)) + 1}"
        said = cause[:1].lower() + cause[1:]
        return f"is not valid TOML: {said.replace('at end of document', last)}"
    number = int(match.group(1))
    line = text.splitlines()[number - 1].strip() if text.strip() else ""
    said, fix = _said(_LINE.sub("", cause), line)
    return f"is not valid TOML: line {number}, {told(line)}: {said}{fix}"


def _said(cause: str, line: str) -> tuple[str, str]:
    """What is wrong with a line, and how to fix it."""
    pair = _PAIR.fullmatch(line)
    key, value = pair.groups() if pair else ("", "")
    if cause == "Cannot overwrite a value" and key:
        return f"the key {key} is given twice in its table", "; keep one of them"
    if twice := _TWICE.match(cause):
        name = ".".join(re.findall(r"'([^']*)'", twice.group(1)))
        return f"the table [{name}] appears twice", "; put all its keys below one of them"
    if _NUMBER.fullmatch(value):
        return "a number with its unit must be in quotes", f': {key} = "{value}"'
    if value.startswith("[") and '"' not in value and re.search(r"\d\s*[A-Za-z]", value):
        return "numbers with units must be in quotes", ', each of them: ["1 m", "2 m"]'
    if re.fullmatch(r"[A-Za-z][\w -]*", value):
        return "text must be in quotes", f': {key} = "{value}"'
    if value.count('"') % 2:
        return "a quote is missing", "; text begins and ends with one"
    return cause[:1].lower() + cause[1:], ""
