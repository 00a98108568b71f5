"""Help screens: flags are written ``--flag / --no-flag``, and a bare group prints its help.

Typer prints the type of every option, ``<bool>`` for flags, and puts the two names of a switch into
columns of their own. The classes here change what is shown, and nothing of what is parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


@contextmanager
def flags_as_written(params: Iterable[Any]) -> Iterator[None]:
    """Within, flags have no type, and a switch has one name: ``--page / --no-page``."""
    flags = [one for one in params if getattr(one, "is_flag", False)]
    kept = [(one, one.opts, one.secondary_opts, one.metavar) for one in flags]
    for one in flags:
        one.metavar = ""
        if one.secondary_opts:
            one.opts = [" / ".join([*one.opts, *one.secondary_opts])]
            one.secondary_opts = []
    try:
        yield
    finally:
        for one, opts, secondary, metavar in kept:
            one.opts, one.secondary_opts, one.metavar = opts, secondary, metavar


class Command(TyperCommand):
    """A command with the help screens of Alight."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        with flags_as_written(self.get_params(ctx)):
            super().format_help(ctx, formatter)


class Group(TyperGroup):
    """A group of commands with the help screens of Alight."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        with flags_as_written(self.get_params(ctx)):
            super().format_help(ctx, formatter)


class Application(typer.Typer):
    """A Typer application of such commands; without arguments it prints its help."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"cls": Group, "no_args_is_help": True, **settings})

    def command(self, name: str | None = None, **settings: Any) -> Callable[..., Any]:
        """Add a command."""
        return super().command(name, **{"cls": Command, **settings})
