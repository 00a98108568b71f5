"""Doors of rooms: a room's names are there at once, and a module loads when a name of it is used.

So a process pays for what it uses: Warp reads the text of each of the hundreds of functions that
kernels are made of when it is defined, and a landing needs a part of them. A door, an ``__init__``,
lists its names three times: type checkers follow the imports under ``TYPE_CHECKING``, ``__all__``
says what is public, and ``door`` finds it. A test holds the three together.
"""

import importlib
import sys
import types

TYPE_CHECKING = False  # as type checkers read it; the module typing takes long to load
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def door(package: str, modules: "Mapping[str, str]") -> None:
    """Have ``package`` find its names in the modules that define them, when they are first used.

    ``{"alight.scenario.bodies": "Body body=find"}``: ``body`` is what the module calls ``find``.
    """
    names = {}
    for module, words in modules.items():
        for word in words.split():
            name, _, there = word.partition("=")
            names[name] = (module, there or name)
    room = sys.modules[package]
    room.__dict__["_names"] = names
    room.__class__ = _Door


class _Door(types.ModuleType):
    """A package whose names and modules load when they are first used."""

    __all__: "list[str]"
    _names: "dict[str, tuple[str, str]]"

    def __getattr__(self, name: str) -> "Any":
        """A name of the room, or one of its modules."""
        if name in self._names:
            module, there = self._names[name]
            value = getattr(importlib.import_module(module), there)
        elif _is_module(f"{self.__name__}.{name}"):
            value = importlib.import_module(f"{self.__name__}.{name}")
        else:
            raise AttributeError(_unknown(self, name), name=name, obj=self)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: "Any") -> None:
        """Set a name, as Python does with each module of the room that has been loaded.

        A name of the room stays what it is when a module of that name is loaded: ``shapes`` has a
        function ``icosphere`` in a module ``icosphere``.
        """
        own = f"{self.__name__}.{name}"
        if name in self._names and isinstance(value, types.ModuleType) and value.__name__ == own:
            module, there = self._names[name]
            value = getattr(sys.modules[module], there) if module == own else value
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__all__})


def _is_module(name: str) -> bool:
    """True for a module that is there to be imported; names with _ are Python's own questions."""
    from importlib.util import find_spec

    return not name.rpartition(".")[2].startswith("_") and find_spec(name) is not None


def _unknown(room: _Door, name: str) -> str:
    """What to say of a name that a room does not have."""
    from alight.core.errors import did_you_mean

    return f"module {room.__name__!r} has no attribute {name!r}.{did_you_mean(name, room.__all__)}"
