"""Which public classes and functions take numbers and say nowhere in what unit.

Read are annotations of parameters and fields, and every docstring of a class or function: its own,
those of its fields and methods. A unit stands in brackets, ``[m/s]``.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from tools.public_names import ROOMS, public_names

_UNITS = "m|cm|mm|km|s|min|h|kg|rad|deg|N|J|Hz|K|AU|bytes|pixels"
#: A unit in brackets, alone or in a product: ``[m/s^2]``, ``[1/m]``, ``[kg m^2]``, ``(n, 3) [m]``.
_STATED = re.compile(rf"(?<!\w)\[(?:1/)?(?:{_UNITS})(?:\^\d)?(?:[ /](?:{_UNITS}|\d)[^\]\n]*)?\]")
_NUMBERS = re.compile(r"\bfloat\b|Array\b|ArrayLike|ndarray|_array_like")


def takes_numbers(thing: Any) -> bool:
    """Whether a class or function has parameters that are real numbers or arrays."""
    try:
        given = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):  # a class without a signature, such as an error
        return False
    return any(_NUMBERS.search(str(one.annotation)) for one in given)


def states_a_unit(thing: Any) -> bool:
    """Whether a docstring in the source of a class or function has a unit."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    alone = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    texts = [one.value for one in alone if isinstance(one, ast.Constant)]
    return any(_STATED.search(text) for text in texts if isinstance(text, str))


def without_unit() -> Iterator[str]:
    """Public classes and functions that take numbers and state no unit, once each."""
    seen = set()
    for room in ROOMS:
        for name, thing in public_names(room).items():
            if not (inspect.isclass(thing) or inspect.isfunction(thing)) or thing in seen:
                continue
            seen.add(thing)
            if takes_numbers(thing) and not states_a_unit(thing):
                yield f"{room}.{name}"
