"""``Given``: things that remember the arguments they were made with.

So a law can be rebuilt with one number changed, sent to another process, and distinguished from
another one by what a user gave, whatever it keeps of it.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass, field
from typing import Any, Self

from alight.core.errors import InputError, did_you_mean


@dataclass(frozen=True, eq=False)
class Call:
    """Arguments of a call."""

    args: tuple[Any, ...] = ()
    named: dict[str, Any] = field(default_factory=dict)


class Given:
    """Base of laws: ``changed`` makes the same law with other arguments."""

    def __new__(cls, *args: Any, **named: Any) -> Self:
        """Keep the arguments."""
        made = super().__new__(cls)
        made.__dict__["_made_with"] = Call(args, named)
        return made

    def arguments(self) -> dict[str, Any]:
        """What it was made with, by the names of its constructor."""
        bound = _signature(type(self)).bind(*self._call.args, **self._call.named)
        out: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            star = bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
            out |= value if star else {name: value}
        return out

    def changed(self, **values: Any) -> Self:
        """The same with some arguments changed."""
        signature = _signature(type(self))
        takes_all = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
        for name in values:
            if name not in signature.parameters and not takes_all:
                known = list(signature.parameters)
                raise InputError(
                    f'{type(self).__name__} is not made with "{name}".{did_you_mean(name, known)} '
                    f"It takes: {', '.join(known)}."
                )
        return type(self)(**{**self.arguments(), **values})

    @property
    def _call(self) -> Call:
        found: Call = self.__dict__["_made_with"]
        return found

    def __reduce__(self) -> Any:
        """As it was made, with what was added since."""
        call = self._call
        fresh = vars(type(self)(*call.args, **call.named))
        more = {k: v for k, v in vars(self).items() if k not in fresh and not found_once(self, k)}
        return _remade, (type(self), call), more or None


def _remade(cls: type[Any], call: Call) -> Any:
    return cls(*call.args, **call.named)


def _signature(cls: type[Any]) -> inspect.Signature:
    return inspect.signature(cls)


def found_once(what: Any, name: str) -> bool:
    """Whether an attribute is a property that is found once."""
    return isinstance(inspect.getattr_static(type(what), name, None), functools.cached_property)
