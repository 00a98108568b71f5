"""Values of a model and its release by dotted keys: read, and changed from run to run."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from alight import motions
from alight.core.checks import Array
from alight.core.errors import InputError, did_you_mean
from alight.core.given import Given
from alight.vehicles import RigidLander

#: What the keys of a release begin with; all others are of the model.
RELEASE = "release."

_OR = "or give the study a function make(values) that builds model and release itself."


def value_at(root: Any, key: str) -> Any:
    """The number or vector under a key of a model or release; None where there is none."""
    here = root
    for name in key.split("."):
        known = _fields(here)
        if name not in known:
            hint = did_you_mean(name, known)
            raise InputError(
                f'dispersions["{key}"]: {type(here).__name__} is not made with "{name}".{hint} It '
                f"takes: {', '.join(known) or 'nothing that is known'}. Name one of these, {_OR}"
            )
        here = _held(here, name)
    if here is None:
        return None
    try:
        return np.asarray(here, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f'dispersions["{key}"]: what stands there is {here!r}, no number. Name a number or '
            f"vector of it, {_OR}"
        ) from None


def changed(root: Any, key: str, value: Any) -> Any:
    """A copy of a model or law with another value under a key."""
    name, _, rest = key.partition(".")
    return _with(root, name, changed(_held(root, name), rest, value) if rest else value)


def _fields(part: Any) -> list[str]:
    """What a part is made with."""
    if isinstance(part, Given):
        parameters = inspect.signature(type(part)).parameters.values()
        return [p.name for p in parameters if p.kind is not p.VAR_KEYWORD] + [
            name for name in part.arguments() if name not in {p.name for p in parameters}
        ]
    if dataclasses.is_dataclass(part):
        return [f.name for f in dataclasses.fields(part) if f.init]
    return []


def _held(part: Any, name: str) -> Any:
    given = part.arguments() if isinstance(part, Given) else {}
    return given[name] if name in given else getattr(part, name, None)


def _with(part: Any, name: str, value: Any) -> Any:
    plain = float(value) if np.ndim(value) == 0 and not _is_part(value) else value
    if isinstance(part, Given):
        return part.changed(**{name: plain})
    more = {}
    if isinstance(part, RigidLander) and name == "mass":
        more["inertia"] = part.inertia * (float(value) / part.mass)  # of the same shape
    return dataclasses.replace(part, **{name: plain, **more})


def _is_part(value: Any) -> bool:
    return isinstance(value, Given) or dataclasses.is_dataclass(value)


# -- releases ------------------------------------------------------------------------------------


def released(release: Any, values: dict[str, Array], count: int) -> Any:
    """The release of ``count`` runs; ``values`` are rows of some of its fields."""
    rows = {name: a if a.shape[1] > 1 else a[:, 0] for name, a in values.items()}
    made = dataclasses.replace(release, **rows)
    if len(made) == count:
        return made
    names = [f.name for f in dataclasses.fields(made)]
    if "count" in names:
        return dataclasses.replace(made, count=count)
    first = next(n for n in names if isinstance(getattr(made, n), np.ndarray))
    return dataclasses.replace(made, **{first: np.repeat(getattr(made, first), count, axis=0)})


def stacked(releases: Sequence[Any]) -> Any:
    """Releases of one run each as one of all; None for kinds that cannot be put together."""
    if len(releases) == 1:
        return releases[0]
    first = releases[0]
    if isinstance(first, motions.Release):
        names = [f.name for f in dataclasses.fields(first)]
        return motions.Release(
            **{n: np.concatenate([getattr(r, n) for r in releases]) for n in names}
        )
    if isinstance(first, motions.TreeRelease) and all(r.tree is first.tree for r in releases):
        q, v = (np.concatenate([getattr(r, n) for r in releases]) for n in "qv")
        return motions.TreeRelease(first.tree, q, v)
    return None
