"""Which values each run of a campaign gets: dispersions sampled by run number.

Every dispersion needs a few uniform numbers a run (``kinds``). They come from one of

- ``random``: ``core.random``, addressed by (seed, run, key): a run's values depend on nothing else,
  alone, in any shard, in any order, in a campaign of any length;
- ``latin-hypercube``: in each dimension each of ``total`` equal intervals holds one run; which one
  is a permutation drawn from the seed, and where in it the random number above;
- ``sobol``: point number ``run`` of one scrambled Sobol sequence over all dimensions, its scrambling
  drawn from the seed. Dimensions are dealt out in the alphabetical order of keys.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.campaign.kinds import Kind, make
from alight.core import random
from alight.core.checks import Array
from alight.core.errors import InputError, unknown_name

SAMPLINGS = ("random", "latin-hypercube", "sobol")

#: Kinds that disperse several quantities of one table together.
_TOGETHER = {"cap": ("latitude", "longitude"), "covariance": ("position", "velocity")}


@dataclass(frozen=True, eq=False)
class Drawn:
    """One dispersion, ready to draw: its kind, and the keys of the quantities that it fills."""

    key: str
    kind: Kind
    targets: tuple[tuple[str, tuple[int, ...]], ...]
    """Key and shape of each quantity, in the order of the kind's values."""

    def values(self, u: Array) -> dict[str, Array]:
        """Values by key, one row a run."""
        drawn, out, start = self.kind.draw(u), {}, 0
        for key, shape in self.targets:
            width = int(np.prod(shape, dtype=int))
            out[key] = drawn[:, start : start + width].reshape(len(u), *shape)
            start += width
        return out


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
    points = uniform_numbers(
        int(scenario.seed),
        number,
        {d.key: d.kind.dims for d in drawn},
        str(scenario.campaign.sampling),
        whole,
    )
    out: dict[str, npt.NDArray[np.float64]] = {}
    for one in drawn:
        out.update(one.values(points[one.key]))
    return out


# ---------------------------------------------------------------------------------------------
# Dispersions of a scenario
# ---------------------------------------------------------------------------------------------


def dispersions_of(scenario: Any) -> list[Drawn]:
    """The dispersions of a scenario, checked, in alphabetical order of their keys."""
    out = [_drawn(scenario, key, spec) for key, spec in sorted(scenario.dispersions.items())]
    taken: dict[str, str] = {}
    for one in out:
        for target, _ in one.targets:
            if target in taken:
                raise InputError(
                    f'"{target}" is dispersed twice: by dispersions."{taken[target]}" and by '
                    f'dispersions."{one.key}". Leave one of them out.'
                )
            taken[target] = one.key
    return out


def _drawn(scenario: Any, key: str, spec: Any) -> Drawn:
    name, parameters = _parts(spec)
    if name in _TOGETHER:
        table = key.partition(".")[0]
        keys = tuple(f"{table}.{part}" for part in _TOGETHER[name])
    else:
        keys = (key,)
    nominals = [np.asarray(scenario.number(k), dtype=np.float64) for k in keys]
    flat = np.concatenate([n.reshape(-1) for n in nominals])
    try:
        kind = make(name, flat, parameters)
        if kind.width != flat.size:
            raise InputError(
                f'a dispersion of kind "{name}" makes {kind.width} numbers; this quantity has '
                f"{flat.size}."
            )
    except InputError as cause:
        raise InputError(f'dispersions."{key}": {cause}') from None
    return Drawn(key, kind, tuple((k, n.shape) for k, n in zip(keys, nominals, strict=True)))


def _parts(spec: Any) -> tuple[str, dict[str, Any]]:
    """Kind and parameters of a dispersion as the scenario holds it."""
    if isinstance(spec, Mapping):
        fields = dict(spec)
    elif dataclasses.is_dataclass(spec):
        fields = {f.name: getattr(spec, f.name) for f in dataclasses.fields(spec)}
    else:
        fields = spec.model_dump(exclude_none=True)
    name = str(fields.pop("kind"))
    fields.update(fields.pop("parameters", {}))
    return name, {n: v for n, v in fields.items() if v is not None}


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
    # Coordinates have 30 bits, so they may be 0 but never 1.
    return np.asarray(out[back])


def _sobol_engine(seed: int, dims: int) -> Any:
    from scipy.stats import qmc

    # The scrambling must be the same in every process: drawn from the seed by a fixed generator.
    generator = np.random.Generator(np.random.Philox(seed))
    name = "rng" if "rng" in inspect.signature(qmc.Sobol).parameters else "seed"
    return qmc.Sobol(dims, scramble=True, **{name: generator})
