"""The runs of a study, in groups that share a model."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from alight.campaign.dispersions.sampling import sample
from alight.campaign.study.changes import RELEASE, changed, released, stacked
from alight.core.checks import Array
from alight.core.errors import AlightError, InputError
from alight.engine.columns import Columns
from alight.engine.motion import Motion
from alight.scenario.building.run_values import settings, with_components

if TYPE_CHECKING:
    from alight.campaign.study.study import Study


@dataclass(frozen=True, eq=False)
class StudyGroup:
    """Runs that share one model."""

    model: Any
    release: Any
    rows: npt.NDArray[np.int64]
    """Which rows of the values these runs are."""

    def blamed(self) -> Any:
        """What is wrong with the runs is reported as it is."""
        return contextlib.nullcontext()


class PreparedStudy:
    """A study about to be run."""

    def __init__(self, study: Study) -> None:
        self.study = study

    @functools.cached_property
    def columns(self) -> Columns:
        """What all its runs leave: that of its first run."""
        return self.study.first.columns

    def groups(self, values: dict[str, Array]) -> list[StudyGroup]:
        """The runs of ``values``: under each key one row a run."""
        count = len(next(iter(values.values()))) if values else 1
        rows = {key: a.reshape(len(a), -1) for key, a in values.items()}
        if self.study.make is not None:
            return self._made(values, count)
        return self._changed(rows, count)

    # -- a model and its release ---------------------------------------------------------------

    def _changed(self, values: dict[str, Array], count: int) -> list[StudyGroup]:
        study = self.study
        values = with_components(values, study.component, study.standing)
        start = {k.removeprefix(RELEASE): a for k, a in values.items() if k.startswith(RELEASE)}
        each = {k: a for k, a in values.items() if not k.startswith(RELEASE)}
        shared = {k: a for k, a in each.items() if not _goes_as_rows(study.model, k)}
        out = []
        for setting, rows in settings(shared, count):
            model = study.model
            for key, value in setting.items():
                model = changed(model, key, value)
            for key in each.keys() - shared.keys():
                model = changed(model, key, each[key][rows, 0])
            own = {name: a[rows] for name, a in start.items()}
            out.append(StudyGroup(model, released(study.release, own, len(rows)), rows))
        return out

    # -- models of the user's making -----------------------------------------------------------

    def _made(self, values: dict[str, Array], count: int) -> list[StudyGroup]:
        made = [self.study.made({key: a[i] for key, a in values.items()}) for i in range(count)]
        alike: dict[int, list[int]] = {}
        for i, (model, _) in enumerate(made):
            alike.setdefault(id(model), []).append(i)
        out = []
        for rows in alike.values():
            model, whole = made[rows[0]][0], stacked([made[i][1] for i in rows])
            parts = [(whole, rows)] if whole is not None else [(made[i][1], [i]) for i in rows]
            out += [StudyGroup(model, release, np.array(own)) for release, own in parts]
        return out


def _goes_as_rows(model: Any, key: str) -> bool:
    """Whether runs with other values under a key share a model: laws of contact take them so."""
    section, _, name = key.partition(".")
    law = getattr(model, "contact", None)
    if section != "contact" or "." in name or not hasattr(law, "count"):
        return False
    try:
        return int(changed(law, name, np.full(2, float(np.asarray(getattr(law, name))))).count) == 2
    except (AlightError, TypeError, ValueError):
        return False


def checked_run(made: Any, values: Mapping[str, Any]) -> tuple[Any, Any]:
    """What ``make(values)`` returned, if it is a model and the release of one run."""
    told = ", ".join(f"{name} = {value}" for name, value in values.items())
    if not (isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], Motion)):
        raise InputError(
            f"make({{{told}}}) returned {made!r}; it must return a model and its release: return "
            "alight.Model(...), alight.Release(...)."
        )
    model, release = made
    check_release(model, release)
    return model, release


def check_release(model: Any, release: Any) -> None:
    """An error unless a release goes with a model, and is of one run."""
    if not isinstance(release, model.Release):
        raise InputError(
            f"the model is a {type(model).__name__} and the release is {release!r}; a "
            f"{type(model).__name__} goes with a {model.Release.__name__}."
        )
    if len(release) != 1:
        raise InputError(
            f"the release of a study is of {len(release)} runs; give one, such as release[0]: runs "
            "differ by what is dispersed."
        )


def first_run(study: Study) -> dict[str, Array]:
    """The values of run 0."""
    return {key: a[0] for key, a in sample(study, [0]).items()}
