"""The rule by which a measured event is judged, and what is judged: bands, runs, shares, verdicts.

The rule is stated here once and applied by code to every event. It knows one number: the share of
runs inside the published band. All runs count, those too in which the quantity does not exist (a
lander that never comes down has no second touch): they lie outside.
"""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

#: The events: bands and inputs.
FILE = Path(__file__).with_name("flight_events.toml")

#: Share of runs inside the band from which a quantity is reproduced, or at least possible.
REPRODUCED, POSSIBLE = 0.5, 0.05
#: Half width of the band of a number that is published without an uncertainty, as a part of it.
WIDTH = 0.1

SET, PREDICTED = "set", "predicted"

#: The verdicts, best first, by what the quantity was used for.
VERDICTS = {
    PREDICTED: ("reproduced", "possible", "not reproduced"),
    SET: ("consistent", "partly consistent", "inconsistent"),
}

#: What a band of this width holds of runs that are spread evenly, by logarithm, over a decade [%].
NO_SKILL = 100.0 * np.log10((1.0 + WIDTH) / (1.0 - WIDTH))

RULE = f"""\
- Each quantity has a **band**: the range or uncertainty that was published. Where there is none, it
  is the number ± {100 * WIDTH:.0f} %; of a count, ± 1.
- What is known of the event is set. What is not known is dispersed over a range, given with its
  reason; no range is fitted to a quantity that is judged.
- The **share** is that of the runs inside the band. Runs that lack the quantity (no second touch,
  no rest) count as outside.
- **Reproduced**: the share is {100 * REPRODUCED:.0f} % or more. The model and what was known before
  would have predicted it.
- **Possible**: {100 * POSSIBLE:.0f} % or more. The flight is among what the model allows, and not
  what it predicts.
- **Not reproduced**: less.
- A quantity that served to set an input is **set**: agreement is no prediction. With the same
  shares it is consistent, partly consistent or inconsistent.
- The share is given with its standard error. Where a limit lies within two of them the verdict is
  marked "close": another seed may change it.

Wide ranges make much possible and little reproduced. Inputs known so badly that a quantity spreads
evenly, by its logarithm, over a factor of ten put {NO_SKILL:.0f} % of the runs into such a band.
"""


def about(value: float, part: float = WIDTH) -> tuple[float, float]:
    """The band of a number published without an uncertainty."""
    return (1.0 - part) * value, (1.0 + part) * value


def grade(share: float) -> int:
    """0, 1 or 2: where a share inside the band stands in the rule."""
    return 0 if share >= REPRODUCED else 1 if share >= POSSIBLE else 2


@dataclass(frozen=True)
class Quantity:
    """One number that flight gave."""

    key: str
    """Under which runs report it."""
    text: str
    band: tuple[float, float]
    source: str
    """Of the number, and how the band follows."""
    unit: str = ""
    use: str = PREDICTED
    digits: int = 3


@dataclass(frozen=True)
class Study:
    """An event that is run: what was measured, what is set and dispersed, what is judged."""

    name: str
    title: str
    flight: str
    known: str
    dispersed: tuple[str, ...]
    """Each with its range and the reason for it."""
    missing: str
    """Physics of the event that is not in the model."""
    quantities: tuple[Quantity, ...]
    runs: int


@dataclass(frozen=True)
class Entry:
    """One line of the list of events: the study that judges it, or why there is none."""

    event: str
    study: str = ""
    left_out: str = ""


def band_of(table: dict[str, Any]) -> tuple[float, float]:
    """The band of a quantity, which is taken out of its table."""
    (kind,) = (k for k in ("band", "about", "count", "turn") if k in table)
    value = table.pop(kind)
    if kind == "band":
        return float(value[0]), float(value[1])
    if kind == "count":
        return value - 1.0, value + 1.0
    return about(value if kind == "about" else 360.0 / value)


def _plain(value: Any) -> Any:
    """Text on one line."""
    if isinstance(value, list):
        return tuple(_plain(v) for v in value)
    return " ".join(value.split()) if isinstance(value, str) else value


