"""Ctrl-C reaches the loop that asks for it, wherever it was raised."""

import signal
import sys
import threading

import pytest

from alight.core.interrupts import interrupts


@pytest.fixture(autouse=True)
def heard():
    """Ctrl-C raises KeyboardInterrupt; where tests run in a shell's background it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Deaf:
    """Interrupted while it is being deleted: Python prints that and continues."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


class Broken:
    """Anything else that goes wrong while it is being deleted is reported as ever."""

    def __del__(self):
        raise ValueError


def test_what_a_destructor_swallows_is_raised_once_and_not_printed(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    with interrupts() as check:
        check()
        one, other = Deaf(), Broken()
        del one
        assert not told
        with pytest.raises(KeyboardInterrupt):
            check()
        check()
        del other
    assert [what.exc_type for what in told] == [ValueError]
    assert sys.unraisablehook == told.append


def test_at_once_where_nothing_swallows_it():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), interrupts():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_and_ignored_signals_are_left_alone():
    seen = []

    def look():
        before = signal.getsignal(signal.SIGINT)
        with interrupts() as check:
            check()
            seen.append(signal.getsignal(signal.SIGINT) is before)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    old = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        look()
        signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, old)
    assert seen == [True, True]
