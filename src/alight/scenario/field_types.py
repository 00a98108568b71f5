"""Kinds of values that a scenario holds: each reads what a file says, or says what it should be.

A field of a section is ``Annotated[float, Measure("length", above=0)]``: pydantic hands the value
to ``read``, and the JSON schema asks the same object what an editor may offer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

from alight.core.errors import InputError
from alight.core.registry import registry
from alight.scenario import quantities
from alight.scenario.errors import told
from alight.scenario.quantities import DIMENSIONS, in_si
from alight.scenario.suggestions import meant

_DEGREE = math.pi / 180.0
#: Largest seed: what a signed 64-bit integer holds.
MOST_SEED = 2**63 - 1


class FieldType:
    """A kind of value; a subclass says how to ``read`` one and how to ``write`` it."""

    #: Numbers in one value; 0 for kinds that hold none and cannot be dispersed.
    width: int = 0

    def read(self, value: Any) -> Any:
        """The value in SI units, or an InputError."""
        raise NotImplementedError

    def write(self, value: Any) -> Any:
        """The value as a file has it."""
        return value

    def json(self) -> dict[str, Any]:
        """Its JSON schema."""
        raise NotImplementedError

    def from_si(self, value: Any) -> Any:
        """A value of this kind from plain numbers in SI units, its bounds not checked."""
        return value

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> Any:
        return core_schema.no_info_plain_validator_function(self._checked)

    def __get_pydantic_json_schema__(self, _: Any, __: GetJsonSchemaHandler) -> dict[str, Any]:
        return self.json()

    def _checked(self, value: Any) -> Any:
        try:
            return self.read(value)
        except InputError as cause:
            raise PydanticCustomError("alight", "{said}", {"said": str(cause)}) from None


@dataclass(frozen=True)
class _Range(FieldType):
    """Bounds: above or from a least, below or up to a most."""

    above: float | None = None
    least: float | None = None
    most: float | None = None
    below: float | None = None
    infinite: bool = False

    def _within(self, number: float, said: str, unit: str = "") -> None:
        if math.isnan(number) or (math.isinf(number) and not (self.infinite and number > 0)):
            raise InputError(
                f"found {said}; it must be a finite {self._noun()}{self._bounds(unit)}"
            )
        bad = (
            (self.above is not None and number <= self.above)
            or (self.least is not None and number < self.least)
            or (self.most is not None and number > self.most)
            or (self.below is not None and number >= self.below)
        )
        if bad:
            raise InputError(f"found {said}; it must be{self._bounds(unit)}")

    def _noun(self) -> str:
        return "number"

    def _bounds(self, unit: str) -> str:
        size = _DEGREE if unit == " deg" else 1.0
        parts = []
        if self.above is not None:
            parts.append(f" above {self.above / size:g}{unit}")
        if self.least is not None:
            parts.append(f" at least {self.least / size:g}{unit}")
        if self.most is not None:
            parts.append(f" at most {self.most / size:.10g}{unit}")
        if self.below is not None:
            parts.append(f" below {self.below / size:.10g}{unit}")
        return " and".join(parts)

    @property
    def ends(self) -> tuple[float, float]:
        """Min and max, infinite where there is none."""
        low = next((v for v in (self.above, self.least) if v is not None), -math.inf)
        high = next((v for v in (self.most, self.below) if v is not None), math.inf)
        return low, high


@dataclass(frozen=True)
class Measure(_Range):
    """A quantity with a unit; bounds are in SI units."""

    dimension: str = "length"
    width = 1

    def read(self, value: Any) -> Any:
        """A ``Quantity``."""
        found = quantities.read(value, self.dimension)
        self._within(found, told(found.text), f" {DIMENSIONS[self.dimension].usual}")
        return found

    def write(self, value: Any) -> Any:
        """Its text; the SI value where it was made from a plain number."""
        return getattr(value, "text", None) or in_si(value, self.dimension).text

    def from_si(self, value: Any) -> Any:
        """From a number in SI units."""
        return in_si(float(value), self.dimension)

    def json(self) -> dict[str, Any]:
        """A string that starts with a number."""
        kind = DIMENSIONS[self.dimension]
        return {
            "type": "string",
            "pattern": r"^\s*[+-]?(\d|\.\d|inf)",
            "description": f"{kind.name}{self._bounds(' ' + kind.usual)}".replace("  ", " "),
            "examples": [kind.example],
        }

    def _noun(self) -> str:
        return self.dimension


@dataclass(frozen=True)
class OneOf(_Range):
    """A quantity of one of several dimensions, which another key decides between."""

    dimensions: tuple[str, ...] = ()
    width = 1

    def read(self, value: Any) -> Any:
        """A ``Quantity`` of whichever dimension its unit is of."""
        for dimension in self.dimensions:
            try:
                found = quantities.read(value, dimension)
            except InputError:
                continue
            self._within(found, told(found.text), f" {DIMENSIONS[dimension].si}")
            return found
        examples = " or ".join(f'"{DIMENSIONS[d].example}"' for d in self.dimensions)
        raise InputError(f"found {told(value)}; it must be a number with its unit, {examples}")

    def dimension_of(self, value: Any) -> str:
        """The dimension of a ``Quantity`` of this kind; the first where nothing decides."""
        for dimension in self.dimensions:
            try:
                quantities.read(getattr(value, "text", ""), dimension)
            except InputError:
                continue
            return dimension
        return self.dimensions[0]

    def form(self, value: Any) -> Measure:
        """The kind that ``value`` is of."""
        return self.of(self.dimension_of(value))

    def of(self, dimension: str) -> Measure:
        """The kind of a quantity of this dimension."""
        bounds = {n: getattr(self, n) for n in ("above", "least", "most", "below", "infinite")}
        return Measure(**bounds, dimension=dimension)

    def write(self, value: Any) -> Any:
        """Its text; the SI value where it was made from a plain number."""
        return getattr(value, "text", None) or in_si(value, self.dimensions[0]).text

    def json(self) -> dict[str, Any]:
        """A string that starts with a number."""
        said = self.of(self.dimensions[0]).json()
        kinds = [DIMENSIONS[d] for d in self.dimensions]
        said["description"] = " or ".join(f"{kind.name} [{kind.si}]" for kind in kinds)
        return {**said, "examples": [kind.example for kind in kinds]}


#: A number in per cent, as people write shares.
_PERCENT = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*(?:%|percent|per cent)\s*")


def _of_percent(value: Any) -> str:
    """What to write for a share that is given in per cent; nothing for other values."""
    match = _PERCENT.fullmatch(value) if isinstance(value, str) and len(value) < 40 else None
    if match is None:
        return ""
    return f"; {match.group(1)} % is {float(match.group(1)) / 100.0:.6g}"


@dataclass(frozen=True)
class Number(_Range):
    """A number without a unit."""

    width = 1

    def read(self, value: Any) -> Any:
        """A float."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            hint = " (numbers stand without quotes)" if isinstance(value, str) else ""
            hint = _of_percent(value) or hint
            raise InputError(f"found {told(value)}; it must be a number{self._bounds('')}{hint}")
        number = quantities._float(value)
        if self.above == 0.0 and self.below == 1.0 and 1.0 < number < 100.0:  # a share
            said = f"found {told(value)}; it must be{self._bounds('')}"
            raise InputError(f"{said}{_of_percent(f'{value:.6g} %')}")
        self._within(number, told(value))
        return number

    def json(self) -> dict[str, Any]:
        """A number between bounds."""
        return {"type": "number", **_json_bounds(self)}


