"""Tests wait for what must happen, not for a time: a busy machine is slow, and that is no fault."""

import pathlib
import re

TESTS = pathlib.Path(__file__).parents[1]
ROOMS = ("browser", "crosscheck", "extension", "faults", "net", "unit", "verification")

#: A limit on how long something may take, or a clock that is read to judge it.
LIMIT = re.compile(r"timeout\s*=\s*\d|\b(?:monotonic|perf_counter|time\.time)\(\)")


def test_no_test_sets_a_limit_of_time():
    found = [
        f"{path.relative_to(TESTS)}:{number}: {line.strip()}"
        for room in ROOMS
        for path in sorted((TESTS / room).rglob("*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if LIMIT.search(line) and path != pathlib.Path(__file__)
    ]
    assert not found, "\n".join(found)
