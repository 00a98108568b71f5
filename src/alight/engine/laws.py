"""The laws that models are made of: whether each part is what it must be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from alight.core.errors import InputError
from alight.flight import External


def check_laws(model: Any, kinds: Iterable[tuple[str, type, str]]) -> None:
    """Whether each part of a model is what it must be; its externals become a tuple.

    ``kinds`` are names of parts, their classes, and what to give instead.
    """
    for name, kind, example in kinds:
        if not isinstance(getattr(model, name), kind):
            raise InputError(f"{name} is {getattr(model, name)!r}; it must be {example}.")
    object.__setattr__(model, "externals", tuple(model.externals))
    for law in model.externals:
        if not isinstance(law, External):
            raise InputError(
                f"externals hold {law!r}; each must be a law such as flight.SunTide(sun)."
            )
