"""``Dispersion``: how one value of a scenario varies from run to run, read and checked.

Drawing the numbers is the campaign's; here their units are read and what cannot be is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from alight.core.errors import InputError, did_you_mean
from alight.core.registry import Entry, registry
from alight.scenario.errors import Fault, told
from alight.scenario.field_types import FieldType, ListField, Measure, Number, Whole, _Range
from alight.scenario.registered import plain
from alight.scenario.suggestions import meant

#: Keys of each kind of dispersion: needed, optional.
KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "normal": (("sigma",), ("mean",)),
    "truncated": (("sigma",), ("mean", "low", "high")),
    "uniform": (("low", "high"), ()),
    "log-normal": (("sigma",), ("median",)),
    "disc": (("radius",), ("axis",)),
    "ball": (("radius",), ()),
    "cone": (("half_angle",), ()),
    "cap": (("half_angle",), ()),
    "orientation": ((), ("half_angle",)),
    "covariance": ((), ("matrix", "sigma", "correlation")),
    "choice": (("values",), ("weights",)),
    "sweep": ((), ("values", "low", "high", "count")),
}
#: The kind that goes through its values, every combination with those of others once.
SWEEP = "sweep"
#: The kind whose value is the number of the run; scenarios have it of their own accord.
RUN_NUMBER = "run-number"
#: The kind of samples from a file ([[dispersions.table]]).
TABLE = "table"
#: Kinds that need no value to vary about.
FREE = ("uniform", "choice", SWEEP, RUN_NUMBER, TABLE)
#: What a key of a registered dispersion holds: a value of the quantity that varies, in its unit and
#: within its bounds, or a width in its unit; anything else is a ``FieldType`` of its own.
VALUE, SPREAD = "value", "spread"
#: Values of one sweep, at most.
MOST_COUNT = 10**6
#: A bounded value may be normal only if its bounds are this many sigma away.
FAR = 5.0

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Dispersion:
    """How the value under ``key`` is drawn; SI units and radians.

    Lists have one number for each component. None stands for what was not given: the mean or
    median is then the scenario's own value.
    """

    key: str
    kind: str
    """normal, truncated, uniform, log-normal, disc, ball, cone, cap, orientation, covariance,
    choice, sweep, or a name of the registry."""
    width: int
    """Components of the value."""
    sigma: Numbers | None = None
    """Standard deviations; of the logarithm for log-normal."""
    mean: Numbers | None = None
    median: Numbers | None = None
    low: Numbers | None = None
    high: Numbers | None = None
    radius: float | None = None
    """Of a disc or ball about the value."""
    axis: tuple[float, float, float] | None = None
    """Normal of a disc; the third axis if not given."""
    half_angle: float | None = None
    """Of a cone about the value, a cap about the place, or a turn from the attitude [rad]."""
    matrix: tuple[Numbers, ...] | None = None
    """Covariance; for release.state of place and velocity together [m^2, m^2/s, m^2/s^2]."""
    values: tuple[Numbers, ...] | None = None
    """To choose from, or to go through."""
    weights: Numbers | None = None
    """Their shares, which sum to 1; equal if None."""
    parts: tuple[tuple[str, int], ...] = ()
    """Of a joint dispersion: its keys, and the numbers of each."""
    samples: Any = None
    """Of a table: its rows (``joint_dispersions.Samples``)."""
    random: bool | None = None
    """Of a table: whether rows are drawn; else run k takes row k."""
    more: tuple[tuple[str, Any], ...] = ()
    """Parameters of a kind of another package, by name."""
    written: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The table as the file has it."""

    def __post_init__(self) -> None:
        if self.kind == "disc" and self.axis is None:
            object.__setattr__(self, "axis", (0.0, 0.0, 1.0))


