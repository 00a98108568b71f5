"""What a part of a study is, in the types of JSON: its numbers, digests of its tables and its code.

Equal parts have equal portraits in every process, so a plan can tell whether a study is still the
one that its folder was begun with, and name what has changed. Code of Alight itself is known by its
version; that of a user's functions and classes by its text.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import inspect
import os
import pickle
import sys
import textwrap
import types
from collections.abc import Mapping
from typing import Any

import numpy as np
import warp as wp

from alight.core.given import Given, found_once
from alight.gravity.law import FieldValue
from alight.shapes.mesh import Mesh

# What ``wp.struct`` makes of a class, which Warp has no public name for.
_Struct: Any = type(FieldValue)

#: Arrays and lists of up to so many numbers are told in full.
_SHORT = 16
#: Parts within parts, at most: what lies deeper is told by its class.
_DEEP = 12


def portrait(part: Any) -> Any:
    """A tree of plain values that changes with the part."""
    return _Portrait().of(part)


class _Portrait:
    def __init__(self) -> None:
        self._under_way: list[int] = []

    def of(self, part: Any) -> Any:
        if part is None or isinstance(part, bool | int | float | str):
            return part.value if isinstance(part, enum.Enum) else part
        if isinstance(part, np.generic):
            return part.item()
        if isinstance(part, np.ndarray):
            return _array(part)
        if isinstance(part, bytes):
            return _digest(part)
        if isinstance(part, os.PathLike):
            return os.fspath(part)
        if id(part) in self._under_way or len(self._under_way) > _DEEP:
            return f"{_name(type(part))} again"
        self._under_way.append(id(part))
        try:
            return self._composed(part)
        finally:
            self._under_way.pop()

    def _composed(self, part: Any) -> Any:
        if isinstance(part, Mapping):
            return {str(key): self.of(value) for key, value in part.items()}
        if isinstance(part, list | tuple | set | frozenset):
            listed = sorted(part, key=repr) if isinstance(part, set | frozenset) else part
            return [self.of(value) for value in listed]
        if isinstance(part, Mesh):
            return f"mesh of {part.n_faces} facets, {_digest(part.vertices, part.faces)}"
        if isinstance(part, functools.partial):
            return {"partial": self.of(part.func), "of": self.of([*part.args, part.keywords])}
        if isinstance(part, types.MethodType):
            return {"method": part.__name__, "of": self.of(part.__self__)}
        if isinstance(part, wp.Function):
            return self._function(part.func) if part.func else {"function": part.key}
        if isinstance(part, _Struct):
            return {"struct": part.key, **self._code(part.cls)}
        if isinstance(part, types.FunctionType):
            return self._function(part)
        if isinstance(part, type):
            return {"class": _name(part), **self._code(part)}
        return self._object(part)

    def _object(self, part: Any) -> dict[str, Any]:
        """An object by what it was made with, or by what it holds."""
        if _is_foreign(type(part)):
            return {"is": _name(type(part)), "holds": _pickled(part)}
        if isinstance(part, Given):
            held = part.arguments()
        elif dataclasses.is_dataclass(part):
            held = {f.name: getattr(part, f.name) for f in dataclasses.fields(part)}
        else:
            own = getattr(part, "__dict__", {})
            held = {
                k: v for k, v in own.items() if not k.startswith("_") and not found_once(part, k)
            }
        told = {name: self.of(value) for name, value in held.items()}
        return {"is": _name(type(part)), **self._code(type(part)), **told}

    def _code(self, cls: type) -> dict[str, Any]:
        """The code of a user's class, with the Warp functions that it names."""
        if _is_ours(cls.__module__):
            return {}
        held = [v for v in vars(cls).values() if isinstance(v, wp.Function | types.FunctionType)]
        functions = [self.of(value) for value in held]
        bases = [self._code(base) for base in cls.__bases__]
        return {"code": _digest(_source(cls), repr([functions, bases]))}

    def _function(self, function: types.FunctionType) -> Any:
        """A function: its text, defaults, and what of a user's it refers to."""
        if _is_ours(function.__module__):
            return {"function": f"{function.__module__}.{function.__qualname__}"}
        code = function.__code__
        cells = function.__closure__ or ()
        closed = {n: _cell(c) for n, c in zip(code.co_freevars, cells, strict=True)}
        known = {n: function.__globals__[n] for n in _names(code) if n in function.__globals__}
        used = {n: v for n, v in known.items() if not isinstance(v, types.ModuleType)}
        inner = {
            "defaults": self.of([function.__defaults__, function.__kwdefaults__]),
            "closed over": self.of(closed),
            "uses": self.of(used),
        }
        told = {"function": function.__qualname__, "code": _digest(_source(function))}
        return told | {
            name: value for name, value in inner.items() if value not in ({}, [None] * 2)
        }


def _names(code: types.CodeType) -> set[str]:
    """Names that a function refers to, and those of functions within it."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return {*code.co_names, *(name for each in inner for name in _names(each))}


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _source(what: Any) -> Any:
    """The text of a function or class; its bytecode where the text is not known."""
    try:
        return textwrap.dedent(inspect.getsource(what))
    except (OSError, TypeError):
        if isinstance(what, types.FunctionType):
            return what.__code__.co_code + repr(what.__code__.co_consts).encode()
        return _name(what)


def _name(cls: type) -> str:
    """A class as a user knows it: one of a script may be known by several modules."""
    ours = _is_ours(cls.__module__)
    return f"{cls.__module__}.{cls.__qualname__}" if ours else cls.__qualname__


@functools.cache
def _is_ours(module: str | None) -> bool:
    """Whether code is known by a version: Alight's, Python's, or of an installed package."""
    top = (module or "").partition(".")[0]
    if top in ("alight", "builtins") or top in sys.stdlib_module_names:
        return top != "__main__"
    file = getattr(sys.modules.get(top), "__file__", None) or ""
    return "site-packages" in file or "dist-packages" in file


def _is_foreign(cls: type) -> bool:
    """Whether a class is of another package, whose objects are known by how they are stored."""
    return _is_ours(cls.__module__) and cls.__module__.partition(".")[0] != "alight"


def _pickled(part: Any) -> str:
    try:
        return _digest(pickle.dumps(part, protocol=4))
    except Exception:  # of whatever kind: it cannot be stored, so its class must do
        return "not known"


def _array(array: np.ndarray[Any, Any]) -> Any:
    if array.size <= _SHORT and array.dtype.kind in "fiub":
        return array.tolist()
    return f"array {list(array.shape)}, {_digest(array)}"


def _digest(*parts: Any) -> str:
    """A short SHA-256 of texts, bytes and arrays."""
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            found.update(f"{part.dtype}{part.shape}".encode())
            found.update(np.ascontiguousarray(part).tobytes())
        else:
            found.update(part if isinstance(part, bytes) else str(part).encode())
    return found.hexdigest()[:16]
