"""Runs of the flight events: ensembles of scenarios, and what is read off their contacts."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from alight import scenario
from alight.campaign import sample
from alight.core import frames
from alight.core.outcomes import Outcome
from alight.engine import BatchResult, run_batch, simulate
from alight.motions import Model, Solution
from alight.scenario import shipped_scenarios

#: Scenarios of events that are not shipped.
SCENARIOS = Path(__file__).with_name("flight_scenarios")


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The runs of one scenario, in the order of ``values``."""

    prepared: Any
    values: dict[str, Any]
    found: list[tuple[BatchResult, Any]]
    """Results of each model, and which runs they are."""

    def __len__(self) -> int:
        return sum(len(rows) for _, rows in self.found)

    def contacts(self) -> list[Any]:
        """The contacts of each run, in order of time."""
        out: list[Any] = [None] * len(self)
        for result, rows in self.found:
            for row, contacts in zip(rows, contacts_of(result), strict=True):
                out[row] = contacts
        return out

    def final(self, name: str) -> Any:
        """``position``, ``time`` or ``outcome`` at the end of each run."""
        first = np.asarray(getattr(self.found[0][0], name))
        out = np.empty((len(self), *first.shape[1:]), dtype=first.dtype)
        for result, rows in self.found:
            out[rows] = getattr(result, name)
        return out

    def settled(self) -> Any:
        """Which runs came to rest."""
        return self.final("outcome") == Outcome.SETTLED

    def model(self, run: int = 0) -> Model:
        """The model of one of the runs."""
        return self._one(run).model

    def track(self, run: int) -> Solution:
        """One of the runs again, in full detail."""
        one = self._one(run)
        return simulate(one.model, one.release)

    def starts(self) -> Any:
        """Where each run began [m]."""
        out = np.empty((len(self), 3))
        for group in self.prepared.groups(self.values):
            out[np.asarray(group.rows)] = group.release.position
        return out

    def _one(self, run: int) -> Any:
        (one,) = self.prepared.groups({key: a[[run]] for key, a in self.values.items()})
        return one


def contacts_of(result: BatchResult) -> list[Any]:
    """The contacts of each run of a batch, in order of time."""
    ends = np.searchsorted(result.touches["run"], np.arange(len(result) + 1))
    return [result.touches[ends[k] : ends[k + 1]] for k in range(len(result))]


def loaded(name: str, change: dict[str, Any] | None = None) -> Any:
    """A scenario of the events, shipped or beside this file, with some values changed."""
    own = SCENARIOS / f"{name}.toml"
    given = scenario.load(own if own.exists() else shipped_scenarios.shipped()[name].path)
    return given.replaced(change) if change else given


def ensemble(
    name: str, runs: int, also: dict[str, Any] | None = None, change: dict[str, Any] | None = None
) -> Ensemble:
    """Runs of a scenario, with values under further keys, or with a changed scenario."""
    given = loaded(name, change)
    prepared = scenario.prepare(given, "cpu")
    values = {**sample(given, np.arange(runs), total=runs), **(also or {})}
    values = {key: np.reshape(a, (runs, -1)) for key, a in values.items()}
    found = [
        (run_batch(group.model, group.release, device="cpu"), np.asarray(group.rows))
        for group in prepared.groups(values)
    ]
    for result, _ in found:
        failed = {str(end): n for end, n in result.count().items() if end.failed}
        if failed:
            raise RuntimeError(f"runs of {name} failed, and none may: {failed}")
    return Ensemble(prepared, values, found)


# -- places and directions ----------------------------------------------------------------------


def plumb(model: Model, place: Any) -> tuple[Any, float]:
    """Up along the plumb line (a unit vector) and gravity [m/s^2], centrifugal part included."""
    spin = np.ravel(model.rotation.evaluate([0.0], device="cpu")[0])
    return plumb_of(model.gravity, spin, place)


def plumb_of(field: Any, spin: Any, place: Any) -> tuple[Any, float]:
    """The same for a gravity law and a spin vector [rad/s]."""
    pull = np.ravel(field.evaluate(np.reshape(place, (1, 3)), device="cpu")[1])
    net = pull - np.cross(spin, np.cross(spin, place))
    size = float(np.linalg.norm(net))
    return -net / size, size


def across(step: Any, up: Any) -> Any:
    """Lengths [m] of steps (n, 3) across directions ``up`` (n, 3)."""
    return np.linalg.norm(step - np.sum(step * up, axis=1)[:, None] * up, axis=1)


def cone(r: np.random.Generator, axis: Any, half: float, count: int) -> Any:
    """Unit vectors spread evenly within ``half`` [rad] of ``axis``."""
    c = r.uniform(np.cos(half), 1.0, count)
    turn, s = r.uniform(0.0, 2.0 * np.pi, count), np.sqrt(1.0 - c**2)
    local = np.column_stack([s * np.cos(turn), s * np.sin(turn), c])
    return local @ frames.local_frame(axis).T


def real_shape(name: str) -> Path | None:
    """A real shape model, if it is at hand: in ``ALIGHT_SHAPES``, or ``shared/shapes`` beside."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "shapes"
    file = Path(os.environ.get("ALIGHT_SHAPES", beside)) / name
    return file if file.exists() else None


# -- closed forms, in even gravity --------------------------------------------------------------


def fall_time(height: float, speed: float, g: float) -> float:
    """Time [s] to fall ``height`` [m] from a downward ``speed`` [m/s]."""
    return float((np.sqrt(speed**2 + 2.0 * g * height) - speed) / g)


def hop_time(speed: float, g: float) -> float:
    """Time [s] from a take-off at ``speed`` [m/s] straight up to the return."""
    return 2.0 * speed / g


def bouncing_time(speed: float, g: float, e: float) -> float:
    """Time [s] of all bounces of a ball that first hits level ground at ``speed`` [m/s]."""
    return 2.0 * speed * e / (g * (1.0 - e))


# -- words --------------------------------------------------------------------------------------


def in_words(values: Any, digits: int = 2) -> str:
    """Median, 5 % and 95 % of the values that exist."""
    kept = np.asarray(values, dtype=float)
    kept = kept[np.isfinite(kept)]
    if not len(kept):
        return "none"
    low, middle, high = (float(f"{v:.{digits}g}") for v in np.percentile(kept, [5, 50, 95]))
    return f"{middle:,.10g} ({low:,.10g} to {high:,.10g})"


def percent(part: Any) -> str:
    """A share of runs."""
    return f"{100.0 * float(np.mean(part)):.0f} %" if np.size(part) else "none"