class _Reader:
    """Reads one table of [dispersions]; ``problems`` collects what is wrong with it."""

    def __init__(self, key: str, kind: FieldType, table: Any, nominal: Any) -> None:
        self.key, self.kind, self.table, self.nominal = key, kind, table, nominal
        self.items = _item_kinds(kind)
        self.width = len(self.items)
        self.where = f'dispersions."{key}"'
        self.problems: list[Fault] = []

    def wrong(self, text: str, name: str = "") -> None:
        self.problems.append(Fault(f"{self.where}.{name}" if name else self.where, text))

    def read(self) -> Dispersion | None:
        if not isinstance(self.table, dict):
            self.wrong(
                f"found {told(self.table)}; it must be a table, such as "
                f'{{ kind = "normal", sigma = {self._example()} }}'
            )
            return None
        word = self._word()
        if word is None:
            return None
        if word not in KINDS:
            return self._registered(registry.find("dispersion", word))
        self._keys(word, *KINDS[word])
        self._fits(word)
        values = {name: self._value(name, word) for name in self.table if self._known(name, word)}
        if self.problems:
            return None
        made = self._made(word, values)
        return None if self.problems else made

    def _word(self) -> str | None:
        """The kind, where there is such a one."""
        word = self.table.get("kind")
        if isinstance(word, str) and registry.known("dispersion", word) is not None:
            return word
        names = registry.names("dispersion")
        listed = ", ".join(f'"{name}"' for name in names)
        hint = meant(word, names)
        if word in ("constant", "fixed", "none"):
            hint = f" A value that does not vary stands in its section alone: take {self.key} out."
        found = "is missing" if word is None else f"found {told(word)}"
        self.wrong(f"{found}; it must be one of {listed}.{hint}", "kind")
        return None

    # -- kinds of other packages ----------------------------------------------------------------

    def _registered(self, entry: Entry) -> Dispersion | None:
        """A dispersion of a kind that another package brings."""
        kinds = dict(entry.keys or {})
        asked = entry.asks(("nominal",))
        needed = tuple(name for name in kinds if asked.get(name, False))
        self._keys(entry.name, needed, tuple(name for name in kinds if name not in needed))
        if self.nominal is None:
            self.wrong(f"the scenario has no value under {self.key} for it to vary about", "kind")
        if isinstance(self.kind, Whole):
            self.wrong('whole numbers take "choice"', "kind")
        values = []
        for name in [name for name in kinds if name in self.table]:
            try:
                values.append((name, self._reader_of(kinds[name])(self.table[name])))
            except InputError as cause:
                self.wrong(str(cause), name)
        if self.problems:
            return None
        return Dispersion(self.key, entry.name, self.width, more=tuple(values), written=self.table)

    def _reader_of(self, kind: Any) -> Callable[[Any], Any]:
        """How a key of a registered kind is read."""
        if kind in (VALUE, SPREAD):
            return self._each(loose=kind == SPREAD)
        read: Callable[[Any], Any] = kind.read
        return lambda raw: plain(read(raw))

    def _known(self, name: str, word: str) -> bool:
        return name != "kind" and name in (*KINDS[word][0], *KINDS[word][1])

    def _keys(self, word: str, needed: tuple[str, ...], optional: tuple[str, ...]) -> None:
        """Whether all that is needed is given, and nothing else."""
        allowed = (*needed, *optional)
        for name in self.table:
            if name != "kind" and name not in allowed:
                listed = f"{', '.join(allowed) or 'none'}.{did_you_mean(name, allowed)}"
                self.wrong(f"is not a key of {word}, whose keys are {listed}", name)
        for name in needed:
            if name not in self.table:
                self.wrong(f"is missing; {word} needs {' and '.join(needed)}", name)
        if word == "covariance" and ("matrix" in self.table) == ("sigma" in self.table):
            self.wrong("needs either matrix (SI units), or sigma with correlation")
        if word == "truncated" and not {"low", "high"} & set(self.table):
            self.wrong("needs low, high or both; without them it is normal")
        if word == SWEEP:
            self._sweep_keys()

    def _sweep_keys(self) -> None:
        """A sweep has either its values, or ends and a count."""
        ends = [name for name in ("low", "high", "count") if name in self.table]
        if ("values" in self.table) == bool(ends) or len(ends) in (1, 2):
            said = "needs either values = [...], or low, high and count"
            self.wrong(said)
        elif ends and self.width > 1:
            self.wrong("low, high and count are of one number; of a vector give values", "low")

    def _fits(self, word: str) -> None:
        """Whether this kind of dispersion can be of this key."""
        attitude = self.key.endswith(".attitude")
        if word == "cap" and self.key != "release.place":
            self.wrong('"cap" goes with "release.place" only', "kind")
        if word == "orientation" and not attitude:
            self.wrong('"orientation" goes with attitudes only', "kind")
        if word in ("disc", "ball", "cone") and (
            self.width != 3 or self.key.startswith("release.e")
        ):
            self.wrong(f'"{word}" needs a vector of three, which this is not', "kind")
        if attitude and word not in ("orientation", "choice", SWEEP):
            said = 'an attitude takes "orientation", "choice" or "sweep"; angles stand under '
            self.wrong(f'{said}"release.euler"', "kind")
        if self.key == "release.state" and word not in ("covariance", SWEEP):
            self.wrong('place and velocity together take "covariance"', "kind")
        if isinstance(self.kind, Whole) and word not in ("choice", SWEEP):
            self.wrong('whole numbers take "choice" or "sweep"', "kind")
        if word == "covariance" and self.width < 2:
            self.wrong('"covariance" needs a vector; one number takes "normal"', "kind")
        if word == "cone" and self.nominal is not None and not np.any(self.nominal):
            self.wrong("a cone needs a value with a direction, and this one is zero", "kind")
        needs = word not in FREE and not {"mean", "median"} & set(self.table)
        if needs and self.nominal is None:
            self.wrong(f"the scenario has no value under {self.key} for it to vary about", "kind")

    # -- values -------------------------------------------------------------------------------

    def _value(self, name: str, word: str) -> Any:
        raw = self.table[name]
        try:
            return self._readers(word)[name](raw)
        except InputError as cause:
            self.wrong(str(cause), name)
            return None

    def _readers(self, word: str) -> dict[str, Callable[[Any], Any]]:
        n = self.width
        ratio = word == "log-normal"
        first = self.items[0]
        dimension = first.dimension if isinstance(first, Measure) else None
        free = Number(above=0) if dimension is None else Measure(dimension=dimension, above=0)
        return {
            "sigma": self._each(Number(least=0) if ratio else None, loose=True),
            "mean": self._each(),
            "median": self._each(),
            "low": self._each(),
            "high": self._each(),
            "radius": free.read,
            "axis": ListField(Number(), nonzero=True).read,
            "half_angle": Measure(dimension="angle", above=0, most=math.pi).read,
            "matrix": ListField(ListField(Number(), n), n).read,
            "correlation": ListField(ListField(Number(least=-1, most=1), n), n).read,
            "values": self._listed,
            "weights": ListField(Number(least=0), 0).read,
            "count": Whole(least=2, most=MOST_COUNT).read,
        }

    def _each(self, kind: FieldType | None = None, loose: bool = False) -> Callable[[Any], Any]:
        """A reader of one value for all components, or of one for each."""
        kinds = [kind or (_unbounded(item) if loose else item) for item in self.items]
        labels = self.kind.labels if isinstance(self.kind, MixedVector) else ()

        def read(raw: Any) -> Any:
            if not isinstance(raw, list | tuple):
                if any(k != kinds[0] for k in kinds):
                    raise InputError(f"found {told(raw)}; it must be a list of {len(kinds)}")
                return tuple(float(kinds[0].read(raw)) for _ in kinds)
            if len(raw) != len(kinds) or len(kinds) == 1:
                wanted = f"one value or a list of {len(kinds)}" if len(kinds) > 1 else "one value"
                raise InputError(f"found {told(raw)}; it must be {wanted}")
            return tuple(float(v) for v in _read_all(kinds, raw, labels))

        return read

    def _listed(self, raw: Any) -> Any:
        if not isinstance(raw, list | tuple) or not raw:
            raise InputError(f"found {told(raw)}; it must be a list of values to choose from")
        values = [self.kind.read(item) for item in raw]
        return tuple(tuple(map(float, v)) if isinstance(v, tuple) else (float(v),) for v in values)

    def _example(self) -> str:
        one = self.kind.of if isinstance(self.kind, ListField) else self.kind
        said = one.json().get("examples", [0.1])[0]
        return f'"{said}"' if isinstance(said, str) else f"{said}"

    # -- together -----------------------------------------------------------------------------

    def _made(self, word: str, values: dict[str, Any]) -> Dispersion:
        if word == "covariance":
            values = {"matrix": self._covariance(values)}
        if word == SWEEP:
            return self._swept(values)
        low, high = values.get("low"), values.get("high")
        if low and high and any(a > b for a, b in zip(low, high, strict=True)):
            low_high = f"low {told(self.table['low'])} is above high {told(self.table['high'])}"
            self.wrong(f"{low_high}; it must be below")
        if word == "choice" and values.get("weights") is not None:
            values["weights"] = self._weights(values["weights"], len(values["values"]))
        if word == "log-normal":
            middle = values.get("median") or self.nominal
            if middle is not None and not np.all(np.asarray(middle) > 0.0):
                self.wrong("a log-normal value is above 0; its median must be")
        if word == "normal":
            self._tails(values)
        numbers: Any = {
            k: float(v) if k in ("radius", "half_angle") else v for k, v in values.items()
        }
        return Dispersion(self.key, word, self.width, **numbers, written=self.table)

    def _swept(self, values: dict[str, Any]) -> Dispersion:
        """Values to go through; those between two ends stand evenly, both ends included."""
        listed = values.get("values")
        if listed is None:
            (low,), (high,) = values["low"], values["high"]
            listed = tuple((float(v),) for v in np.linspace(low, high, values["count"]))
            if isinstance(self.kind, Whole) and any(v % 1.0 for (v,) in listed):
                self.wrong("low, high and count give numbers that are not whole", "count")
        if len(set(listed)) < len(listed):
            self.wrong("has a value twice; a sweep takes each once", "values")
        return Dispersion(self.key, SWEEP, self.width, values=listed, written=self.table)

    def _tails(self, values: dict[str, Any]) -> None:
        """Normal values have no bounds: those of the key must be far away."""
        middle = values.get("mean") or self.nominal
        if middle is None:
            return
        for item, m, s in zip(self.items, np.atleast_1d(middle), values["sigma"], strict=True):
            low, high = item.ends if isinstance(item, _Range) else (-math.inf, math.inf)
            if m - FAR * s < low or m + FAR * s > high:
                bounds = " and ".join(
                    f"{said} {b:.6g}"
                    for said, b in (("above", low), ("below", high))
                    if math.isfinite(b)
                )
                self.wrong(
                    f"{FAR:g} sigma from {m:g} reach beyond what {self.key} may be ({bounds}); "
                    'take "truncated" with low and high'
                )
                return

    def _weights(self, weights: Numbers, count: int) -> Numbers | None:
        total = sum(weights)
        if len(weights) != count or not (0.0 < total < math.inf):
            self.wrong(
                f"found {len(weights)} weights for {count} values; each needs one, and not all 0",
                "weights",
            )
            return None
        return tuple(w / total for w in weights)

    def _covariance(self, values: dict[str, Any]) -> Any:
        if values.get("matrix") is not None:
            matrix = np.array(values["matrix"])
        else:
            sigma = np.array(values["sigma"])
            correlation = np.array(values.get("correlation") or np.eye(self.width))
            if not np.allclose(np.diag(correlation), 1.0, atol=1e-12):
                self.wrong("has a diagonal that is not 1", "correlation")
            with np.errstate(over="ignore", invalid="ignore"):
                matrix = correlation * np.outer(sigma, sigma)
        if not np.isfinite(matrix).all():
            name = "matrix" if values.get("matrix") is not None else "sigma"
            self.wrong("is too large: variances must be finite numbers", name)
            return None
        scale = np.sqrt(np.maximum(np.diag(matrix), 0.0))
        unit = matrix / np.where(np.outer(scale, scale) > 0.0, np.outer(scale, scale), 1.0)
        symmetric = np.abs(unit - unit.T).max() <= 1e-9
        if not (
            symmetric and np.diag(matrix).min() >= 0.0 and np.linalg.eigvalsh(unit).min() > -1e-9
        ):
            given = next(n for n in ("matrix", "correlation", "sigma") if n in self.table)
            what = "correlation" if given == "correlation" else "covariance"
            why = "it must be symmetric" if not symmetric else "no numbers vary together like that"
            self.wrong(f"is no {what}: {why} (it must have no negative eigenvalue)", given)
        return tuple(tuple(float(v) for v in row) for row in 0.5 * (matrix + matrix.T))


