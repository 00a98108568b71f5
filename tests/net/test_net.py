"""Results stay what they are, to the last bit, unless a change is meant to change them."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

from recorded import cases, differences, known, result_of, stamp

KNOWN = known()
#: A rigid lander, legs, and random landers on a plane: with kernels that other tests need too.
QUICK = ("ryugu_minerva", "paper002_landing", "random, flat")
CASES = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.validate) for name in cases()
]


@pytest.mark.parametrize("name", CASES)
def test_bits_are_those_recorded(name):
    if stamp() != KNOWN["stamp"]:
        pytest.skip(f"no record of {stamp()}, which bits may depend on")
    assert name in KNOWN["cases"], f'not recorded: python tests/net/recorded.py "{name}"'
    assert differences(KNOWN["cases"][name], result_of(name)) == []


def test_differences_are_seen():
    """One bit in one value of one column."""
    from recorded import column

    one = {"runs": {"a": column([1.0, 2.0]), "b": column([3])}}
    assert differences(one, one) == []
    other = {"runs": {"a": column([1.0, 2.0 + 4e-16]), "b": column([3])}, "contacts": {}}
    said = differences(one, other)
    assert said[0] == "contacts: new"
    assert said[1].startswith("runs, a: was 2 float64")
    assert len(said) == 2
