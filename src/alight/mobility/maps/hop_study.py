"""The campaign behind a mobility map: every cell, every command, many times.

A ``Study`` like any other (store, shards, resuming, one flow on a GPU), whose runs are made many
at once: cell and command are swept, the place within the cell and the errors of the push-off are
drawn, and so is what the scenario itself holds uncertain. Contacts are not kept, and of a run
only how and where it ended: a map has millions of them.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from alight import motions
from alight.campaign.dispersions import spread
from alight.campaign.dispersions.distributions import parameters_of
from alight.campaign.study.prepared import PreparedStudy, StudyGroup
from alight.campaign.study.study import MADE, Study
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.engine.columns import Columns
from alight.mobility.aiming.push_off import push_off_scenario
from alight.mobility.aiming.scatter import ThrowErrors
from alight.mobility.maps.cells import Cells
from alight.mobility.maps.commands import Commands
from alight.scenario import Scenario, loads, prepare
from alight.scenario.dispersion import Dispersion
from alight.scenario.document import Document

#: Columns of runs that a map keeps.
KEPT = ("run", "outcome", "outcome_code", "end_time", "rest_x", "rest_y", "rest_z", "bounces")
#: Runs that are written together.
SHARD = 8192


class HopModel(motions.Model):
    """A model that keeps of its runs what a map needs, and no contacts."""

    keeps_contacts = False

    @property
    def columns(self) -> Columns:
        """Some columns of runs; none of contacts."""
        whole = super().columns
        return Columns(tuple(c for c in whole.runs if c.name in KEPT), (), whole.course)


@functools.lru_cache(maxsize=4)
def _prepared(text: str) -> Any:
    """A push-off scenario with its costly parts made."""
    return prepare(loads(text, source="mobility"), "auto")


@dataclass(frozen=True, eq=False)
class HopMaker:
    """Makes the runs of a map: what they are made of, and how."""

    text: str
    """The push-off scenario, resolved."""
    cells: Cells
    commands: Commands

    @property
    def prepared(self) -> Any:
        """The scenario's laws."""
        return _prepared(self.text)

    def __call__(self, values: Mapping[str, Any]) -> tuple[Any, Any]:
        """One run, for what asks for one."""
        rows = {f"{MADE}{k}" if "." not in k else k: np.atleast_1d(v) for k, v in values.items()}
        group = self.groups(rows)[0]
        return group.model, group.release

    def groups(self, values: Mapping[str, Array]) -> list[StudyGroup]:
        """Many runs at once."""
        own = {k.removeprefix(MADE): a for k, a in values.items() if k.startswith(MADE)}
        cell, command = (own[name].astype(np.int64) for name in ("cell", "command"))
        starts = self.cells.starts
        which = np.minimum((own["start"] * starts.shape[1]).astype(np.int64), starts.shape[1] - 1)
        errors = np.stack([own[f"{name}_error"] for name in ("speed", "across", "along")], -1)
        rest = {k: a for k, a in values.items() if not k.startswith(MADE)}
        throws = self.commands.thrown(command, errors)
        if all(key.startswith("contact.") for key in rest):
            return self._from_stands(cell * starts.shape[1] + which, throws, rest)
        return self.thrown(starts[cell, which], throws, rest)

    @functools.cached_property
    def _stands(self) -> tuple[Any, Array]:
        """A release at rest at every start of every cell, and (n, 3, 3) axes east, north, up there:
        found once, as millions of runs begin at the same places."""
        places = self.cells.starts.reshape(-1, 3)
        half = 0.5 * np.pi
        ways = np.array([[1.0, half, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, half]])
        n = len(places)
        (group,) = self.thrown(np.repeat(places, 3, axis=0), np.tile(ways, (n, 1)), {})
        axes = np.asarray(group.release.velocity).reshape(n, 3, 3).transpose(0, 2, 1)
        return group.release[::3], axes

    def _from_stands(
        self, which: Any, throws: Array, more: Mapping[str, Array]
    ) -> list[StudyGroup]:
        """Push-offs from places of the cells by their numbers, where only the contact varies."""
        stand, axes = self._stands
        v, azimuth, elevation = throws.T
        level = v * np.cos(elevation)
        local = np.stack(
            [level * np.sin(azimuth), level * np.cos(azimuth), v * np.sin(elevation)], -1
        )
        velocity = np.einsum("nij,nj->ni", axes[which], local)
        found = []
        for one in self.prepared.groups(dict(more)):
            rows = one.rows if more else np.arange(len(which))
            own = which[rows]
            release = motions.Release(
                stand.position[own], velocity[rows], stand.attitude[own], stand.rate[own]
            )
            found.append(StudyGroup(_kept(one.model), release, rows))
        return found

    def thrown(self, places: Array, throws: Array, more: Mapping[str, Array]) -> list[StudyGroup]:
        """Push-offs from places (n, 3) [m]; ``more`` are other values of the scenario by key."""
        names = ("speed", "azimuth", "elevation")
        values = {f"release.{name}": throws[:, k] for k, name in enumerate(names)}
        found = self.prepared.groups({"release.position": places, **values, **more})
        return [StudyGroup(_kept(one.model), one.release, one.rows) for one in found]