def read(file: Path = FILE) -> tuple[dict[str, Study], list[Entry]]:
    """The studies by name, and the list of events."""
    table = tomllib.loads(file.read_text("utf-8"))
    studies = {}
    for name, given in table["study"].items():
        quantities = tuple(
            Quantity(key=key, band=band_of(q), **{k: _plain(v) for k, v in q.items()})
            for key, q in given.pop("quantity").items()
        )
        plain = {k: _plain(v) for k, v in given.items()}
        studies[name] = Study(name=name, quantities=quantities, **plain)
    return studies, [Entry(**{k: _plain(v) for k, v in e.items()}) for e in table["entry"]]


@dataclass(frozen=True, eq=False)
class Finding:
    """A quantity and its value in every run."""

    quantity: Quantity
    values: Any
    """One for each run; nan where the run has none."""

    @property
    def runs(self) -> int:
        """How many there were."""
        return int(np.size(self.values))

    @property
    def shares(self) -> tuple[float, float, float]:
        """Of the runs inside the band, below it and above it; the rest has no value."""
        values, (low, high) = np.asarray(self.values, dtype=float), self.quantity.band
        inside = (values >= low) & (values <= high)
        return float(inside.mean()), float((values < low).mean()), float((values > high).mean())

    @property
    def error(self) -> float:
        """Standard error of the share inside the band."""
        share = self.shares[0]
        return float(np.sqrt(share * (1.0 - share) / self.runs))

    @property
    def spread(self) -> tuple[float, float, float] | None:
        """5 %, 50 % and 95 % of the runs that have a value."""
        values = np.asarray(self.values, dtype=float)
        values = values[np.isfinite(values)]
        if not len(values):
            return None
        low, middle, high = np.percentile(values, [5.0, 50.0, 95.0])
        return float(low), float(middle), float(high)

    @property
    def verdict(self) -> str:
        """By the rule."""
        return VERDICTS[self.quantity.use][grade(self.shares[0])]

    @property
    def close(self) -> bool:
        """Whether a limit of the rule lies within two standard errors of the share."""
        return any(abs(self.shares[0] - a) < 2.0 * self.error for a in (REPRODUCED, POSSIBLE))

    def stored(self) -> dict[str, Any]:
        """What is kept of it."""
        inside, below, above = self.shares
        kept = {
            "key": self.quantity.key, "band": list(self.quantity.band), "use": self.quantity.use,
            "runs": self.runs, "inside": inside, "below": below, "above": above,
            "spread": self.spread and list(self.spread), "verdict": self.verdict,
            "close": self.close,
        }  # fmt: skip
        return {key: rounded(value) for key, value in kept.items()}


@dataclass(frozen=True, eq=False)
class Event:
    """A study with its runs."""

    study: Study
    findings: list[Finding]
    notes: list[str]
    """What else the runs tell."""
    data: dict[str, Any] = field(default_factory=dict)
    """What its figure needs."""

    @classmethod
    def of(cls, study: Study, values: dict[str, Any], notes: list[str], **data: Any) -> "Event":
        """With values by key: one for each quantity of the study, no more and no fewer."""
        keys = [q.key for q in study.quantities if not optional(q) or q.key in values]
        if sorted(keys) != sorted(values):
            raise ValueError(f"{study.name} judges {keys} and its runs gave {sorted(values)}")
        found = [Finding(q, values[q.key]) for q in study.quantities if q.key in values]
        return cls(study, found, notes, data)

    @property
    def title(self) -> str:
        """Of the study."""
        return self.study.title

    def stored(self) -> dict[str, Any]:
        """What is kept of it: findings and notes."""
        return {"findings": [f.stored() for f in self.findings], "notes": self.notes}


def optional(quantity: Quantity) -> bool:
    """Whether it needs a real shape model, which need not be at hand."""
    return quantity.text.endswith("real shape")


def rounded(value: Any) -> Any:
    """Floats with six digits, for a file that people compare."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    return [rounded(v) for v in value] if isinstance(value, list) else value
