"""From scenarios of captures to asteroids, crafts, membranes and controllers."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.progress import Progress
from alight.membrane import Captive
from alight.membrane.captives import Captives
from alight.motions.capture.approach import Approach, approach
from alight.motions.capture.craft import Spacecraft
from alight.motions.capture.model import Capture, CaptureRelease
from alight.motions.capture.result import CaptureFlight
from alight.motions.membrane.caught import CaughtSteps, CaughtStop, fly
from alight.scenario.building.membrane_drops import (
    FABRIC,
    fabric_of,
    mass_of,
    masses_of,
    mesh_of,
    vertices_of,
)
from alight.scenario.building.run_values import PreparedCaught, checked_values, getter
from alight.scenario.building.surroundings import Surroundings
from alight.scenario.errors import Fault, ScenarioError, blame
from alight.scenario.schema.capture import DRAWN_SHAPE, CaptureScenario, SpacecraftSection
from alight.scenario.schema.stops import stops_of

#: Keys whose values may differ between runs of one model.
WITHIN = {
    *(f"asteroid.{name}" for name in ("rate", "spin", "axis", "attitude", "inertia_scale")),
    *(f"asteroid.{name}" for name in ("mass", "density", "position", "velocity", "length")),
    *(f"membrane.{name}" for name in FABRIC),
    "approach.offset",
    "approach.roll",
}
_NUMBERS = ("speed", "thrust", "lead", "bandwidth", "most_force", "most_torque")


@dataclass(frozen=True, eq=False)
class CaptureGroup:
    """Captures of one asteroid by one craft; ``arrays`` hold what differs, by key."""

    scenario: CaptureScenario
    craft: Spacecraft
    shape: int
    """Number of its shape in ``asteroid.shapes``; 0 where there is one."""
    arrays: dict[str, Array]
    rows: NDArray[np.int64]
    """Which rows of the values these runs are."""
    around: Surroundings

    @functools.cached_property
    def asteroid(self) -> Captive | Captives:
        """Made when it is first needed: each run may have its own."""
        section, lengths = self.scenario.asteroid, self.arrays.get("asteroid.length")
        shape = section.names[self.shape] if section.names else None
        with blame(self.scenario.source, "asteroid"):
            if lengths is None:
                mesh = mesh_of(section, shape)
                return Captive.from_mesh(mesh, mass_of(section, mesh))
            made = Captives.of_density(
                *vertices_of(section, shape, lengths[:, 0]),
                *(section.mass, section.density, section.most_mass),
            )
            return made if len(made) > 1 else made.body(0)

    @functools.cached_property
    def model(self) -> Capture:
        """The asteroid, the craft, and the way the one comes to the other."""
        one, craft, get = self.scenario, self.craft, self._get
        with blame(one.source, "membrane"):
            fabric = fabric_of(one.membrane, get, craft.suspension, hoop=craft.hoop)
        with blame(one.source, "approach"):
            way = approach_of(one, get("approach.offset"), get("approach.roll")[:, 0])
        laws = self.around.laws(one)
        thrusters = tuple(part.make() for part in one.spacecraft.thruster)
        with blame(one.source, "asteroid"):
            return Capture(
                *(fabric, self.asteroid, craft, way),
                calm_speed=float(one.stop.calm_speed),
                calm_part=one.stop.calm_part,
                lost_height=float(one.stop.lost_height),
                stop=CaughtStop(float(one.stop.duration)),
                steps=CaughtSteps(one.steps.method, float(one.steps.step), one.steps.tolerance),
                actuators=thrusters,
                shape=self.shape,
                stops=stops_of(one.source, one.stop.when, {}),
                **laws,
            )

    @functools.cached_property
    def release(self) -> CaptureRelease:
        """How the asteroids tumble."""
        get = self._get
        return CaptureRelease(
            rate=np.broadcast_to(self._rates(get), (len(self.rows), 3)),
            attitude=get("asteroid.attitude"),
            position=get("asteroid.position"),
            velocity=get("asteroid.velocity"),
            mass=masses_of(self.scenario.asteroid, self.asteroid, get),
            inertia_scale=get("asteroid.inertia_scale"),
            friction=get("membrane.friction")[:, 0],
            count=len(self.rows),
        )

    @property
    def _get(self) -> Any:
        return getter(self.scenario, self.arrays)

    @contextlib.contextmanager
    def blamed(self) -> Iterator[None]:
        """What is wrong with the runs is reported with file and key."""
        try:
            yield
        except ScenarioError:
            raise
        except InputError as cause:
            key = "asteroid.inertia_scale" if "inertia_scale" in str(cause) else "approach"
            problem = Fault(key, " ".join(str(cause).split()))
            raise ScenarioError(self.scenario.source, [problem]) from cause

    def follow(self, device: str, every: float, threads: int | None = None) -> CaptureFlight:
        """The runs with their trajectories, a record each ``every`` seconds."""
        with self.blamed():
            flight: CaptureFlight = fly(self.model.followed(every), self.release, device, threads)
        flight.rows["run"] = self.rows
        return flight

    def _rates(self, get: Any) -> Array:
        """(n or 1, 3) at the start [rad/s], its axes."""
        if self.scenario.asteroid.rate is not None:
            return np.asarray(get("asteroid.rate"))
        axis = get("asteroid.axis")
        size = np.sqrt(axis[:, :1] ** 2 + axis[:, 1:2] ** 2 + axis[:, 2:] ** 2)
        return np.asarray(get("asteroid.spin") * (axis / size))


def approach_of(scenario: CaptureScenario, offset: Array, roll: Array) -> Approach:
    """The controller, with errors of navigation and rolls of each run."""
    section = scenario.approach
    numbers: dict[str, Any] = {name: float(getattr(section, name)) for name in _NUMBERS}
    if section.timing is not None:
        numbers["timing"] = float(section.timing)
    return approach(section.controller, **numbers, side=section.side, offset=offset, roll=roll)


class PreparedCapture(PreparedCaught):
    """The scenario of a capture with its craft made; made by ``prepare``."""

    WITHIN = WITHIN

    def __init__(self, scenario: CaptureScenario, device: str, progress: str | Progress) -> None:
        super().__init__(scenario, device)
        self._around = Surroundings(scenario, device, progress)
        self._made: tuple[SpacecraftSection, Spacecraft] | None = None
        # Made now, so that what is wrong with them is told before any run.
        for shape in range(max(1, len(scenario.asteroid.shapes or ()))):
            _ = self._group({DRAWN_SHAPE: shape}, {}, np.arange(1)).model

    def groups(self, values: dict[str, Any]) -> list[CaptureGroup]:
        """The runs of ``values``; each shape has a model of its own."""
        plain = {key: value for key, value in values.items() if key != DRAWN_SHAPE}
        arrays, count = checked_values(self.scenario, plain)
        if DRAWN_SHAPE in values:
            arrays[DRAWN_SHAPE] = np.asarray(values[DRAWN_SHAPE], dtype=np.float64).reshape(-1, 1)
            count = len(arrays[DRAWN_SHAPE])
        return self.grouped(arrays, count)

    def _group(self, setting: dict[str, Any], arrays: dict[str, Array], rows: Any) -> CaptureGroup:
        shape = int(setting.get(DRAWN_SHAPE, 0))
        plain = {key: value for key, value in setting.items() if key != DRAWN_SHAPE}
        scenario = self.scenario.replaced(plain) if plain else self.scenario
        return CaptureGroup(scenario, self._craft(scenario), shape, arrays, rows, self._around)

    def _craft(self, scenario: CaptureScenario) -> Spacecraft:
        """The scenario's craft, made once for all groups that have it."""
        if self._made is None or self._made[0] != scenario.spacecraft:
            self._made = scenario.spacecraft, craft_of(scenario)
        return self._made[1]


def craft_of(scenario: CaptureScenario) -> Spacecraft:
    """The spacecraft."""
    section = scenario.spacecraft
    numbers = {item.name: float(getattr(section, item.name)) for item in fields(Spacecraft)}
    with blame(scenario.source, "spacecraft"):
        return Spacecraft(**numbers)
