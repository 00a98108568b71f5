"""How the answers of a campaign settle as runs are added: what the first n runs would have said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.analysis import columns
from alight.analysis.columns import Array, Bools
from alight.analysis.footprint import ellipses, footprint
from alight.analysis.intervals import CONFIDENCE, Estimate, quantile, wilson
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
    is that of independent runs: of a Latin hypercube or Sobol sequence the start is not
    spread as evenly as the whole, and intervals are on the wide side.
    """
    places = columns.point_names("rest_")
    got = columns.gather(tables, ["outcome_code", *quantities, *places])
    codes, rest = got["outcome_code"], columns.points(got, "rest_")
    found = growth(
        {"escaped": codes == Outcome.ESCAPED, "tipped_over": codes == Outcome.TIPPED_OVER},
        {f"median {name}": (got[name], 0.5) for name in quantities},
        confidence,
    )
    found.answers["ellipse_area_m2"] = _areas(rest, found.runs, share, confidence, level)
    return found


def growth(
    shares: Mapping[str, Bools],
    quantiles: Mapping[str, tuple[Array, float]],
    confidence: float = CONFIDENCE,
) -> Convergence:
    """What the first runs alone would have said of some shares, and of quantiles of quantities."""
    steps = sizes(len(next(iter(shares.values()))))
    answers: dict[str, list[Estimate]] = {}
    for name, hit in shares.items():
        total = np.cumsum(hit)
        answers[name] = [wilson(int(total[n - 1]), int(n), confidence) for n in steps]
    for name, (values, p) in quantiles.items():
        answers[name] = [quantile(values[:n], p, confidence) for n in steps]
    return Convergence(steps, answers)


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
