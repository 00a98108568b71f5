"""``Study``: a model made in Python, where it starts, and what varies from run to run.

::

    study = alight.Study(
        alight.Model(gravity=..., surface=..., lander=..., contact=...),
        alight.Release((0.0, 0.0, 50.0)),
        dispersions={
            "release.velocity": alight.dispersions.normal(sigma=0.05),
            "contact.friction": alight.dispersions.uniform(0.4, 0.8),
        },
        title="My lander",
    )
    alight.run_campaign(study, runs=1000, out="out/mine")

A campaign takes it as it takes a scenario: same folder, resuming, cluster and report.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np

from alight.campaign.dispersions.sampling import SAMPLINGS, dispersions_of
from alight.campaign.dispersions.spread import Spread
from alight.campaign.study.changes import RELEASE, value_at
from alight.campaign.study.joint import (
    AXES,
    about_of,
    check_once,
    joint_dispersion,
    keys_of,
    written,
)
from alight.campaign.study.portrait import portrait
from alight.campaign.study.prepared import PreparedStudy, check_release, checked_run, first_run
from alight.campaign.study.subject import mesh_of, subject
from alight.campaign.tables.inputs import units_of
from alight.core.checks import Array, checked_number, checked_whole
from alight.core.errors import AlightError, InputError, unknown_name
from alight.core.requirements import Requirement
from alight.engine.motion import Motion
from alight.scenario.dispersion import FREE, SWEEP, TABLE, Dispersion
from alight.scenario.joint_dispersions import joined
from alight.scenario.sweeps import wrong_runs
from alight.shapes.mesh import Mesh

#: What the names of values that ``make`` is given begin with in tables.
MADE = "make."


@dataclass(frozen=True)
class StudyCampaign:
    """Number of runs, sampling and size of shards."""

    runs: int
    sampling: str
    shard: int
    repeats: int | None = None


@dataclass(frozen=True)
class StudyRecord:
    """What is kept besides how each run ended."""

    trajectories: tuple[int, ...]
    every: float | None
    columns: tuple[str, ...]


@dataclass(frozen=True)
class StudyReport:
    """What its report has besides."""

    sections: tuple[str, ...]


class Study:
    """A campaign of a model made in Python.

    Parameters
    ----------
    model:
        A model (``alight.Model`` or another motion); or a function ``make(values)``, given the
        values of one run by the names of ``dispersions``, that returns a model and its release.
    release:
        Where the model starts: the release of one run. None with a function.
    dispersions:
        What varies: ``alight.dispersions.normal(...)`` and its like by key. Keys name a number or
        vector of model or release (``"release.velocity"``, ``"contact.friction"``,
        ``"lander.mass"``), or one component (``"release.velocity.x"``); of a function they are
        names of its own. A tuple of keys varies together, by ``covariance`` or ``table``.
    title:
        What reports call it.
    seed:
        Of the random numbers.
    runs, shard, sampling:
        As in [campaign] of a scenario; ``run_campaign(study, runs=...)`` goes before ``runs``. Of a
        study with sweeps the number of runs follows from them: leave it out.
    repeats:
        How often each combination of a sweep is run, with other random values.
    requirements:
        What is asked of the runs: ``alight.Requirement``.
    trajectories, every, columns:
        As in [record]: runs whose trajectory is kept, times between its lines [s] where a motion
        has such, and names of registered columns.
    sections:
        As in [report]: names of registered sections of the report.
    body:
        The body, for maps and pictures: a mesh, or a name of the catalogue. If not given, the mesh
        that surface or gravity are made of, if there is one.
    """

    def __init__(
        self,
        model: Motion | Callable[[Mapping[str, Any]], tuple[Any, Any]],
        release: Any = None,
        *,
        dispersions: Mapping[Any, Spread] | None = None,
        title: str = "",
        seed: int = 0,
        runs: int | None = None,
        shard: int = 250,
        sampling: str = "random",
        trajectories: Sequence[int] = (),
        every: float | None = None,
        columns: Sequence[str] = (),
        sections: Sequence[str] = (),
        body: Mesh | str | None = None,
        repeats: int | None = None,
        requirements: Sequence[Requirement] = (),
    ) -> None:
        self.model, self.release, self.make = _checked(model, release)
        self.title, self.seed, self.body = str(title), checked_whole("seed", seed, 0), body
        if sampling not in SAMPLINGS:
            raise unknown_name("sampling", sampling, SAMPLINGS)
        self.campaign = StudyCampaign(
            checked_whole("runs", 1000 if runs is None else runs, 1),
            sampling,
            checked_whole("shard", shard, 1),
            None if repeats is None else checked_whole("repeats", repeats, 1),
        )
        self.requirements = _checked_requirements(requirements)
        kept = tuple(checked_whole("trajectories", run, 0) for run in trajectories)
        self.record = StudyRecord(
            kept, None if every is None else checked_number("every [s]", every), tuple(columns)
        )
        self.report = StudyReport(tuple(sections))
        if body is not None and not isinstance(body, Mesh | str):
            raise InputError(f"body is {body!r}; it must be a Mesh, or a name of the catalogue.")
        self.varied, self.spreads = self._parts(dispersions or {})
        check_once(self.varied, self.component)
        self.dispersions = {key: self._dispersion(key) for key in sorted(self.spreads)}
        dispersions_of(self)  # what is wrong with them is told now
        self._follow_sweep(runs)
        self._follow_tables(runs)

    def _follow_sweep(self, given: int | None) -> None:
        """Of a sweep the number of runs follows."""
        keys, repeats = self.sweep_keys(), self.campaign.repeats
        if not keys:
            if repeats is not None:
                raise InputError("repeats goes with a sweep, and nothing is swept here.")
            return
        if (repeats or 1) > 1 and len(keys) == len(self.dispersions):
            raise InputError("repeats would all be the same run: nothing varies but the sweep.")
        total = self.combinations() * (repeats or 1)
        if given not in (None, total):
            raise InputError(f"runs {wrong_runs(self, int(given or 0), keys)}.")
        self.campaign = replace(self.campaign, runs=total)

    def _follow_tables(self, given: int | None) -> None:
        """There are no more runs than rows of a table that goes by run."""
        counts = [len(d.samples) for d in self.dispersions.values() if d.samples and not d.random]
        if not counts:
            return
        if given is None and not self.sweep_keys():
            self.campaign = replace(self.campaign, runs=min(counts))
        if self.campaign.runs > min(counts):
            raise InputError(
                f"runs is {self.campaign.runs}, and a table of samples has {min(counts)} rows, one "
                "for each run; ask for fewer runs, or take table(..., random=True)."
            )

    def sweep_keys(self) -> list[str]:
        """The keys whose values a sweep goes through, in the order of its combinations."""
        return sorted(key for key, one in self.dispersions.items() if one.kind == SWEEP)

    def combinations(self) -> int:
        """How many combinations of values a sweep has; 1 where there is none."""
        found = (self.dispersions[key].values or () for key in self.sweep_keys())
        return math.prod(len(values) for values in found)

    def _key(self, key: str) -> str:
        """The key of a value in tables."""
        return f"{MADE}{key}" if self.make is not None and "." not in key else key

    # -- what varies, as sampling asks for it --------------------------------------------------

    def _parts(self, given: Mapping[Any, Any]) -> tuple[dict[str, tuple[str, ...]], dict[str, Any]]:
        """The keys of each dispersion, and its distribution, by the name that it goes by."""
        parts = {}
        spreads = {}
        for entry, spread in given.items():
            keys = tuple(self._key(key) for key in keys_of(entry))
            name = joined(list(keys))
            parts[name], spreads[name] = keys, spread
        return parts, spreads

    def component(self, key: str) -> tuple[str, int] | None:
        """The vector that a key is a component of (release.velocity.x), and which; None of others.

        A function that makes models has names of its own, and no vectors that are known.
        """
        whole, _, axis = key.rpartition(".")
        if self.make is not None or axis not in AXES or "." not in whole:
            return None
        try:
            own = self.standing(whole)
        except InputError:
            return None  # what is wrong with the key is told where its value is looked for
        return (whole, AXES.index(axis)) if own is not None and own.shape == (3,) else None

    def _dispersion(self, key: str) -> Dispersion:
        spread = self.spreads[key]
        if not isinstance(spread, Spread):
            raise InputError(
                f'dispersions["{key}"] is {spread!r}; it must be a distribution, such as '
                "alight.dispersions.normal(sigma=0.05)."
            )
        keys = self.varied[key]
        if len(keys) == 1 and spread.kind != TABLE:
            return spread.dispersion(key, self._nominal(key))
        return joint_dispersion(keys, spread, [self._nominal(one) for one in keys])

    def _nominal(self, key: str) -> Any:
        """What varies about a value: as given with the distribution, or as it stands."""
        name, spread = self._spread_of(key)
        own = None if self.make is not None else self.standing(key)
        if len(self.varied[name]) > 1:
            found = about_of(spread, self.varied[name], key, own)
        else:
            given = spread.centre if spread.kind != "orientation" or own is None else spread.about
            found = own if given is None else given
        if found is None and spread.kind not in FREE:
            raise InputError(
                f'dispersions["{key}"]: there is no value for it to vary about; give it mean, '
                "median or about."
            )
        return None if found is None else np.asarray(found, dtype=np.float64)

    def _spread_of(self, key: str) -> tuple[str, Spread]:
        """The dispersion that a key belongs to, by its name."""
        name = next(name for name, keys in self.varied.items() if key in keys)
        return name, self.spreads[name]

    def standing(self, key: str) -> Any:
        """The value under a key of the model or its release; None where there is none."""
        part = self.component(key)
        if part is not None:
            return self.standing(part[0])[part[1]]
        root, name = self.model, key
        if key.startswith(RELEASE):
            root, name = self.release, key.removeprefix(RELEASE)
        own = value_at(root, name)
        return own[0] if root is self.release and own is not None and own.ndim == 2 else own

    def number(self, key: str) -> Array:
        """The value that a dispersion is about."""
        return np.asarray(self._nominal(key))

    def unit_of(self, key: str) -> str:
        """The unit of a dispersed value; "" where nobody says."""
        name, spread = self._spread_of(key)
        if spread.unit or self.make is not None:
            return spread.unit
        made = self.dispersions[name]
        width = dict(made.parts).get(key, made.width)
        try:
            return units_of(key, width if width > 1 else 0)[0]
        except AlightError:
            return ""

    # -- running -------------------------------------------------------------------------------

    def made(self, values: Mapping[str, Any]) -> tuple[Any, Any]:
        """Model and release of one run of a study with a function."""
        assert self.make is not None
        own = {
            key.removeprefix(MADE): float(v) if np.ndim(v) == 0 else np.array(v)
            for key, v in values.items()
        }
        try:
            return checked_run(self.make(own), own)
        except AlightError:
            raise
        except Exception as cause:
            told = ", ".join(f"{name} = {value}" for name, value in own.items())
            raise InputError(
                f"make({{{told}}}) of the study failed: {type(cause).__name__}: {cause}."
            ) from cause

    @functools.cached_property
    def first(self) -> Any:
        """The model of its first run, which stands for all of them."""
        return self.model if self.make is None else self.made(first_run(self))[0]

    def prepared(self) -> PreparedStudy:
        """Its runs, in groups that share a model."""
        return PreparedStudy(self)

    def with_runs(self, total: int) -> Self:
        """The same with another number of runs."""
        other = copy.copy(self)
        other.campaign = replace(self.campaign, runs=total)
        return other

    @property
    def endings(self) -> list[Any]:
        """How its own stops end runs."""
        return list(self.first.endings.values())

    # -- telling -------------------------------------------------------------------------------

    @functools.cached_property
    def mesh(self) -> Mesh | None:
        """The body, for maps and pictures."""
        if isinstance(self.body, Mesh):
            return self.body
        return None if isinstance(self.body, str) else mesh_of(self.first)

    def parts(self) -> dict[str, Any]:
        """What it was made of, by name."""
        if self.make is not None:
            return {"make": self.make}
        laws = {f"model.{name}": value for name, value in vars(self.model).items()}
        return {**laws, "model": self.model, "release": self.release}

    def resolved(self) -> dict[str, Any]:
        """All that its runs depend on, in the words of scenarios where they have some."""
        if self.make is not None:
            made = {"make": portrait(self.make)}
        else:
            made = {"model": portrait(self.model), "release": portrait(self.release)}
        own = self.campaign
        return {
            "kind": self.first.run_kind.word,
            "title": self.title,
            "seed": self.seed,
            "study": made,
            **subject(self.first, self.body, self.mesh),
            "dispersions": written(self.varied, self.spreads),
            "campaign": {"runs": own.runs, "sampling": own.sampling, "shard": own.shard},
            "record": {
                "trajectories": list(self.record.trajectories),
                **({} if self.record.every is None else {"every": self.record.every}),
                **({} if not self.record.columns else {"columns": list(self.record.columns)}),
            },
            "report": {"sections": list(self.report.sections)},
            **(
                {"requirement": [asdict(r) for r in self.requirements]} if self.requirements else {}
            ),
        }

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k not in ("first", "mesh")}


def _checked_requirements(given: Sequence[Requirement]) -> tuple[Requirement, ...]:
    for one in given:
        if not isinstance(one, Requirement):
            raise InputError(f"a requirement is {one!r}; it must be an alight.Requirement.")
    return tuple(given)


def _checked(model: Any, release: Any) -> tuple[Any, Any, Any]:
    """Model and release, or a function that makes both."""
    if isinstance(model, Motion):
        check_release(model, release)
        return model, release, None
    if not callable(model) or isinstance(model, type):
        raise InputError(
            f"a study is of {model!r}; give it a model and its release, or a function make(values) "
            "that returns both."
        )
    if release is not None:
        raise InputError("a function make(values) returns the release of each run; give no other.")
    return None, None, model
