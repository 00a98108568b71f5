"""Quantities: numbers with units, as strings such as "60 m" or "5 cm/s", turned into SI.

The units are pint's. Those that most scenarios have are listed here with their sizes, as pint takes
most of a second to load; it is asked for all others. A ``Quantity`` is a float in SI units that
remembers the text it was read from, so that a scenario written out again says "20 deg" and gives
the same bits when it is read.
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from alight.core.errors import InputError
from alight.scenario.errors import told

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf|nan)(?![a-zA-Z])"
_FORM = re.compile(rf"\s*({_NUMBER})\s*(.*?)\s*", re.DOTALL | re.ASCII)
#: What reaches pint: names with powers of one digit (or 1.5), multiplied and divided. It would
#: evaluate whatever else it is given, and powers of powers would keep it busy for ever.
_NAMED = r"[A-Za-zµμ%]+(?:\s*(?:\^|\*\*)\s*-?(?:[1-9](?![0-9.])|1\.5(?![0-9.])))?"
_UNIT = re.compile(rf"(?:1\s*/\s*)?{_NAMED}(?:(?:\s*[*/]\s*|\s+){_NAMED}){{0,6}}")

#: Names of angles, which oscillations are not counted by.
_ANGLES = re.compile(r"rad|deg|turn|rev|rpm|arc|cycle")
#: Names that mean something else to pint, or nothing, and what is meant here.
_SPELT = {"AU": "au", "°": "deg", "degrees": "degree", "·": "*", "²": "^2", "³": "^3"}
_SPELT |= {"rev": "turn", "revolution": "turn", "revolutions": "turn"}
#: A number with a comma for its point.
_COMMA = re.compile(r"\s*([+-]?\d+),(\d+\s*\D.*)", re.DOTALL | re.ASCII)


@dataclass(frozen=True)
class Dimension:
    """A kind of quantity, the SI unit it is kept in, an example, and units to suggest."""

    name: str
    si: str
    example: str
    units: dict[str, float] = field(hash=False)
    """How many SI units each is, to the bits that pint gives."""

    @property
    def usual(self) -> str:
        """The unit that a number without one is likely meant in."""
        return "deg" if self.name == "angle" else self.si


def _dimensions(*rows: tuple[str, str, str, str]) -> dict[str, Dimension]:
    return {row[0]: Dimension(*row[:3], _sizes(row[3])) for row in rows}


def _sizes(text: str) -> dict[str, float]:
    pairs = (word.split("=") for word in text.split())
    return {unit: float(size) for unit, size in pairs}


#: Every kind of quantity that a scenario holds.
DIMENSIONS = _dimensions(
    (
        "length",
        "m",
        "60 m",
        "m=1 mm=1e-3 cm=0.01 km=1e3 um=1e-6 AU=149597870700 ft=0.30479999999999996 metre=1 meter=1",
    ),
    (
        "time",
        "s",
        "30 min",
        "s=1 ms=1e-3 min=60 h=3600 hour=3600 minute=60 second=1 day=86400 d=86400",
    ),
    (
        "angle",
        "rad",
        "20 deg",
        "deg=0.017453292519943295 rad=1 degree=0.017453292519943295 radian=1 "
        "arcmin=0.00029088820866572163 arcsec=4.84813681109536e-06 mrad=1e-3 "
        "turn=6.283185307179586",
    ),
    ("mass", "kg", "1.1 kg", "kg=1 g=1e-3 t=1e3 mg=1e-6 gram=1e-3 kilogram=1 tonne=1e3"),
    ("speed", "m/s", "5 cm/s", "m/s=1 cm/s=0.01 mm/s=1e-3 km/s=1e3 km/h=0.2777777777777778"),
    (
        "acceleration",
        "m/s^2",
        "8.6e-5 m/s^2",
        "m/s^2=1 mm/s^2=1e-3 cm/s^2=0.01 km/s^2=1e3 um/s^2=1e-6",
    ),
    (
        "angular rate",
        "rad/s",
        "0.1 rad/s",
        "rad/s=1 deg/s=0.017453292519943295 rpm=0.10471975511965977 deg/h=4.84813681109536e-06 "
        "deg/min=0.0002908882086657216 mrad/s=1e-3 turn/s=6.283185307179586",
    ),
    ("angular acceleration", "rad/s^2", "2 rad/s^2", "rad/s^2=1 deg/s^2=0.017453292519943295"),
    ("density", "kg/m^3", "1190 kg/m^3", "kg/m^3=1 g/cm^3=999.9999999999999"),
    ("gravitational parameter", "m^3/s^2", "30 m^3/s^2", "m^3/s^2=1 km^3/s^2=1e9"),
    (
        "moment of inertia",
        "kg*m^2",
        "0.09 kg*m^2",
        "kg*m^2=1 kg*cm^2=1e-4 g*cm^2=1.0000000000000001e-07 g*mm^2=1e-9",
    ),
    ("stiffness", "N/m", "4e4 N/m", "N/m=1 kN/m=1e3 N/mm=1e3 kg/s^2=1"),
    ("damping", "N*s/m", "162 N*s/m", "N*s/m=1 kN*s/m=1e3 N*s/mm=1e3 kg/s=1"),
    (
        "Hertz stiffness",
        "N/m^1.5",
        "1e5 N/m^1.5",
        "N/m^1.5=1 kN/m^1.5=1e3 N/mm^1.5=31622.776601683792",
    ),
    ("force", "N", "400 N", "N=1 kN=1e3 mN=1e-3 newton=1 kg*m/s^2=1"),
    ("torque", "N*m", "0.2 N*m", "N*m=1 mN*m=1e-3 N*mm=1e-3 N*cm=0.01"),
    ("energy", "J", "0.1 J", "J=1 mJ=1e-3 kJ=1e3"),
    ("torsional stiffness", "N*m/rad", "10 N*m/rad", "N*m/rad=1 N*m/deg=57.29577951308232 N*m=1"),
    (
        "torsional damping",
        "N*m*s/rad",
        "1 N*m*s/rad",
        "N*m*s/rad=1 N*m*s/deg=57.29577951308232 N*m*s=1",
    ),
    ("number per area", "1/m^2", "0.0016 1/m^2", "1/m^2=1 1/km^2=1e-6 1/cm^2=1e4"),
    ("frequency", "Hz", "0.1 Hz", "Hz=1 mHz=1e-3 kHz=1e3"),
    ("membrane stiffness", "N/m^3", "1.5 N/m^3", "N/m^3=1 kN/m^3=1e3"),
    ("membrane damping", "N*s/m^3", "15 N*s/m^3", "N*s/m^3=1 kN*s/m^3=1e3"),
    ("area over mass", "m^2/kg", "0.02 m^2/kg", "m^2/kg=1 cm^2/kg=1e-4 cm^2/g=0.1"),
)


#: Kinds whose units measure the same to pint, to which a radian is a plain number.
ALIKE = ({"torque", "energy", "torsional stiffness"}, {"angular rate", "frequency"})


@cache
def _units_unlike(dimension: str) -> set[str]:
    """Listed units that are none of a dimension."""
    same = next((kinds for kinds in ALIKE if dimension in kinds), {dimension})
    return {unit for name, kind in DIMENSIONS.items() if name not in same for unit in kind.units}


class Quantity(float):
    """A number in SI units and the ``text`` it was read from."""

    text: str

    def __new__(cls, value: float, text: str) -> Quantity:
        """A float that remembers how it was written."""
        made = super().__new__(cls, value)
        made.text = text
        return made

    def __getnewargs__(self) -> tuple[float, str]:  # type: ignore[override]
        return float(self), self.text


def in_si(value: float, dimension: str) -> Quantity:
    """A quantity from a number in SI units."""
    return Quantity(value, f"{float(value)!r} {DIMENSIONS[dimension].si}")


def read(value: Any, dimension: str) -> Quantity:
    """The quantity that ``value``, a string with a number and a unit, stands for."""
    return read_as(value, DIMENSIONS[dimension])


def read_as(value: Any, kind: Dimension) -> Quantity:
    """The same of a dimension that need not be listed."""
    wanted = f'{_article(kind.name)} with its unit, such as "{kind.example}"'
    if isinstance(value, Quantity):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        plain = math.isfinite(_float(value))
        hint = f'; did you mean "{told(value)} {kind.usual}"?' if plain else ""
        raise InputError(f"found the bare number {told(value)}; it must be {wanted}{hint}")
    if not isinstance(value, str):
        raise InputError(f"found {told(value)}; it must be {wanted}")
    match = _FORM.fullmatch(value) if len(value) < 200 else None
    if match is None:
        raise InputError(
            f"found {told(value)}, which does not start with a number; it must be {wanted}"
        )
    number, unit = match.groups()
    if not unit:
        raise InputError(
            f"found {told(value)} without a unit; it must be {wanted}; did you mean "
            f'"{value.strip()} {kind.usual}"?'
        )
    size = _factor(unit, kind)
    if isinstance(size, str):
        comma = _COMMA.fullmatch(value)
        if comma is not None:
            point = told(".".join(comma.groups()))
            raise InputError(f"found {told(value)}; numbers have a point: did you mean {point}?")
        raise InputError(f"found {told(value)}: {size}; it must be {wanted}")
    return Quantity(_scaled(number, size), value.strip())


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _article(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _scaled(number: str, size: float) -> float:
    """``number`` times ``size``, rounded once where ``size`` or 1/size is a whole number."""
    plain = float(number)
    if not 1e-300 < abs(plain) < 1e300 or not 1e-15 < size < 1e15:
        return plain * size
    for value, up in ((size, True), (1.0 / size, False)):
        whole = round(value)
        if whole and abs(value - whole) <= 4e-16 * whole:
            exact = Fraction(number)
            return float(exact * whole if up else exact / whole)
    return plain * size


@lru_cache(maxsize=1024)
def _factor(unit: str, kind: Dimension) -> float | str:
    """How many SI units one ``unit`` is, or what is wrong with it."""
    if unit in kind.units:
        return kind.units[unit]
    plain = unit
    for given, meant in _SPELT.items():
        plain = (
            re.sub(rf"\b{given}\b", meant, plain)
            if given.isalpha()
            else plain.replace(given, meant)
        )
    if plain in kind.units:
        return kind.units[plain]
    if {unit, plain} & _units_unlike(kind.name):
        return f'"{_cut(unit)}" is no unit of {kind.name}'
    if not _UNIT.fullmatch(plain):
        return f'"{_cut(unit)}" is not a unit{_nearest(unit, kind)}'
    if kind.name == "frequency" and _ANGLES.search(plain):
        # To pint a radian is a plain number, and a turn 2 pi of them.
        return f'"{_cut(unit)}" is no unit of {kind.name}'
    try:
        found = _registry().parse_units(plain)
        size = float(_registry().Quantity(1.0, found).to(kind.si).magnitude)
    except Exception as cause:  # pint raises errors of many kinds for units that are none
        if "DimensionalityError" in type(cause).__name__:
            return f'"{_cut(unit)}" is no unit of {kind.name}'
        return f'"{_cut(unit)}" is not a unit{_nearest(unit, kind)}'
    if not (math.isfinite(size) and size > 0.0):
        return f'"{_cut(unit)}" is not a unit{_nearest(unit, kind)}'
    return size


def _cut(unit: str) -> str:
    return told(unit)[1:-1][:30]


def _nearest(unit: str, kind: Dimension) -> str:
    """The unit nearest in spelling."""
    lowered = {name.lower(): name for name in reversed(kind.units)}
    close = difflib.get_close_matches(unit.lower(), lowered, n=1, cutoff=0.5)
    return f' (did you mean "{lowered[close[0]]}"?)' if close else ""


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry()
