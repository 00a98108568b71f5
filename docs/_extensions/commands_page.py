"""``docs/reference/commands.md``: every command with its arguments and options, from Typer.

Written when the site is built. It is what ``alight COMMAND --help`` prints; ``command_line.md``
says how commands are used.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from alight.cli.main import app as command_line

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HEAD = """# Commands and options

Every command with its arguments and options, as `alight COMMAND --help` prints them.
[The command line](command_line.md) has examples, exit codes and what each command prints.
"""


def text() -> str:
    """The page."""
    parts = [HEAD]
    for path, command in _commands("alight", typer.main.get_command(command_line)):
        parts += _part(path, command)
    return "\n".join(parts).rstrip() + "\n"


def _commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Commands in the order of the help, those of groups after the group."""
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name, inner in command.commands.items():
        yield from _commands(f"{path} {name}", inner)


def _part(path: str, command: Any) -> list[str]:
    parameters = [one for one in command.params if not getattr(one, "hidden", False)]
    arguments = [one for one in parameters if one.param_type_name == "argument"]
    options = [one for one in parameters if one.param_type_name == "option"]
    usage = " ".join([path, *(_argument(one) for one in arguments)])
    lines = [f"## `{path}`\n", f"```text\n{usage}{' [OPTIONS]' if options else ''}\n```\n"]
    lines += [_prose(command.help or "") + "\n"]
    rows = [_row(one) for one in [*arguments, *options] if one.name != "help"]
    if rows:
        lines += ["| | default | |\n|---|---|---|\n" + "\n".join(rows) + "\n"]
    return lines


def _argument(one: Any) -> str:
    name = (one.metavar or one.name).upper() + ("..." if one.nargs == -1 else "")
    return name if one.required else f"[{name}]"


def _row(one: Any) -> str:
    if one.param_type_name == "argument":
        name = f"`{_argument(one)}`"
    else:
        spelled = [*one.opts, *one.secondary_opts]
        name = ", ".join(f"`{word}`" for word in spelled)
        if not one.is_flag:
            name += f" {one.metavar or one.name.upper()}"
    default = "**required**" if one.required else _default(one)
    return f"| {name} | {default} | {_cell(one.help or '')} |"


def _default(one: Any) -> str:
    value = one.default
    if one.param_type_name == "option" and one.is_flag and not one.secondary_opts:
        return ""
    if value is None or value == () or value == []:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"`{value}`"


def _prose(text: str) -> str:
    """Help as it stands; its examples are one block."""
    paragraphs = re.split(r"\n{2,}", inspect.cleandoc(text.replace("\b", "").replace("\f", "\n\n")))
    examples = [one.removeprefix("Example: ") for one in paragraphs if one.startswith("Example: ")]
    said = [one for one in paragraphs if not one.startswith("Example: ")]
    block = ["```sh\n" + "\n".join(examples) + "\n```"] if examples else []
    return "\n\n".join([*said, *block])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def write_page(app: Sphinx) -> None:
    """Write the page if it has changed."""
    file, made = Path(app.srcdir) / "reference" / "commands.md", text()
    if not file.is_file() or file.read_text("utf-8") != made:
        file.write_text(made, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
