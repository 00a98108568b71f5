"""``Section``: what the tables of a scenario have in common."""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Iterable
from typing import Any, ClassVar, Self, Union

from pydantic import BaseModel, ConfigDict

from alight.scenario.errors import Fault
from alight.scenario.field_types import FieldType

#: The variant of the entries of a list that are of no known kind.
ANY = "of any kind"


class Section(BaseModel):
    """A table of a scenario: frozen, with no keys besides its own."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    #: Field that chooses between forms, and the keys that each of its words allows.
    FORMS: ClassVar[tuple[str, dict[str, tuple[str, ...]]] | None] = None
    #: Kind of the registry that the same field takes names from (``scenario.registered``).
    REGISTRY: ClassVar[str] = ""
    #: The sections of the entries of a list, by their kind, where entries differ.
    VARIANTS: ClassVar[dict[str, dict[str, type[Section]]]] = {}
    #: The class that a file's own names made this one from, and those names.
    ORIGIN: ClassVar[tuple[Any, Any] | None] = None

    @classmethod
    def kinds(cls) -> dict[str, FieldType]:
        """The kind of value under each key that holds one."""
        return dict(_once(cls, "_kinds"))

    @classmethod
    def _kinds(cls) -> dict[str, FieldType]:
        found = {}
        for name, field in cls.model_fields.items():
            for mark in field.metadata:
                if isinstance(mark, FieldType):
                    found[name] = mark
        return found

    @classmethod
    def tables(cls) -> dict[str, type[Section]]:
        """The section under each key that holds one."""
        return dict(_once(cls, "_tables"))

    @classmethod
    def _tables(cls) -> dict[str, type[Section]]:
        found: dict[str, type[Section]] = {}
        for name, field in cls.model_fields.items():
            options: Iterable[Any] = (field.annotation,)
            if typing.get_origin(field.annotation) in (Union, types.UnionType):
                options = typing.get_args(field.annotation)
            for option in options:
                if isinstance(option, type) and issubclass(option, Section):
                    found[name] = option
        return found

    @classmethod
    def lists(cls) -> dict[str, type[Section]]:
        """The section of each key that holds a list of them."""
        return dict(_once(cls, "_lists"))

    @classmethod
    def _lists(cls) -> dict[str, type[Section]]:
        found = {name: variants[ANY] for name, variants in cls.VARIANTS.items()}
        for name, field in cls.model_fields.items():
            if typing.get_origin(field.annotation) is tuple:
                one = typing.get_args(field.annotation)[0]
                if isinstance(one, type) and issubclass(one, Section):
                    found[name] = one
        return found

    def __reduce__(self) -> Any:
        """Classes that were made of the names in a file are made again where it is read back."""
        if self.ORIGIN is None:
            return super().__reduce__()
        return _blank, self.ORIGIN, self.__getstate__()

    def written(self) -> dict[str, Any]:
        """Every key that has a value, as a file has it."""
        out: dict[str, Any] = {}
        for name, kind in self.kinds().items():
            value = getattr(self, name)
            if value is not None:
                out[name] = kind.write(value)
        for name in self.tables():
            value = getattr(self, name)
            if value is not None:
                out[name] = value.written()
        for name in self.lists():
            if getattr(self, name):
                out[name] = [item.written() for item in getattr(self, name)]
        return out

    def filled(self, **values: Any) -> Self:
        """A copy with some values set, where they have none."""
        new = {name: value for name, value in values.items() if getattr(self, name) is None}
        return self.model_copy(update=new) if new else self

    def misplaced(self, where: str) -> list[Fault]:
        """Keys that do not go with the form chosen."""
        if self.FORMS is None:
            return []
        chooser, forms = self.FORMS
        word = getattr(self, chooser)
        if word not in forms:
            return []
        bound = {key for keys in forms.values() for key in keys}
        wrong = [key for key in bound if key not in forms[word] and getattr(self, key) is not None]
        own = ", ".join(forms[word])
        said = f'does not go with {chooser} = "{word}", ' + (
            f"whose own keys are {own}" if own else "which has no keys of its own"
        )
        return [Fault(f"{where}.{key}", said) for key in sorted(wrong)]

    def missing(self, where: str, *keys: str) -> list[Fault]:
        """Those of ``keys`` that must have a value and have none."""
        kinds = self.kinds()
        return [
            Fault(f"{where}.{key}", f"is missing; it must be {wanted(kinds[key])}")
            for key in keys
            if getattr(self, key) is None
        ]


def _once(section: type[Section], name: str) -> dict[str, Any]:
    """What a class finds of its own fields: it is asked for each scenario of a campaign."""
    if not section.__pydantic_complete__:
        return getattr(section, name)()
    return _found(section, name)


@functools.lru_cache(maxsize=4096)
def _found(section: type[Section], name: str) -> dict[str, Any]:
    return getattr(section, name)()


def _blank(base: type[Section], names: Any) -> Section:
    """An instance without values, which unpickling then gives it."""
    from alight.scenario.registered import class_with

    made = class_with(base, names)
    return made.__new__(made)


def wanted(kind: FieldType) -> str:
    """What a kind of value looks like, in words, from its JSON schema."""
    says = kind.json()
    if says.get("examples"):
        return f"given, such as {says['examples'][0]!r}".replace("'", '"')
    if "enum" in says:
        return "one of " + ", ".join(f'"{word}"' for word in says["enum"])
    if says.get("type") == "array":
        inner = says["items"].get("examples", [1.0])[0]
        one = f'"{inner}"' if isinstance(inner, str) else f"{inner}"
        return f"given, such as [{', '.join([one] * says.get('minItems', 1))}]"
    named = {"integer": "a whole number", "number": "a number", "boolean": "true or false"}
    return named.get(says.get("type", ""), "given")
