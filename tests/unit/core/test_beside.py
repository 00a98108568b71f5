"""Work in a copy of the process: its result, its errors, its end."""

import os
import time

import pytest

from alight.core import devices
from alight.core.beside import Beside, can_copy
from alight.core.errors import InputError


@pytest.fixture(params=["1", "2"])
def threads(request, monkeypatch):
    monkeypatch.setenv("ALIGHT_THREADS", request.param)
    return devices.thread_count()


def test_what_the_work_returned(threads):
    with Beside(lambda: (os.getpid(), "x" * 300_000)) as one:
        process, text = one.result()
    assert len(text) == 300_000  # more than a pipe holds
    assert (process == os.getpid()) == (threads == 1 or not can_copy())


def test_what_it_raised_is_raised_here(threads):
    def work():
        raise InputError("no ground")

    with Beside(work) as one, pytest.raises(InputError, match="no ground"):
        one.result()


@pytest.mark.skipif(not can_copy() or devices.thread_count() == 1, reason="no copy is made here")
def test_a_copy_that_is_killed_is_told_of():
    with Beside(lambda: os._exit(3)) as one, pytest.raises(RuntimeError, match="code 3"):
        one.result()


@pytest.mark.skipif(not can_copy() or devices.thread_count() == 1, reason="no copy is made here")
def test_left_early_it_is_ended():
    with Beside(lambda: time.sleep(600)) as one:
        process = one._process
    assert not process.is_alive()