@dataclass(frozen=True)
class Whole(_Range):
    """A whole number."""

    width = 1

    def read(self, value: Any) -> Any:
        """An int."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(f"found {told(value)}; it must be a whole number{self._bounds('')}")
        self._within(quantities._float(value), told(value))
        return value

    def from_si(self, value: Any) -> Any:
        """From a number that is whole."""
        return int(value) if float(value).is_integer() else value

    def json(self) -> dict[str, Any]:
        """An integer between bounds."""
        return {"type": "integer", **_json_bounds(self)}


def _json_bounds(kind: _Range) -> dict[str, float]:
    names = {
        "above": "exclusiveMinimum",
        "least": "minimum",
        "most": "maximum",
        "below": "exclusiveMaximum",
    }
    given = {said: getattr(kind, name) for name, said in names.items()}
    return {said: bound for said, bound in given.items() if bound is not None}


@dataclass(frozen=True)
class Switch(FieldType):
    """true or false."""

    def read(self, value: Any) -> Any:
        """A bool."""
        if not isinstance(value, bool):
            raise InputError(f"found {told(value)}; it must be true or false, without quotes")
        return value

    def json(self) -> dict[str, Any]:
        """A boolean."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class TextField(FieldType):
    """Any text, or one that ``check`` accepts and returns in its proper spelling."""

    check: Callable[[str], str] | None = None
    examples: tuple[str, ...] = ()

    def read(self, value: Any) -> Any:
        """A str."""
        if not isinstance(value, str):
            raise InputError(f"found {told(value)}; it must be text in quotes")
        if "\0" in value or len(value) > 4000:
            raise InputError(f"found {told(value)}; it must be text of a reasonable length")
        return value if self.check is None else self.check(value)

    def json(self) -> dict[str, Any]:
        """A string."""
        return {"type": "string", **({"examples": [*self.examples]} if self.examples else {})}


@dataclass(frozen=True)
class ChoiceField(FieldType):
    """One of a few words."""

    words: tuple[str, ...] = ()

    def read(self, value: Any) -> Any:
        """A str of ``words``."""
        if not isinstance(value, str) or value not in self.words:
            listed = ", ".join(f'"{word}"' for word in self.words)
            hint = meant(value, self.words)
            raise InputError(f"found {told(value)}; it must be one of {listed}.{hint}")
        return value

    def json(self) -> dict[str, Any]:
        """An enum."""
        return {"enum": [*self.words]}


