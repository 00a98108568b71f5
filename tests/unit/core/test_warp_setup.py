"""Warp as Alight sets it up."""

import ast
import threading
import time

import warp as wp

from alight.core.types import scalar


def made():
    @wp.func
    def law(x: scalar):
        return x * x + scalar(1.0)

    return law


def test_functions_are_read_by_one_thread_at_a_time(monkeypatch):
    """Two at once end with "AST constructor recursion depth mismatch" now and then."""
    inside, most = [], []
    parse = ast.parse

    def noted(*given, **options):
        inside.append(1)
        most.append(len(inside))
        time.sleep(1e-3)  # Python's lock is free meanwhile
        found = parse(*given, **options)
        inside.pop()
        return found

    monkeypatch.setattr(ast, "parse", noted)
    threads = [threading.Thread(target=made) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert most
    assert max(most) == 1
