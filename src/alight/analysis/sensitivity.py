"""Which uncertainty drives which outcome: rank correlations and first-order Sobol indices.

Both are estimated from the runs of a campaign as they are; no runs of a special design are needed.
A rank correlation sees what rises or falls steadily with an input; a Sobol index sees any
dependence of the mean on one input, and how much of the variance it explains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from alight.analysis import columns, settling
from alight.analysis.columns import Array
from alight.analysis.footprint import Footprint
from alight.analysis.intervals import CONFIDENCE, normal_width
from alight.core.errors import InputError
from alight.core.outcomes import Outcome

#: Most bins of an input, and the fewest runs in a bin.
MOST_BINS, LEAST_IN_BIN = 50, 20

#: Runs that are looked at unless more are asked for: with so many an interval is no wider than
#: 0.01, and every further run costs a sort for each input.
MOST_RUNS = 200_000


@dataclass(frozen=True)
class Sensitivity:
    """Every input against every output; rows are inputs, columns outputs.

    nan where an input or output does not vary or too few runs have the output.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    n: npt.NDArray[np.int64]
    """(inputs, outputs) runs that have both."""
    value: Array
    low: Array
    high: Array
    """Ends of the confidence interval."""
    p: Array
    """Chance of so strong a dependence, or a stronger one, if there were none."""

    def strongest(self, output: str) -> list[str]:
        """Inputs, the one that matters most first; those that cannot be determined are left out."""
        at = self.value[:, self.outputs.index(output)]
        order = np.argsort(-np.abs(at), kind="stable")
        return [self.inputs[i] for i in order if np.isfinite(at[i])]


def rank_correlation(
    inputs: Mapping[str, Array],
    outputs: Mapping[str, Array],
    confidence: float = CONFIDENCE,
    most: int | None = MOST_RUNS,
) -> Sensitivity:
    """Spearman's rank correlation, -1 to 1, of every input with every output.

    The interval is Fisher's with the variance (1 + r^2/2)/(n - 3) of Bonett and Wright (2000); p is
    that of Student's t with n - 2 degrees. Only the first ``most`` runs are used; all if None.
    """
    z = normal_width(confidence)
    inputs, outputs = _checked(inputs, outputs, most)
    ranked = {name: _ranked_where_known(y) for name, y in outputs.items()}

    def pair(x: Array, y: Array) -> tuple[float, ...]:
        n = len(x)
        r = _correlation(_ranks_of_sorted(x), y) if n > 3 else np.nan
        if not np.isfinite(r):
            return n, np.nan, np.nan, np.nan, np.nan
        half = z * np.sqrt((1.0 + 0.5 * r * r) / (n - 3))
        middle = np.arctanh(np.clip(r, -1.0 + 1e-15, 1.0 - 1e-15))
        t = abs(r) * np.sqrt((n - 2) / max(1.0 - r * r, 1e-300))
        return (
            n,
            r,
            np.tanh(middle - half),
            np.tanh(middle + half),
            2.0 * scipy.special.stdtr(n - 2, -t),
        )

    return _each(inputs, ranked, pair)


