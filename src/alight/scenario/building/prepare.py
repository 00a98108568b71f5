"""From a scenario to models that the engine runs: ``prepare``, ``groups``, ``simulate``."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alight import motions
from alight.core import devices
from alight.core.checks import Array
from alight.core.compile_notice import reported
from alight.core.errors import InputError
from alight.core.progress import Progress
from alight.core.stages import stage
from alight.engine import Motion, records
from alight.engine import simulate as engine_simulate
from alight.engine.compile_ahead import compiled_meanwhile
from alight.scenario.building.articulated_landers import Articulated
from alight.scenario.building.laws import ScenarioLaws
from alight.scenario.building.releases import release_of
from alight.scenario.building.run_values import checked_values, settings
from alight.scenario.document import Document
from alight.scenario.errors import blame
from alight.scenario.reader import load
from alight.scenario.schema.capture import CaptureScenario
from alight.scenario.schema.contact import ARRAYS
from alight.scenario.schema.ground_regions import REGION_ARRAYS
from alight.scenario.schema.landing import Scenario
from alight.scenario.schema.membrane import DropScenario
from alight.scenario.schema.release import POSITION


@dataclass(frozen=True, eq=False)
class Group:
    """Runs that share one model."""

    model: motions.Model | motions.TreeModel
    release: motions.Release | motions.TreeRelease
    rows: NDArray[np.int64]
    """Which rows of the values these runs are; row i of ``release`` is run ``rows[i]``."""
    source: str = ""

    def blamed(self) -> Any:
        """What is wrong with the runs is reported with file and key."""
        return blame(self.source, "release")


class Prepared:
    """A scenario with its meshes, tables and lander made; made by ``prepare``."""

    def __init__(self, scenario: Scenario, device: str, progress: str | Progress) -> None:
        self.scenario, self.device = scenario, device
        self._parts = ScenarioLaws(scenario, device, progress)
        # Made now, so that what is wrong with them is told before any run.
        self._parts.gravity(scenario)
        self._parts.ground(scenario)
        self._parts.lander(scenario)
        self._parts.rotation(scenario)
        self._parts.properties(scenario, {})
        self._parts.stops(scenario)

    def nominal(self) -> Group:
        """One run of the scenario as it stands, nothing dispersed."""
        return self.groups({})[0]

    def simulate(self, device: str = "cpu", max_lines: int | None = None) -> Any:
        """One run of the scenario as it stands, its steps kept; long runs are thinned."""
        model = self._parts.model(self.scenario, {})
        with compiled_meanwhile(model, devices.resolve(device)):
            run = self.nominal()
        with blame(self.scenario.source, "release"):
            return engine_simulate(run.model, run.release, device=device, max_lines=max_lines)

    def groups(self, values: dict[str, Any]) -> list[Group]:
        """The runs of ``values``: under each dotted key one row a run, in SI units.

        Attitudes are quaternions xyzw. Runs that differ in release and contact parameters only
        share a model; any other key makes a model for each of its values.
        """
        arrays, count = checked_values(self.scenario, values)
        shared = {k: a for k, a in arrays.items() if not _within_model(k, self.scenario)}
        return [
            self._group(setting, {k: a[rows] for k, a in arrays.items() if k not in shared}, rows)
            for setting, rows in settings(shared, count)
        ]

    def _group(self, setting: dict[str, Any], arrays: dict[str, Array], rows: Any) -> Group:
        scenario = self.scenario.replaced(setting) if setting else self.scenario
        parts = self._parts
        model, lander = parts.model(scenario, arrays), parts.lander(scenario)
        tree = lander if isinstance(lander, Articulated) else None
        with blame(scenario.source, "release"):
            mass = functools.partial(parts.gm, scenario)
            release = release_of(scenario, model, arrays, len(rows), mass, tree)
        return Group(model, release, rows, scenario.source)


#: Keys of a plane that differ between runs of one model.
_PLANE = ("ground.normal", "ground.point")


def _within_model(key: str, scenario: Scenario) -> bool:
    """Whether runs with other values under ``key`` share a model of a scenario."""
    section, _, name = key.partition(".")
    if name.startswith("region."):
        return name.rpartition(".")[2] in REGION_ARRAYS
    if key in _PLANE:
        return _planes(scenario)
    law = scenario.contact.law
    return section == "release" or (section == "contact" and name in ARRAYS.get(law, ()))


def _planes(scenario: Scenario) -> bool:
    """Whether a model may have a plane for each of its runs: it is asked about where pads are, and
    by nothing else that is made of the scenario."""
    ground, release = scenario.ground, scenario.release
    if ground.kind != "plane" or not scenario.lander.is_tree:
        return False
    others = (ground.noise, ground.rocks, ground.region, scenario.stop.when, scenario.manoeuvre)
    return release.form == POSITION and release.vertical is None and not any(others)


def prepare(scenario: Document, device: str = "auto", progress: str | Progress = "silent") -> Any:
    """Build what is costly (mesh, gravity table, distance field, lander) once.

    ``device`` is where tables are built; ``progress`` is "silent", "auto", "text", "rich" or a
    ``Progress``. Of a landing it makes a ``Prepared``, of captures and drops what has the same
    methods.
    """
    with reported(progress), stage("Building the model"):
        devices.compile_headers(records._put, devices.resolve(device))
        return _prepared(scenario, device, progress)


def _prepared(scenario: Document, device: str, progress: str | Progress) -> Any:
    if isinstance(scenario, Scenario):
        return Prepared(scenario, device, progress)
    if isinstance(scenario, CaptureScenario):
        from alight.scenario.building.captures import PreparedCapture

        return PreparedCapture(scenario, device, progress)
    if isinstance(scenario, DropScenario):
        from alight.scenario.building.membrane_drops import PreparedDrop

        return PreparedDrop(scenario, device, progress)
    raise InputError(f"scenario is {scenario!r}; read one with alight.scenario.load(path).")


def simulate(
    scenario: Document | motions.Model | motions.TreeModel | str | os.PathLike[str],
    release: motions.Release | motions.TreeRelease | None = None,
    *,
    device: str = "cpu",
    progress: str = "auto",
    max_lines: int | None = None,
) -> Any:
    """One run in full detail: of a scenario or scenario file, nothing dispersed, or of a model.

    A ``Model`` needs its ``release``; a scenario has its own. The result is a ``Solution``, that of
    an articulated lander a ``TreeSolution``, of a capture a ``CaptureFlight`` and of a drop a
    ``MembraneFlight`` of one run.

    Of a landing at most ``max_lines`` lines are kept (``engine.history.MAX_LINES`` if not given);
    those of captures and drops are at the times that the scenario names.
    """
    # Trees are loaded where something is a motion, not to find out that a file is none.
    if isinstance(scenario, Motion) and isinstance(scenario, motions.Model | motions.TreeModel):
        if release is None:
            raise InputError("a model is run from a release: simulate(model, release).")
        return engine_simulate(scenario, release, device=device, max_lines=max_lines)
    if release is not None:
        raise InputError("a scenario has its own release; give it in the scenario.")
    given = scenario if isinstance(scenario, Document) else load(scenario)
    with reported(progress):
        prepared = prepare(given, device, progress)
        with stage("Simulating"):
            if isinstance(prepared, Prepared):
                return prepared.simulate(device, max_lines)
            return prepared.simulate(device)