@dataclass(frozen=True)
class NameField(FieldType):
    """A name of the registry: of what is shipped, or of what another package adds."""

    kind: str = ""

    def read(self, value: Any) -> Any:
        """A str that is registered."""
        if not isinstance(value, str) or registry.known(self.kind, value) is None:
            names = registry.names(self.kind)
            listed = ", ".join(f'"{word}"' for word in names)
            allowed = f"it must be one of {listed}." if names else f"no {self.kind} is known here."
            hint = meant(value, names)
            more = "" if hint or not isinstance(value, str) else registry.hint()
            raise InputError(f"found {told(value)}; {allowed}{hint}{more}")
        return value

    def json(self) -> dict[str, Any]:
        """An enum of what is installed."""
        return {"enum": registry.names(self.kind)}


@dataclass(frozen=True)
class AnyOf(FieldType):
    """A value of one of several kinds, for editors: which one, other keys of a file decide."""

    kinds: tuple[FieldType, ...] = ()

    def json(self) -> dict[str, Any]:
        """Any of their schemas."""
        return {"anyOf": [kind.json() for kind in self.kinds]}


@dataclass(frozen=True)
class ListField(FieldType):
    """A list of values of one kind, ``size`` of them (any number if 0); ``unit`` if not zero."""

    of: FieldType
    size: int = 3
    nonzero: bool = False

    @property
    def width(self) -> int:  # type: ignore[override]
        """Numbers in it."""
        return self.size

    def read(self, value: Any) -> Any:
        """A tuple."""
        if not isinstance(value, list | tuple) or (self.size and len(value) != self.size):
            raise InputError(f"found {told(value)}; it must be {self._wanted()}")
        items = []
        for place, item in enumerate(value):
            try:
                items.append(self.of.read(item))
            except InputError as cause:
                raise InputError(f"entry {place + 1}: {cause}") from None
        if self.nonzero and not any(items):
            raise InputError(f"found {told(value)}, which is all zeros and has no direction")
        return tuple(items)

    def write(self, value: Any) -> Any:
        """A list."""
        return [self.of.write(item) for item in value]

    def from_si(self, value: Any) -> Any:
        """From numbers in SI units."""
        return tuple(self.of.from_si(item) for item in value)

    def json(self) -> dict[str, Any]:
        """An array."""
        count = {"minItems": self.size, "maxItems": self.size} if self.size else {}
        return {"type": "array", "items": self.of.json(), **count}

    def _wanted(self) -> str:
        one = (
            f'"{DIMENSIONS[self.of.dimension].example}"' if isinstance(self.of, Measure) else "0.5"
        )
        if isinstance(self.of, Whole):
            one = "1"
        if isinstance(self.of, ListField):
            return "rows, each " + self.of._wanted()
        if not self.size:
            return f"a list, such as [{one}]"
        return f"a list of {self.size}, such as [{', '.join([one] * self.size)}]"


@dataclass(frozen=True)
class Moments(FieldType):
    """Inertia: three moments, or a tensor of three rows of three."""

    of: FieldType
    width = 3

    def read(self, value: Any) -> Any:
        """A tuple of three, or of three rows."""
        if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple):
            return ListField(ListField(self.of)).read(value)
        return ListField(self.of).read(value)

    def write(self, value: Any) -> Any:
        """Lists."""
        return [
            [self.of.write(item) for item in row] if isinstance(row, tuple) else self.of.write(row)
            for row in value
        ]

    def from_si(self, value: Any) -> Any:
        """From three moments in SI units."""
        return ListField(self.of).from_si(value)

    def json(self) -> dict[str, Any]:
        """Three moments or three rows."""
        return {"anyOf": [ListField(self.of).json(), ListField(ListField(self.of)).json()]}


@dataclass(frozen=True)
class Either(FieldType):
    """One value, or a vector of three."""

    of: FieldType
    width = 1

    def read(self, value: Any) -> Any:
        """A number or a tuple of three."""
        return self.form(value).read(value)

    def write(self, value: Any) -> Any:
        """A string or a list."""
        return self.form(value).write(value)

    def from_si(self, value: Any) -> Any:
        """From one number or three."""
        shaped = (
            value if getattr(value, "ndim", 1) == 0 or isinstance(value, float) else tuple(value)
        )
        return self.form(shaped).from_si(shaped)

    def form(self, value: Any) -> FieldType:
        """The kind that ``value`` is of."""
        return ListField(self.of, nonzero=True) if isinstance(value, list | tuple) else self.of

    def json(self) -> dict[str, Any]:
        """A string or an array."""
        return {"anyOf": [self.of.json(), ListField(self.of).json()]}


@dataclass(frozen=True)
class PackagesField(FieldType):
    """Packages and their versions, for people and for messages."""

    def read(self, value: Any) -> Any:
        """Pairs of texts."""
        if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
            raise InputError(f"found {told(value)}; it must be a table of packages and versions")
        return dict(value)

    def json(self) -> dict[str, Any]:
        """An object of texts."""
        return {"type": "object", "additionalProperties": {"type": "string"}}
