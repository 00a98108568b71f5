"""How much effort a compiler makes: kernels are compiled quickly first, in full once it pays.

Optimising a kernel of the engine in full takes longer than most single runs. On a CPU a kernel is
therefore compiled quickly at first, unless its optimised code is kept from an earlier start, and
in full once it has run for so long that this pays (``LONG``). Both give the same bits, so no result
depends on which of them ran, or when.

The environment variable ``ALIGHT_COMPILER`` may be ``full`` (at once; benchmarks) or ``quick``
(never in full; tests). On a GPU everything is compiled in full.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from alight.core.errors import InputError
from alight.core.warp_setup import (
    HULL_OPTIONS,
    POINT_OPTIONS,
    QUICK_OPTIONS,
    VECTOR_OPTIONS,
)

VARIABLE = "ALIGHT_COMPILER"
_ALLOWED = ("auto", "quick", "full")

#: How long a kernel runs before it is compiled in full [s]. That takes 5 to 10 s and saves a fifth
#: of what follows: earlier, most runs would end before it has paid; later, campaigns would wait.
LONG = 20.0

#: Compiler flags of kernels that are compiled quickly at first. Those that are absent here (lanes
#: of gravity) gain much by vectors, have other bits without, or both. None: Warp's own.
_FLAGS = {None, *(o["cpu_compiler_flags"] for o in (POINT_OPTIONS, VECTOR_OPTIONS, HULL_OPTIONS))}


@dataclass(eq=False)
class _State:
    """Of one module."""

    full: dict[str, Any]
    """Its own options."""
    quick: bool = False
    spent: float = 0.0
    """How long it has run on a CPU [s]."""

    def is_due(self) -> bool:
        """Whether it is compiled quickly and has run for long."""
        return self.quick and self.spent >= LONG and wanted() == "auto"


_states: weakref.WeakKeyDictionary[Any, _State] = weakref.WeakKeyDictionary()
#: Code that was replaced: a thread may still be in it.
_replaced: list[Any] = []


def wanted() -> str:
    """What the environment variable asks for."""
    given = os.environ.get(VARIABLE, "").strip().lower() or "auto"
    if given not in _ALLOWED:
        raise InputError(
            f'the environment variable {VARIABLE} is "{given}"; it must be one of '
            f"{', '.join(_ALLOWED)}. Unset it to have kernels compiled quickly at first and in "
            "full once that pays."
        )
    return given


def is_chosen(module: Any, device: str) -> bool:
    """Whether ``choose`` would change nothing."""
    state = _states.get(module)
    return state is not None and not (state.is_due() or (state.quick and device != "cpu"))


def choose(module: Any, device: str, is_kept: Callable[[], bool]) -> None:
    """Set the options of a module that is about to be loaded; ``is_kept`` says whether its code
    under these options is on disk already."""
    state = _states.get(module)
    if state is None:
        own = {name: module.options[name] for name in QUICK_OPTIONS}
        state = _states[module] = _State(own)
        if device != "cpu" or own["cpu_compiler_flags"] not in _FLAGS:
            return
        asked = wanted()
        if asked == "full" or (asked == "auto" and is_kept()):
            return
        state.quick = True
        _set(module, QUICK_OPTIONS)
    elif state.quick and (device != "cpu" or state.is_due()):
        # One set of options serves all devices of a process: a GPU's decides.
        state.quick = False
        _replaced.extend(module.execs.values())
        _set(module, state.full)


def note(module: Any, seconds: float) -> None:
    """A kernel of the module ran for so long on a CPU."""
    state = _states.get(module)
    if state is not None:
        state.spent += seconds


def _set(module: Any, options: dict[str, Any]) -> None:
    module.options.update(options)
    module.mark_modified()
