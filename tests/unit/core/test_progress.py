"""Progress: nothing, lines that are rare and right, or a bar."""

import io

import pytest

from alight.core.errors import InputError
from alight.core.progress import Plain, Rich, Silent, duration, progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_kind_follows_the_stream():
    assert isinstance(progress("auto", Terminal()), Rich)
    assert isinstance(progress("auto", io.StringIO()), Plain)
    assert isinstance(progress("silent", Terminal()), Silent)
    assert isinstance(progress("text", Terminal()), Plain)
    assert isinstance(progress("rich", io.StringIO()), Rich)


def test_a_progress_is_passed_on():
    bar = Silent()
    assert progress(bar) is bar


def test_unknown_kind_is_refused():
    with pytest.raises(InputError, match='Did you mean "silent"'):
        progress("silnt")


def test_silent_says_nothing(capfd):
    with progress("silent") as bar:
        bar.start("Building", total=3)
        bar.advance(3, settled=1)
    assert capfd.readouterr() == ("", "")


def test_text_gives_rate_and_time_left():
    out, clock = io.StringIO(), Clock()
    with Plain(out, interval=5.0, clock=clock) as bar:
        bar.start("Building", total=500)
        for _ in range(11):
            clock.now += 1.0
            bar.advance(20, settled=3, lost=0)
    # A line after 1 s, then every 5 s, none between, and one at the end.
    assert out.getvalue().splitlines() == [
        "Building: 20/500 (4 %), 20/s, 24.0 s left, settled 3, lost 0",
        "Building: 120/500 (24 %), 20/s, 19.0 s left, settled 3, lost 0",
        "Building: 220/500 (44 %), 20/s, 14.0 s left, settled 3, lost 0",
        "Building: 220/500 (44 %), 20/s, done in 11.0 s, settled 3, lost 0",
    ]


def test_text_without_a_total_and_with_stages():
    out, clock = io.StringIO(), Clock()
    with Plain(out, clock=clock) as bar:
        bar.start("Reading")
        clock.now += 2.0
        bar.advance(4, rows=9)
        bar.start("Checking", total=1)
    assert out.getvalue().splitlines() == [
        "Reading: 4, 2/s, rows 9",
        "Reading: 4, 2/s, done in 2.0 s, rows 9",
        "Checking: 0/1 (0 %), done in 0.0 s",
    ]


def test_text_reports_how_far_failed_work_came():
    out, clock = io.StringIO(), Clock()

    def interrupted():
        with Plain(out, clock=clock) as bar:
            bar.start("Building", total=10)
            bar.advance(3)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert out.getvalue() == "Building: 3/10 (30 %), done in 0.0 s\n"


def test_rich_draws_a_bar_and_leaves_brackets_alone():
    out = Terminal()
    with progress("rich", out) as bar:
        bar.start("Field [m/s]", total=4)
        bar.advance(4, worst="[red]1e-5[/red]")
    shown = out.getvalue()
    assert "Field [m/s]" in shown
    assert "4/4" in shown
    assert "worst [red]1e-5[/red]" in shown


@pytest.mark.parametrize("kind", ["text", "rich"])
def test_advance_needs_a_stage(kind):
    with pytest.raises(RuntimeError, match="start"), progress(kind, io.StringIO()) as bar:
        bar.advance()


def test_durations():
    assert [duration(s) for s in (0, 4.24, 99.9, 99.97, 200, 3599.6, 7530)] == [
        "0.0 s",
        "4.2 s",
        "99.9 s",
        "1 min 40 s",
        "3 min 20 s",
        "1 h 0 min",
        "2 h 5 min",
    ]
