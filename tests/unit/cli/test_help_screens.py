"""Help: flags carry no type, switches are ``--flag / --no-flag``, bare groups print their help."""

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from alight.cli.main import app


def commands():
    """Words after ``alight`` of every command and group."""
    groups = [((), get_command(app))]
    for words, group in groups:
        yield words
        for name, command in sorted(getattr(group, "commands", {}).items()):
            groups.append(((*words, name), command))


def invoke(*words):
    return CliRunner().invoke(app, words, env={"COLUMNS": "120", "TERM": "dumb"})


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_flags_carry_no_type(words):
    done = invoke(*words, "--help")
    assert done.exit_code == 0
    assert "--help" in done.output
    assert "bool" not in done.output.lower()


def test_a_switch_is_written_as_one():
    """And read as two names, before and after its help was printed."""
    help_screen = invoke("compare", "--help").output
    assert "--page / --no-page" in help_screen
    assert "True" not in help_screen
    for name in ("--page", "--no-page"):
        refused = invoke("compare", name, "no/such/folder", "--json")
        assert "No such option" not in refused.output


@pytest.mark.parametrize("group", ["scenario", "bench"])
def test_a_bare_group_prints_its_help(group):
    bare, asked = invoke(group), invoke(group, "--help")
    assert bare.output.strip() == asked.output.strip()
    assert "Commands" in bare.output
    assert bare.exit_code == invoke().exit_code
