"""Numbers as people read them: a unit that suits their size, and as many digits as they carry."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: Below this many units the next smaller unit is used, so that values start near 1.
_ENOUGH = 1.0


@dataclass(frozen=True)
class Unit:
    """A unit to show values in: SI value = shown value times ``size``."""

    name: str
    size: float

    def of(self, value: float, digits: int = 3) -> str:
        """``value`` [SI] as a number in this unit."""
        return number(value / self.size, digits)

    def __call__(self, value: float, digits: int = 3) -> str:
        """``value`` [SI] as a number and this unit."""
        return f"{self.of(value, digits)} {self.name}".rstrip()


DEGREE = Unit("°", math.pi / 180.0)

_ACCELERATION = (Unit("m/s²", 1.0), Unit("mm/s²", 1e-3), Unit("µm/s²", 1e-6), Unit("nm/s²", 1e-9))
_SPEED = (Unit("km/s", 1e3), Unit("m/s", 1.0), Unit("cm/s", 1e-2), Unit("mm/s", 1e-3))
_LENGTH = (Unit("km", 1e3), Unit("m", 1.0), Unit("cm", 1e-2), Unit("mm", 1e-3))
_AREA = (Unit("km²", 1e6), Unit("m²", 1.0))
_VOLUME = (Unit("km³", 1e9), Unit("m³", 1.0))
_TIME = (Unit("d", 86400.0), Unit("h", 3600.0), Unit("min", 60.0), Unit("s", 1.0))


def acceleration(largest: float) -> Unit:
    """Unit for accelerations up to ``largest`` [m/s^2]."""
    return _suiting(_ACCELERATION, largest)


def speed(largest: float) -> Unit:
    """Unit for speeds up to ``largest`` [m/s]; centimetres a second up to 2 m/s."""
    return _suiting(_SPEED, largest, {"m/s": 2.0})


def length(largest: float) -> Unit:
    """Unit for lengths up to ``largest`` [m]; metres up to 10 km."""
    return _suiting(_LENGTH, largest, {"km": 10.0})


def area(largest: float) -> Unit:
    """Unit for areas up to ``largest`` [m^2]; square metres up to 0.1 km^2."""
    return _suiting(_AREA, largest, {"km²": 0.1})


def volume(largest: float) -> Unit:
    """Unit for volumes up to ``largest`` [m^3]; cubic metres up to 0.01 km^3."""
    return _suiting(_VOLUME, largest, {"km³": 0.01})


def time(largest: float) -> Unit:
    """Unit for times up to ``largest`` [s]; hours up to 3 d."""
    return _suiting(_TIME, largest, {"d": 3.0, "min": 2.0})


def newton(_: float) -> Unit:
    """Unit for forces."""
    return Unit("N", 1.0)


def bare(_: float) -> Unit:
    """No unit, for numbers that have none."""
    return Unit("", 1.0)


def always(unit: str) -> Callable[[float], Unit]:
    """One unit for values of any size, which have it already."""
    return lambda _: Unit(unit, 1.0)


def share(_: float) -> Unit:
    """Unit for shares."""
    return Unit("%", 0.01)


def number(value: float, digits: int = 3) -> str:
    """``value`` with ``digits`` significant digits: plain, or 1.23e9 outside 0.001 to 1e6.

    Digits before the decimal point are always shown: 12345 keeps its five.
    """
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}".replace("inf", "∞")
    exponent = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    if not -3 <= exponent < 6:
        mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
        return f"{mantissa}e{int(power)}"
    return f"{value:.{max(0, digits - 1 - exponent)}f}"


def quoted(value: float) -> str:
    """A number as a source would quote it: up to six digits, without idle zeros."""
    text = number(value, 6)
    mantissa, e, power = text.partition("e")
    return (mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa) + e + power


def row(values: Sequence[float], digits: int = 3) -> list[str]:
    """Numbers that stand side by side: ``digits`` each, but none finer than a tenth of what the
    largest shows, so that rounding errors read as 0.
    """
    largest = max(abs(value) for value in values)
    if not 1e-3 <= largest < 1e6:
        return [number(value, digits) for value in values]
    finest = max(0, digits - math.floor(math.log10(largest)))
    shown = []
    for value in values:
        small = f"{value:.{finest}f}"
        text = number(value, digits)
        decimals = len(text.partition(".")[2])
        small = "0" if float(small) == 0.0 else small
        shown.append(small if decimals > finest or "e" in text else text)
    return shown


def percent(fraction: float) -> str:
    """A part as a percentage; what is there but small is never shown as 0."""
    if fraction == 0.0:
        return "0 %"
    return f"{number(100.0 * fraction, 2)} %" if fraction >= 1e-4 else "below 0.01 %"


def _suiting(
    units: tuple[Unit, ...], largest: float, least: dict[str, float] | None = None
) -> Unit:
    """The largest unit of which ``largest`` is enough; the smallest when it never is."""
    size = abs(largest)
    for unit in units:
        if size >= unit.size * (least or {}).get(unit.name, _ENOUGH):
            return unit
    return units[-1] if size > 0.0 else units[len(units) // 2]