def sobol_first_order(
    inputs: Mapping[str, Array],
    outputs: Mapping[str, Array],
    confidence: float = CONFIDENCE,
    bins: int | None = None,
    most: int | None = MOST_RUNS,
) -> Sensitivity:
    """First-order Sobol index, Var E[y | x] / Var y, of every input for every output.

    Runs are sorted by the input into ``bins`` of equal count. With SSB and SSW the sums of squares
    between and within M bins of n runs, the index is (SSB - (M - 1) s^2)/(SSB + SSW), where
    s^2 = SSW/(n - M) takes off what scatter alone puts between bins (Kelley's epsilon squared):
    an input without effect has 0 on average, and may come out a little below. What the mean of y
    does within a bin is missed: for y = x, 1/M^2 of the index if x is uniform.

    The standard error comes from the influence of each run on the index; p is that of the F-test
    between bins. ``bins`` is 50, or fewer with few runs.
    Only the first ``most`` runs are used; all if None.
    """
    z = normal_width(confidence)
    inputs, outputs = _checked(inputs, outputs, most)
    if bins is not None and bins < 2:
        raise InputError(f"bins is {bins}; at least 2 are needed to compare")

    def pair(x: Array, y: Array) -> tuple[float, ...]:
        n = len(x)
        m = bins if bins is not None else min(MOST_BINS, n // LEAST_IN_BIN)
        if m < 2 or n <= 2 * m or x[0] == x[-1]:
            return n, np.nan, np.nan, np.nan, np.nan
        return n, *_binned_index(y, m, z)

    return _each(inputs, outputs, pair)


def _binned_index(y: Array, m: int, z: float) -> tuple[float, float, float, float]:
    """Index, interval and p of values in the order of the input."""
    n = len(y)
    start = np.arange(m) * n // m
    count = np.diff(np.append(start, n))
    y = y - y.mean()
    square = y * y
    total = square.sum()
    mean = np.add.reduceat(y, start) / count
    between = float(count @ (mean * mean))
    within = float(total - between)
    if total <= 0.0:
        return np.nan, np.nan, np.nan, np.nan
    noise = within / (n - m)
    index = float((between - (m - 1) * noise) / total)
    residual = y - np.repeat(mean, count)
    influence = ((1.0 - index) * square - residual * residual) * (n / total)
    # Scatter of the bins' means puts 4 (M - 1) (1 - S)^2/n^2 into the variance of the influence
    # over n; its true share in that of the index is half of it, and all there is at index 0.
    scatter = 2.0 * (m - 1) * (1.0 - index) ** 2 / n**2
    error = float(np.sqrt(max(influence.var() / n - scatter, scatter)))
    p = float(scipy.special.fdtrc(m - 1, n - m, between / (m - 1) / noise)) if noise > 0.0 else 0.0
    return index, index - z * error, index + z * error, p


# ---------------------------------------------------------------------------------------------
# What goes in
# ---------------------------------------------------------------------------------------------


def outputs_of(runs: Any, footprint: Footprint | None = None) -> dict[str, Array]:
    """Outputs of a table of runs: its quantities, rest east and north, and who escaped (0 or 1)."""
    found = settling.read_runs(runs)
    codes = found.pop("outcome_code")
    if footprint is not None:
        places = columns.points(columns.gather(runs, columns.point_names("rest_")), "rest_")
        local = (places - footprint.origin) @ footprint.R_TL[:, :2]
        found["rest_east_m"], found["rest_north_m"] = local[:, 0], local[:, 1]
    found["escaped"] = (codes == Outcome.ESCAPED).astype(np.float64)
    return found


def _checked(
    inputs: Mapping[str, Array], outputs: Mapping[str, Array], most: int | None
) -> tuple[dict[str, Array], dict[str, Array]]:
    """The first ``most`` runs of all columns; columns that differ in their runs are refused."""
    lengths = {name: len(values) for name, values in (*inputs.items(), *outputs.items())}
    if not inputs or not outputs:
        raise InputError("at least one input and one output are needed")
    if len(set(lengths.values())) != 1:
        raise InputError(f"all columns must have one value per run; lengths are {lengths}")
    return {k: x[:most] for k, x in inputs.items()}, {k: y[:most] for k, y in outputs.items()}


def _each(
    inputs: Mapping[str, Array],
    outputs: Mapping[str, Array],
    pair: Callable[[Array, Array], tuple[float, ...]],
) -> Sensitivity:
    """``pair`` of every input and output, on the runs that have both, in order of the input."""
    table = np.empty((5, len(inputs), len(outputs)))
    # Outputs side by side: sorting them by an input then walks through memory once, not once each.
    rows = np.stack(list(outputs.values()), axis=1)
    for i, x in enumerate(inputs.values()):
        order = np.argsort(x, kind="stable")
        order = order[np.isfinite(x[order])]
        ascending, moved = x[order], np.ascontiguousarray(rows[order].T)
        for j, y in enumerate(moved):
            known = np.isfinite(y)
            table[:, i, j] = pair(ascending[known], y[known])
    n = table[0].astype(np.int64)
    return Sensitivity(tuple(inputs), tuple(outputs), n, *table[1:])


def _ranked_where_known(y: Array) -> Array:
    ranks = np.full(len(y), np.nan)
    known = np.isfinite(y)
    order = np.argsort(y[known], kind="stable")
    ranks[np.flatnonzero(known)[order]] = _ranks_of_sorted(y[known][order])
    return ranks


def _ranks_of_sorted(x: Array) -> Array:
    """Ranks of ascending values; equal ones share their mean."""
    new = np.flatnonzero(np.diff(x, prepend=np.nan) != 0.0)
    if len(new) == len(x):
        return np.arange(1.0, len(x) + 1.0)
    count = np.diff(np.append(new, len(x)))
    return np.repeat(new + 0.5 * (count + 1.0), count)


def _correlation(a: Array, b: Array) -> float:
    a, b = a - a.mean(), b - b.mean()
    scale = np.sqrt(_dot(a, a) * _dot(b, b))
    return float(np.clip(_dot(a, b) / scale, -1.0, 1.0)) if scale > 0.0 else float("nan")


def _dot(a: Array, b: Array) -> float:
    # Not ``a @ b``: its threads cost more than they save on one long pair.
    return float(np.einsum("i,i->", a, b))
