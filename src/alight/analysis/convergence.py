"""How the answers of a campaign settle as runs are added: what the first n runs would have said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.analysis import columns
from alight.analysis.columns import Array
from alight.analysis.footprint import ellipses, footprint
from alight.analysis.intervals import CONFIDENCE, Estimate, sorted_quantile, wilson
from alight.core.errors import InputError
from alight.core.outcomes import Outcome

_UNKNOWN = Estimate(float("nan"), float("nan"), float("nan"), 0)


@dataclass(frozen=True)
class Convergence:
    """Answers of the first n runs, for growing n."""

    runs: npt.NDArray[np.int64]
    """(k,) numbers of runs; the last is all of them."""
    answers: dict[str, list[Estimate]]
    """By answer, one for each of ``runs``; nan where so few runs give none."""

    def change(self, answer: str) -> float:
        """Relative change of an answer from the last but one number of runs to all of them."""
        values = [estimate.value for estimate in self.answers[answer]]
        if len(values) < 2 or values[-1] == 0.0:
            return float("nan")
        return abs(values[-2] / values[-1] - 1.0)

    def width(self, answer: str) -> float:
        """Half width of the last interval as a part of the answer; nan if it is 0 or unknown."""
        last = self.answers[answer][-1]
        return 0.5 * (last.high - last.low) / abs(last.value) if last.value else float("nan")


def sizes(n: int) -> npt.NDArray[np.int64]:
    """10, 20, 50, 100, ... up to ``n``, and ``n`` itself."""
    if n < 1:
        raise InputError("there are no runs yet: convergence needs at least one")
    decades = [m * 10**k for k in range(1, len(str(n)) + 1) for m in (1, 2, 5)]
    return np.array([*(size for size in decades if size < n), n], dtype=np.int64)


def convergence(
    tables: Any,
    quantities: Sequence[str] = ("settle_time_s",),
    share: float = 0.95,
    confidence: float = CONFIDENCE,
    level: Array | None = None,
) -> Convergence:
    """Medians of ``quantities``, area of the empirical ellipse, shares that escape or tip over.

    Takes a table of runs in the order of their numbers, or an iterable of its batches. Answers are
    named ``median <quantity>``, ``ellipse_area_m2``, ``escaped`` and ``tipped_over``. ``level`` is
    the normal of flat ground; on a body the ellipse lies in the tangent plane. Each interval
    is that of so many independent runs: of a Latin hypercube or Sobol sequence the start is not
    spread as evenly as the whole, and intervals are on the wide side.
    """
    places = columns.point_names("rest_")
    got = columns.gather(tables, ["outcome_code", *quantities, *places])
    codes, rest = got["outcome_code"], columns.points(got, "rest_")
    steps = sizes(len(codes))
    answers = {
        f"median {name}": [_median(got[name][:n], confidence) for n in steps] for name in quantities
    }
    answers["ellipse_area_m2"] = _areas(rest, steps, share, confidence, level)
    for name, outcome in (("escaped", Outcome.ESCAPED), ("tipped_over", Outcome.TIPPED_OVER)):
        gone = np.cumsum(codes == outcome)
        answers[name] = [wilson(int(gone[n - 1]), int(n), confidence) for n in steps]
    return Convergence(steps, answers)


def _median(values: Array, confidence: float) -> Estimate:
    return sorted_quantile(np.sort(values[np.isfinite(values)]), 0.5, confidence)


def _areas(
    rest: Array,
    steps: npt.NDArray[np.int64],
    share: float,
    confidence: float,
    level: Array | None,
) -> list[Estimate]:
    """Area of the ellipse of the first runs, all in the plane that all of them span."""
    known = np.isfinite(rest).all(axis=1)
    if not known.any():
        return [_UNKNOWN for _ in steps]
    plane, settled = footprint(rest, level).plane, np.cumsum(known)
    return [_area(plane[: settled[n - 1]], share, confidence) for n in steps]


def _area(plane: Array, share: float, confidence: float) -> Estimate:
    try:
        return ellipses(plane, [share], confidence)[0].area
    except InputError:  # too few places, or all on one line
        return _UNKNOWN
