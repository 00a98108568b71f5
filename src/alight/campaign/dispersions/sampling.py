"""Which values each run of a campaign gets: dispersions sampled by run number.

Every dispersion needs a few uniform numbers a run (``distributions``). They come from one of

- ``random``: ``core.random``, addressed by (seed, run, key): a run's values depend on nothing else,
  alone, in any shard, in any order, in a campaign of any length;
- ``latin-hypercube``: in each dimension each of ``total`` equal intervals holds one run; which one
  is a permutation drawn from the seed, and where in it the random number above;
- ``sobol``: point number ``run`` of one Sobol sequence over all dimensions, its scrambling
  drawn from the seed. Dimensions are dealt out in the alphabetical order of keys.

Sweeps take no uniform numbers. Their combinations are counted through in the alphabetical order of
keys, the last key fastest, and run k has combination k (after the last the first again: repeats).
"""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.campaign.dispersions.distributions import (
    Distribution,
    SweepDistribution,
    make,
    parameters_of,
)
from alight.core import random
from alight.core.checks import Array
from alight.core.errors import InputError, unknown_name
from alight.scenario.dispersion import FREE

SAMPLINGS = ("random", "latin-hypercube", "sobol")


@dataclass(frozen=True, eq=False)
class Drawn:
    """One dispersion, ready to draw."""

    key: str
    kind: Distribution
    shape: tuple[int, ...]
    """Of one run's value: () for a number."""

    def values(self, u: Array) -> Array:
        """Values, one row a run."""
        return self.kind.draw(u).reshape(len(u), *self.shape)


def sample(
    scenario: Any, runs: npt.ArrayLike, *, total: int | None = None
) -> dict[str, npt.NDArray[np.float64]]:
    """Values of the dispersed quantities in SI, by key; row i belongs to run ``runs[i]``.

    ``total`` is the number of runs of the whole campaign, for Latin hypercubes; the scenario's own
    if not given.
    """
    number = np.atleast_1d(np.asarray(runs))
    drawn = dispersions_of(scenario)
    if not drawn:
        return {}
    whole = int(scenario.campaign.runs if total is None else total)
    dims = {d.key: d.kind.dims for d in drawn if d.kind.dims}
    points = uniform_numbers(
        int(scenario.seed), number, dims, str(scenario.campaign.sampling), whole
    )
    swept = sweep_values(drawn, number)
    return {d.key: swept[d.key] if d.key in swept else d.values(points[d.key]) for d in drawn}


def sweep_values(drawn: Sequence[Drawn], runs: Any) -> dict[str, Array]:
    """The values of sweeps in some runs, by key."""
    sweeps = [(d, d.kind) for d in drawn if isinstance(d.kind, SweepDistribution)]
    if not sweeps:
        return {}
    counts = tuple(len(kind.values) for _, kind in sweeps)
    which = np.unravel_index(np.asarray(runs) % math.prod(counts), counts)
    return {
        d.key: kind.values[rows].reshape(len(rows), *d.shape)
        for (d, kind), rows in zip(sweeps, which, strict=True)
    }


# ---------------------------------------------------------------------------------------------
# Dispersions of a scenario
# ---------------------------------------------------------------------------------------------


def dispersions_of(scenario: Any) -> list[Drawn]:
    """The dispersions of a scenario, checked, in alphabetical order of their keys."""
    return [_drawn(scenario, key, spec) for key, spec in sorted(scenario.dispersions.items())]


def _drawn(scenario: Any, key: str, spec: Any) -> Drawn:
    try:
        # A uniform or chosen value may stand where the scenario has none to vary about.
        free = spec.kind in FREE
        nominal = np.zeros(spec.width) if free else np.asarray(scenario.number(key))
        names = parameters_of(spec.kind)
        given = {n: getattr(spec, n) for n in names if getattr(spec, n, None) is not None}
        kind = make(spec.kind, nominal, {**given, **dict(getattr(spec, "more", ()))})
        if kind.width != spec.width:
            raise InputError(f"it makes {kind.width} numbers where {spec.width} are needed.")
    except InputError as cause:
        raise InputError(f'dispersions."{key}": {cause}') from None
    return Drawn(key, kind, () if spec.width == 1 else (spec.width,))


# ---------------------------------------------------------------------------------------------
# Uniform numbers
# ---------------------------------------------------------------------------------------------


def uniform_numbers(
    seed: int, runs: Any, dims: Mapping[str, int], sampling: str, total: int
) -> dict[str, Array]:
    """Uniform numbers in [0, 1) by key, each of shape (runs, dims of the key)."""
    if sampling not in SAMPLINGS:
        raise unknown_name("sampling", sampling, SAMPLINGS)
    if sampling != "random" and len(runs) and int(np.max(runs)) >= total:
        raise InputError(
            f"run {int(np.max(runs))} is asked for and the campaign has {total} runs: with "
            f"{sampling} sampling there are no more."
        )
    if sampling == "sobol":
        points, start, out = _sobol(seed, runs, sum(dims.values())), 0, {}
        for key, n in sorted(dims.items()):
            out[key] = points[:, start : start + n]
            start += n
        return out
    out = {key: random.uniform(seed, runs, f"dispersion:{key}", n) for key, n in dims.items()}
    if sampling == "latin-hypercube":
        for key, n in dims.items():
            place = np.stack([_permutation(seed, key, j, total)[runs] for j in range(n)], axis=-1)
            out[key] = np.minimum((place + out[key]) / total, 1.0 - 2.0**-53)
    return out


@functools.lru_cache(maxsize=64)
def _permutation(seed: int, key: str, dimension: int, total: int) -> npt.NDArray[np.uint32]:
    """Which of ``total`` intervals each run gets in one dimension: 4 bytes a run, kept."""
    bits = np.empty(total, dtype=np.uint64)
    for start in range(0, total, 65536):
        part = np.arange(start, min(start + 65536, total))
        name = f"latin-hypercube:{key}"
        bits[part] = random.bits53(seed, part, name, 1, dimension)[:, 0]
    return np.argsort(bits, kind="stable").astype(np.uint32)


def _sobol(seed: int, runs: Any, dims: int) -> Array:
    """Rows ``runs`` of the scrambled Sobol sequence, in whatever order they are asked for."""
    number, back = np.unique(np.asarray(runs, dtype=np.int64), return_inverse=True)
    engine, out = _sobol_engine(seed, dims), np.empty((len(number), dims))
    first = np.flatnonzero(np.diff(number, prepend=-2) != 1)
    with warnings.catch_warnings():
        # A shard is a part of the sequence; that the whole should be a power of two is documented.
        warnings.simplefilter("ignore", UserWarning)
        for a, b in zip(first, [*first[1:], len(number)], strict=True):
            engine.reset()
            if number[a]:
                engine.fast_forward(int(number[a]))
            out[a:b] = engine.random(int(b - a))
    # Coordinates have 30 bits: the middle of their intervals, as 0 would be 8 sigma out.
    return np.asarray(out[back] + 2.0**-31)


def _sobol_engine(seed: int, dims: int) -> Any:
    from scipy.stats import qmc

    # The scrambling must be the same in every process: drawn from the seed by a fixed generator.
    generator = np.random.Generator(np.random.Philox(seed))
    name = "rng" if "rng" in inspect.signature(qmc.Sobol).parameters else "seed"
    return qmc.Sobol(dims, scramble=True, **{name: generator})
