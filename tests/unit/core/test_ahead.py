"""Results made ahead: in order, few at a time, errors in their turn."""

import threading

import pytest

from alight.core import ahead as module
from alight.core.ahead import MOST, WAITING, ahead


@pytest.fixture(params=[1, 3])
def threads(request, monkeypatch):
    monkeypatch.setattr(module, "thread_count", lambda: request.param)
    return request.param


def test_in_order_whoever_is_first(threads):
    """The first result is the last to be ready where there are several threads."""
    late = threading.Event()

    def make(n):
        if n == 0 and threads > 1:
            assert late.wait(10.0)
        if n == 1:
            late.set()
        return 10 * n

    assert list(ahead(make, range(200))) == [10 * n for n in range(200)]


def test_no_more_wait_than_a_few(threads):
    made = []
    found = ahead(lambda n: made.append(n), iter(range(10**9)))
    for _ in range(20):
        next(found)
    found.close()
    assert 20 <= len(made) <= 21 + (WAITING + 1) * MOST


def test_an_error_comes_in_its_turn(threads):
    def make(n):
        if n == 5:
            raise KeyError(n)
        return n

    found = ahead(make, range(100))
    assert [next(found) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(KeyError):
        next(found)
