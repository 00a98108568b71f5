"""Commands that take long say what they do from the first second on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from alight.core.compile_notice import reported
from alight.core.stages import stage


def speaking(title: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command within which stages, bars and compilers speak; with ``--json`` nothing does.

    ``title`` is what is said while nothing else is known: imports, first reading.
    """

    def made(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def spoken(*args: Any, **options: Any) -> None:
            with reported("silent" if options.get("as_json") else "auto"), stage(title):
                command(*args, **options)

        return spoken

    return made
