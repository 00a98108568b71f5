"""Stages: nobody waits in silence, the innermost speaks, and where none listens nothing is written.

No test waits for a time: a stage lasts until a line has come.
"""

import io
import time

import pytest

from alight.core import progress, stages
from alight.core.compile_notice import reported
from alight.core.progress import Plain
from alight.core.stages import stage


class Heard:
    """What was written to standard error so far."""

    def __init__(self, capsys):
        self._capsys, self._text = capsys, ""

    def getvalue(self):
        self._text += self._capsys.readouterr().err
        return self._text


@pytest.fixture
def eager(monkeypatch, capsys):
    """Lines come at once."""
    monkeypatch.setattr(stages, "LONGEST", 0.0)
    monkeypatch.setattr(stages, "TICK", 0.01)
    return Heard(capsys)


def wait_for(holds):
    while not holds():
        time.sleep(0.005)


def test_a_line_says_what_is_done_and_how_far(eager):
    with reported("text"), stage("Computing light", 40) as now:
        now.advance(10)
        wait_for(lambda: "Computing light: 10/40 (25 %), " in eager.getvalue())


def test_the_innermost_speaks(eager):
    with reported("text"), stage("Outer"):
        with stage("Inner"):
            wait_for(lambda: "Inner: " in eager.getvalue())
            before = eager.getvalue().count("Outer")
            lines = eager.getvalue().count("Inner")
            wait_for(lambda: eager.getvalue().count("Inner") > lines + 3)
            assert eager.getvalue().count("Outer") == before
        # The title of what surrounds all stages is of how it begins.
        wait_for(lambda: f"{stages.LATER}: " in eager.getvalue())
        assert eager.getvalue().count("Outer") == before


def test_nothing_is_written_where_none_listens(eager):
    with stage("Alone"):
        assert not stages._open
    with reported("silent"), stage("Asked to be silent"):
        assert not stages._open
    assert eager.getvalue() == ""


def test_a_stage_holds_its_tongue_while_a_bar_shows(eager):
    """And speaks again when the bar is gone."""
    with reported("text"), stage("Working"):
        with Plain(io.StringIO()) as bar:
            bar.start("Drawing", total=3)
            assert progress.showing()
            assert progress.silence() == 0.0
        assert not progress.showing()
        wait_for(lambda: "Working" in eager.getvalue())


def test_an_error_ends_a_stage(eager):
    with pytest.raises(ValueError, match="broken"), reported("text"), stage("Working"):
        raise ValueError("broken")
    assert not stages._open


def test_lines_of_a_bar_come_while_nothing_advances():
    """A single item may take long: a thread writes what is due."""
    out = io.StringIO()
    with Plain(out, interval=0.0) as bar:
        bar.start("Building", total=2)
        wait_for(lambda: out.getvalue().count("Building: 0/2 (0 %)") >= 2)
    assert "elapsed" in out.getvalue()
