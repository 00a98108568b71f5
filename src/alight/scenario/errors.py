"""What is wrong with a scenario: one line for each fault, with file, key, found and allowed."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from alight.core.errors import AlightError, InputError

#: Longest piece of a user's value that a message repeats.
SHOWN = 60


@dataclass(frozen=True)
class Fault:
    """One fault: the dotted key and a sentence that says what was found and what is allowed."""

    key: str
    text: str

    def __str__(self) -> str:
        return f"{self.key}: {self.text}" if self.key else self.text


class ScenarioError(InputError):
    """A scenario that cannot be used; ``problems`` holds every fault that was found."""

    def __init__(self, source: str, problems: Sequence[Fault]) -> None:
        self.source, self.problems = source, tuple(problems)
        lines = [f"{source}: {problem}" for problem in self.problems]
        head = [f"{source}: {len(lines)} problems"] if len(lines) > 1 else []
        super().__init__("\n".join(head + lines))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[str, tuple[Fault, ...]]]:
        """So that it can come back from another process."""
        return type(self), (self.source, self.problems)


def told(value: object) -> str:
    """A value of a file as a person would write it there, cut short where it is long."""
    if isinstance(value, str):
        said = '"' + value.encode("unicode_escape").decode("ascii").replace('"', '\\"') + '"'
    elif isinstance(value, bool):
        said = str(value).lower()
    elif isinstance(value, dict):
        said = "a table with " + ", ".join(map(str, value)) if value else "an empty table"
    elif isinstance(value, datetime.date | datetime.time):
        said = value.isoformat()
    elif isinstance(value, list):
        said = "[" + ", ".join(told(item) for item in value[:6]) + "]"
    else:
        said = _number(value)
    return said if len(said) <= SHOWN else said[: SHOWN - 3] + "..."


def _number(value: object) -> str:
    try:
        return repr(value)
    except ValueError:  # Python refuses to write out whole numbers of thousands of digits.
        return "a whole number of thousands of digits"


@contextmanager
def blame(source: str, key: str) -> Iterator[None]:
    """Turn any error about input into one that names the file and the ``key`` it comes from."""
    try:
        yield
    except ScenarioError:
        raise
    except AlightError as cause:
        text = " ".join(str(cause).split())
        raise ScenarioError(source, [Fault(key, text)]) from cause