def _read_all(kinds: Sequence[FieldType], raw: Sequence[Any], labels: Sequence[str]) -> list[Any]:
    """The values of a list, a kind each; an error with every entry that is wrong."""
    found: list[Any] = []
    wrong: list[str] = []
    for place, (kind, value) in enumerate(zip(kinds, raw, strict=True)):
        try:
            found.append(kind.read(value))
        except InputError as cause:
            label = f" ({labels[place]})" if labels else ""
            wrong.append(f"entry {place + 1}{label}: {cause}")
    if wrong:
        raise InputError("; ".join(wrong))
    return found


def _item_kinds(kind: FieldType) -> list[FieldType]:
    if isinstance(kind, MixedVector):
        return list(kind.kinds)
    return [kind.of] * kind.width if isinstance(kind, ListField) else [kind]


def _unbounded(kind: FieldType) -> FieldType:
    if isinstance(kind, Measure):
        return Measure(dimension=kind.dimension, least=0)
    return Number(least=0)


@dataclass(frozen=True)
class MixedVector(FieldType):
    """Several values of different kinds as one vector, for dispersions only."""

    kinds: tuple[FieldType, ...]
    labels: tuple[str, ...] = ()
    """The keys that they are of, for messages."""

    @property
    def width(self) -> int:  # type: ignore[override]
        """Numbers in it."""
        return len(self.kinds)

    def read(self, value: Any) -> Any:
        """A tuple."""
        if not isinstance(value, list | tuple) or len(value) != len(self.kinds):
            raise InputError(f"found {told(value)}; it must be a list of {len(self.kinds)}")
        return tuple(kind.read(item) for kind, item in zip(self.kinds, value, strict=True))

    def json(self) -> dict[str, Any]:
        """An array."""
        return {"type": "array", "prefixItems": [kind.json() for kind in self.kinds]}


