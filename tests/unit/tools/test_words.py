"""Words that docs/reference/words.md asks not to use are in nothing that users read."""

import click
import typer
from tools import words

from alight.cli.main import app


def test_they_stand_nowhere():
    assert words.places() == []


def test_the_list_is_that_of_the_page():
    listed = words.unwanted()
    assert {"go on", "told", "mend", "courses", "greatest", "one's own"} <= set(listed)
    assert len(listed) == len(set(listed))


def test_a_word_is_found_over_the_end_of_a_line_and_not_within_another():
    finder = words.pattern(["go on", "course", "mend"])
    text = "It may go\n  on. Of course, recommended courses: a Course."
    assert list(words.found(text, finder)) == [(0, "go\n  on"), (1, "Course")]


SOURCE = '''
"""A module that says how it goes on."""
@wp.func
def kernel(x):
    """Left out: goes on."""
told = {"told": f"what is {told} is told"}
'''


def test_strings_of_a_module_are_read_but_those_of_kernels_and_names():
    finder = words.pattern(words.unwanted())
    hits = [w for _, text in words.strings(SOURCE) for _, w in words.found(text, finder)]
    assert hits == ["how it goes", "told"]


def _screens(command, context):
    yield command.get_help(context)
    for name, one in getattr(command, "commands", {}).items():
        yield from _screens(one, click.Context(one, info_name=name, parent=context))


def test_help_screens_have_none():
    command = typer.main.get_command(app)
    finder = words.pattern(words.unwanted())
    screens = list(_screens(command, click.Context(command, info_name="alight")))
    assert len(screens) > 20
    assert [hit for text in screens for hit in words.found(text, finder)] == []
