"""Dispersions of several keys of a study at once, and of single components of vectors.

They are those of scenario files (``[[dispersions.group]]``, ``[[dispersions.table]]``), with tuples
of keys in the place of one key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from alight.campaign.dispersions.spread import Spread
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.scenario.dispersion import TABLE, Dispersion
from alight.scenario.joint_dispersions import GROUP, joined

#: Names of the components of a vector.
AXES = ("x", "y", "z")
#: Kinds that several keys may have together.
JOINT = ("covariance", TABLE)


def keys_of(given: Any) -> tuple[str, ...]:
    """The keys that an entry of ``dispersions`` is of: one, or a tuple of them."""
    keys = given if isinstance(given, tuple) else (given,)
    if not keys or not all(isinstance(key, str) for key in keys):
        raise InputError(
            f"dispersions has the key {given!r}; it must be a name, or a tuple of names that vary "
            'together: ("release.velocity", "contact.friction").'
        )
    return keys


def check_once(parts: Mapping[str, Sequence[str]], component: Any) -> None:
    """An error where two dispersions are of one value."""
    varied = [key for keys in parts.values() for key in keys]
    wholes = [found[0] for key in varied if (found := component(key)) is not None]
    for key in varied:
        if varied.count(key) > 1 or key in wholes:
            raise InputError(
                f'dispersions["{key}"]: {key} is varied twice, by itself or by a component of it; '
                "keep one of them."
            )


def joint_dispersion(keys: Sequence[str], spread: Spread, nominal: Sequence[Any]) -> Dispersion:
    """As the sampling of campaigns reads it; ``nominal`` are the values of ``keys``."""
    name = joined(list(keys))
    if spread.kind not in JOINT:
        raise InputError(
            f'dispersions["{name}"]: keys vary together by covariance(...) or table(...), not by '
            f'"{spread.kind}".'
        )
    widths = [1 if spread.kind == TABLE else max(1, int(np.size(v))) for v in nominal]
    if spread.kind == TABLE:
        made = spread.dispersion(name, None)
    else:
        values = np.concatenate([np.atleast_1d(v) for v in nominal])
        made = spread.dispersion(name, values)
    if made.width != sum(widths):
        raise InputError(
            f'dispersions["{name}"]: the table has {made.width} columns and its keys are '
            f"{sum(widths)}: a column for each number, such as release.velocity.x."
        )
    return replace(made, parts=tuple(zip(keys, widths, strict=True)))


def written(parts: Mapping[str, Sequence[str]], spreads: Mapping[str, Spread]) -> dict[str, Any]:
    """All dispersions for a plan, groups and tables in lists as in scenario files."""
    out: dict[str, Any] = {}
    for name in sorted(spreads):
        spread, keys = spreads[name], list(parts[name])
        if len(keys) == 1 and spread.kind != TABLE:
            out[name] = spread.written()
            continue
        told = {"keys": keys, **spread.written()}
        out.setdefault(TABLE if spread.kind == TABLE else GROUP, []).append(told)
    return out


def about_of(spread: Spread, keys: Sequence[str], key: str, own: Any) -> Any:
    """What one of the keys varies about: its numbers of ``about``, or its own value."""
    if spread.about is None or len(keys) == 1:
        return own if spread.about is None else spread.about
    about: Array = np.atleast_1d(np.asarray(spread.about, dtype=np.float64))
    if about.shape != (len(keys),):
        raise InputError(
            f'dispersions["{joined(list(keys))}"]: about has shape {about.shape}; it must be one '
            f"number for each of its {len(keys)} keys."
        )
    return about[list(keys).index(key)]