def _kept(model: motions.Model) -> HopModel:
    return HopModel(**{f.name: getattr(model, f.name) for f in dataclasses.fields(model)})


class _PreparedHops(PreparedStudy):
    """Runs of a map, made many at once."""

    def groups(self, values: dict[str, Array]) -> list[StudyGroup]:
        """The runs of ``values``: under each key one row a run."""
        assert isinstance(self.study, HopStudy)
        return self.study.maker.groups(values)


def made_of(
    scenario: Document, cells: Cells | None = None, commands: Commands | None = None
) -> HopMaker:
    """What makes push-offs of a scenario."""
    base = by_position(push_off_scenario(scenario))
    none = np.zeros((0, 3))
    own = cells or Cells(none, np.zeros((0, 1, 3)))
    return HopMaker(base.to_toml(), own, commands or Commands(none))


class HopStudy(Study):
    """Every cell times every command, ``repeats`` times."""

    def __init__(
        self,
        scenario: Document,
        cells: Cells,
        commands: Commands,
        *,
        repeats: int,
        errors: ThrowErrors,
        seed: int | None = None,
    ) -> None:
        maker = made_of(scenario, cells, commands)
        base = maker.prepared.scenario
        varied: dict[str, Any] = {
            "cell": spread.sweep(np.arange(len(cells), dtype=float)),
            "command": spread.sweep(np.arange(len(commands), dtype=float)),
            "start": spread.uniform(0.0, 1.0),
            **error_spreads(errors),
            **{key: _as_spread(base, one) for key, one in base.dispersions.items()},
        }
        super().__init__(
            maker,
            dispersions=varied,
            title=f"Mobility map: {scenario.title or scenario.source}",
            seed=int(base.seed) if seed is None else seed,
            shard=SHARD,
            repeats=repeats,
            body=base.body.name,
        )

    @property
    def maker(self) -> HopMaker:
        """What makes its runs."""
        assert isinstance(self.make, HopMaker)
        return self.make

    def prepared(self) -> PreparedStudy:
        """Its runs, many at once."""
        return _PreparedHops(self)

    def seeded(self, seed: int) -> HopStudy:
        """The same with other draws."""
        other = copy.copy(self)
        other.seed = seed
        return other


def error_spreads(errors: ThrowErrors) -> dict[str, Any]:
    """How push-offs err: a share of the speed, angles across and along the elevation [rad]."""
    sigma = {"speed": errors.speed, "across": errors.angle, "along": errors.angle}
    return {
        f"{name}_error": spread.normal(one, mean=0.0, unit="" if name == "speed" else "rad")
        for name, one in sigma.items()
    }


def by_position(base: Scenario) -> Scenario:
    """A push-off scenario whose place is a position, which reaches all of a surface."""
    zero = ["0 m", "0 m", "0 m"]
    if base.flat:
        return base
    gone = {"release.latitude": None, "release.longitude": None}
    return base.replaced({**gone, "release.position": zero})


def _as_spread(base: Scenario, one: Dispersion) -> spread.Spread:
    """A dispersion of the scenario as a study has it."""
    if one.parts or one.more:
        raise InputError(
            f"{base.source} disperses {one.key} by a {one.kind}; a mobility map takes dispersions "
            "of single keys, of the kinds that are shipped."
        )
    given = {name: getattr(one, name) for name in parameters_of(one.kind)}
    known = {name: value for name, value in given.items() if value is not None}
    return spread.Spread(one.kind, known, np.asarray(base.number(one.key)))
