"""What was dispersed, as a reader knows it: names, units that suit, and what vectors amount to."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.analysis.columns import Array
from alight.views import words

#: What the components of vectors mean where the release is over a place of the ground.
_LOCAL = {"x": "east", "y": "north", "z": "up"}
_LOCAL_KEYS = ("release.velocity", "release.offset")

#: Keys whose words, read one after the other, are not what a reader calls it.
_NAMES = {
    "contact.restitution": "restitution",
    "contact.friction": "friction",
    "contact.rolling_resistance": "rolling resistance",
    "contact.stiffness": "contact stiffness",
    "contact.damping": "contact damping",
    "release.rate": "spin at release",
    "release.position": "place of release",
    "lander.mass": "mass of the lander",
    "ground.normal": "normal of the ground",
}

#: What the length of a vector is called, and that of its part along the ground.
_LENGTHS = {
    "release.velocity": ("release speed", "horizontal release speed"),
    "release.rate": ("spin at release", ""),
    "release.offset": ("distance of the release from nominal", ""),
}

#: How a column of a component ends, and the names of components in keys.
_AXIS = re.compile(r"_(v?[xyz]|w|latitude|longitude|\d+)$")
_COMPONENTS = ("east", "north", "up", "x", "y", "z", "roll", "pitch", "yaw", "ra", "dec")

#: Units as columns spell them, with what shows them best.
_CHOICES = {
    "m": words.length,
    "s": words.time,
    "m/s": words.speed,
    "m^2": words.area,
    "m/s^2": words.acceleration,
    "rad": lambda _: words.DEGREE,
    "rad/s": lambda _: words.Unit("°/s", math.pi / 180.0),
}


@dataclass(frozen=True, eq=False)
class Input:
    """A dispersed number."""

    label: str
    """As a reader knows it: ``release velocity, east``."""
    unit: str
    values: Array
    """(n,) one for each run, SI."""
    key: str = ""
    """Of the scenario."""
    axis: str = ""
    """Which component it is; empty of a single number."""

    @property
    def shown(self) -> words.Unit:
        """The unit that suits its size."""
        finite = np.abs(self.values[np.isfinite(self.values)])
        size = float(np.quantile(finite, 0.9)) if len(finite) else 0.0
        return unit_for(self.unit, size)


def unit_for(unit: str, size: float) -> words.Unit:
    """What shows values of a unit [SI] of about this size best."""
    choose = _CHOICES.get(unit)
    return choose(size) if choose else words.Unit(unit.replace("*", " ").replace("^2", "²"), 1.0)


def input_of(column: str, unit: str, values: Array, scenario: Mapping[str, Any]) -> Input:
    """The input that a column holds: its key in the scenario, and which component it is."""
    keys = scenario.get("dispersions", {})
    key = max((k for k in keys if column.startswith(k)), key=len, default="")
    bare = column.removesuffix("_" + unit.replace("/", "_per_").replace("*", "_"))
    if not key:  # of a group or a table of samples, which name it within
        key = _AXIS.sub("", bare)
    found = _AXIS.search(bare[len(key) :])
    if not found:
        return Input(name_of(key), unit, values, key)
    axis = found.group(1)
    if key == "release.state":
        key, axis = _of_state(axis, scenario)
    local = is_local(scenario) and key in _LOCAL_KEYS
    label = f"{name_of(key)}, {_LOCAL[axis] if local else axis}"
    return Input(label, unit, values, key, axis)


def _of_state(axis: str, scenario: Mapping[str, Any]) -> tuple[str, str]:
    """The vector and the component of it that a number of ``release.state`` is."""
    if axis.startswith("v"):
        return "release.velocity", axis[1:]
    return ("release.offset" if is_local(scenario) else "release.position"), axis


def is_local(scenario: Mapping[str, Any]) -> bool:
    """Whether vectors of the release are east, north, up of a place."""
    return "latitude" in scenario.get("release", {})


def name_of(key: str) -> str:
    """What a reader calls a key of the scenario."""
    whole, _, last = key.rpartition(".")
    if last in _COMPONENTS and "." in whole:
        return f"{name_of(whole)}, {last}"
    return _NAMES.get(key, " ".join(key.split(".")).replace("_", " "))


# -- what vectors amount to -------------------------------------------------------------------


def scalars(inputs: Sequence[Input], scenario: Mapping[str, Any]) -> list[Input]:
    """Single numbers and components, and before those of a vector its length and the like."""
    out: list[Input] = []
    done: set[str] = set()
    for one in inputs:
        if one.axis and one.key not in done:
            done.add(one.key)
            out += _of_vector([two for two in inputs if two.key == one.key], scenario)
        out.append(one)
    return out


def _of_vector(parts: Sequence[Input], scenario: Mapping[str, Any]) -> Iterator[Input]:
    by = {one.axis: one for one in parts}
    if set(by) != {"x", "y", "z"}:
        return
    key, unit = parts[0].key, parts[0].unit
    x, y, z = (by[axis].values for axis in "xyz")
    if key == "ground.normal":
        yield Input("slope of the ground", "rad", _slope(np.stack([x, y, z], 1), scenario), key)
        return
    whole, flat = _LENGTHS.get(key, (f"length of {name_of(key)}", ""))
    yield Input(whole, unit, np.sqrt(x * x + y * y + z * z), key)
    if flat and is_local(scenario):
        yield Input(flat, unit, np.hypot(x, y), key)


def _slope(normal: Array, scenario: Mapping[str, Any]) -> Array:
    """Angle of the ground from level where gravity is uniform, or from its nominal normal [rad]."""
    pull = numbers(scenario.get("gravity", {}).get("acceleration"))
    up = -pull if pull is not None else numbers(scenario.get("ground", {}).get("normal"))
    up = np.array([0.0, 0.0, 1.0]) if up is None or len(up) != 3 or not up.any() else up
    cosine = normal @ up / (np.linalg.norm(normal, axis=1) * np.linalg.norm(up))
    return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))


def numbers(given: Any) -> Array | None:
    """Numbers of a list of quantities with one unit, whatever it is; None where it is no list."""
    if not isinstance(given, Iterable) or isinstance(given, str):
        return None
    try:
        return np.array([float(str(one).split()[0]) for one in given])
    except (ValueError, IndexError):
        return None