def read(
    key: str, kind: FieldType, table: Any, nominal: Any
) -> tuple[Dispersion | None, list[Fault]]:
    """The dispersion that ``table`` describes for the value under ``key``, and what is wrong."""
    reader = _Reader(key, kind, table, nominal)
    made = reader.read()
    return made, reader.problems


def read_as_vector(
    where: str, kind: MixedVector, table: Any, nominal: Any
) -> tuple[Dispersion | None, list[Fault]]:
    """The same of several values as one vector; ``where`` is what messages call it."""
    reader = _Reader(where, kind, table, nominal)
    reader.where = where
    if table.get("kind") != "covariance":
        reader.wrong(f'found {told(table.get("kind"))}; a group takes "covariance"', "kind")
        return None, reader.problems
    made = reader.read()
    if made is not None and made.matrix is not None:
        reader._tails({"sigma": tuple(math.sqrt(row[i]) for i, row in enumerate(made.matrix))})
    return (None if reader.problems else made), reader.problems


def flattened(tables: Any) -> dict[str, Any]:
    """Tables by their dotted keys, also where a file left the quotes away."""
    out: dict[str, Any] = {}
    for key, table in tables.items():
        inner = (
            isinstance(table, dict) and table and all(isinstance(v, dict) for v in table.values())
        )
        if inner:
            out |= {f"{key}.{rest}": found for rest, found in flattened(table).items()}
        else:
            out[key] = table
    return out
