"""Faults that are put into a file: what they become, and what is left alone."""

import ast
import pathlib

import pytest
from tools.mutations import mutations


def becomes(text):
    return {m.apply(text) for m in mutations(text)}


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("x = a + b", {"x = a - b", "x = 1.01 * (a + b)"}),
        ("return_ = f(2.5)", {"return_ = f((2.5 * 1.01))"}),
        (
            "n = f(3, 0.0, True)",
            {"n = f(4, 0.0, True)", "n = f(3, 1.0, True)", "n = f(3, 0.0, False)"},
        ),
        ("if a < b:\n    pass", {"if a <= b:\n    pass", "if not (a < b):\n    pass"}),
        ("y = min(-a, b)", {"y = max(-a, b)", "y = min(a, b)"}),
        ("p = a is not None and b", {"p = a is None and b", "p = a is not None or b"}),
        ("total += f(x)", {"pass"}),
        ("write(x)", {"pass"}),
        ('s = "a" + f"{x + 1}"', set()),
        ("é = a * b", {"é = a / b", "é = 1.01 * (a * b)"}),
    ],
)
def test_faults(text, faults):
    assert becomes(text) == faults


def test_text_types_and_messages_are_left_alone():
    text = '''"""Says 1 + 1."""
def f(x: "int | 3") -> int:
    """Says 2 + 2."""
    raise ValueError(f"{x + 1} is over {3 * 4}")
'''
    assert mutations(text) == []


def test_every_fault_is_a_program_and_names_its_line():
    text = pathlib.Path(mutations.__code__.co_filename).read_text("utf-8")
    found = mutations(text)
    assert len(found) > 50
    for fault in found:
        ast.parse(fault.apply(text))
        line = text.splitlines()[fault.line - 1]
        assert fault.describe(text) != f"{fault.line}: {line.strip()}"
