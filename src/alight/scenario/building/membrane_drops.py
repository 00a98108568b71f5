"""From scenarios of drops to bodies, membranes and motions; and what captures need of these."""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alight.actuators import Schedule, Thruster
from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.progress import Progress
from alight.membrane import Captive, Membrane
from alight.membrane.captive import length_of
from alight.membrane.captives import Captives
from alight.membrane.law import NUMBERS
from alight.membrane.pear import pears
from alight.motions.membrane.caught import CaughtSteps, CaughtStop, fly
from alight.motions.membrane.model import Craft, MembraneMotion, MembraneRelease
from alight.motions.membrane.result import MembraneFlight
from alight.scenario.building.run_values import PreparedCaught, getter
from alight.scenario.building.surroundings import Surroundings
from alight.scenario.errors import blame
from alight.scenario.schema.caught_body import PEAR, PROPORTIONS, CaughtBodySection
from alight.scenario.schema.membrane import DropScenario
from alight.scenario.schema.stops import stops_of
from alight.shapes import Mesh, builtin

#: Kinds of membrane by the names that files choose them by; add your own subclass here.
PROFILES: dict[str, type[Membrane]] = {"linear": Membrane}

#: Numbers of the membrane that may differ between runs of one model.
FABRIC = NUMBERS


# -- bodies --------------------------------------------------------------------------------------


def mesh_of(section: CaughtBodySection, shape: str | None = None) -> Mesh:
    """The body of a section, or the one of its ``shape`` of that name; centre of mass at origin."""
    if section.length is None:
        return _read(section)
    vertices, faces = vertices_of(section, shape, np.array([float(section.length)]))
    return Mesh(vertices[0], faces, check=False)


def vertices_of(
    section: CaughtBodySection, shape: str | None, lengths: Array
) -> tuple[Array, NDArray[np.int32]]:
    """Vertices (n, V, 3) [m] of that body with each of some lengths (n,) [m], and its facets."""
    if not (np.isfinite(lengths) & (lengths > 0.0)).all():
        bad = float(lengths[~(np.isfinite(lengths) & (lengths > 0.0))][0])
        raise InputError(f"the length of the body is {bad:g} m; it must be positive and finite")
    facets, name = section.facets or 1280, shape or (section.names[0] if section.names else None)
    if section.mesh is None and name == PEAR:
        numbers = {key: float(getattr(section, key)) for key in PROPORTIONS}
        parts = max(1, round(np.log2(facets / 20.0) / 2.0))
        return pears(lengths, **numbers, subdivisions=parts)
    mesh = _read(section) if section.mesh is not None else _builtin(str(name), facets)
    return mesh.vertices * (lengths / length_of(mesh))[:, None, None], mesh.faces


def _read(section: CaughtBodySection) -> Mesh:
    return Mesh.read(str(section.mesh), section.unit, repair=bool(section.repair)).recentred()


@functools.lru_cache(maxsize=32)
def _builtin(name: str, facets: int) -> Mesh:
    return builtin.find(name).mesh(facets).recentred()


def mass_of(section: CaughtBodySection, mesh: Mesh) -> float:
    """That of the section, or what its density makes of the mesh, if it is not too much [kg]."""
    if section.mass is not None:
        return float(section.mass)
    assert section.density is not None
    own = float(section.density) * mesh.volume
    return own if section.most_mass is None else min(own, float(section.most_mass))


def masses_of(section: CaughtBodySection, body: Captive | Captives, get: Any) -> Array:
    """(n or 1,) masses of runs [kg], whose rows of values ``get`` gives."""
    if section.mass is not None:
        return np.asarray(get(f"{section.PLACE}.mass")[:, 0])
    own = get(f"{section.PLACE}.density")[:, 0] * body.volume
    return np.asarray(own if section.most_mass is None else np.minimum(own, section.most_mass))


def scaled_inertia(own: Array, scale: Array) -> Array:
    """(n, 3, 3) tensors, stretched on both sides by factors (n, 3) along the body axes."""
    root = np.sqrt(scale)
    return np.asarray(root[:, :, None] * own * root[:, None, :])


# -- drops ---------------------------------------------------------------------------------------


#: Keys whose values may differ between runs of one model.
_RELEASE = ("height", "position", "velocity", "attitude", "rate")
_CARRIER = ("position", "velocity", "attitude", "rate")
WITHIN = {
    *(f"release.{name}" for name in _RELEASE),
    *(f"carrier.{name}" for name in _CARRIER),
    *(f"membrane.{name}" for name in FABRIC),
    "body.mass",
    "body.density",
    "body.inertia_scale",
}


@dataclass(frozen=True, eq=False)
class DropGroup:
    """Drops of one body; ``arrays`` hold what differs between them, by key."""

    scenario: DropScenario
    body: Captive
    arrays: dict[str, Array]
    rows: NDArray[np.int64]
    """Which rows of the values these runs are."""
    around: Surroundings

    @functools.cached_property
    def model(self) -> MembraneMotion:
        """The body, the membrane and what carries it."""
        one = self.scenario
        return dataclasses.replace(
            self._motion(self._get),
            stop=CaughtStop(float(one.stop.duration), until_release=one.stop.until_release),
            steps=CaughtSteps(one.steps.method, float(one.steps.step), one.steps.tolerance),
            stops=stops_of(one.source, one.stop.when, {}),
        )

    @functools.cached_property
    def release(self) -> MembraneRelease:
        """Where the runs start."""
        one, get, count = self.scenario, self._get, len(self.rows)
        mass = np.array(np.broadcast_to(masses_of(one.body, self.body, get), count))
        scale = get("body.inertia_scale")
        own = self.body.inertia * (mass / self.body.mass)[:, None, None]
        states: dict[str, Any] = {name: get(f"release.{name}") for name in _RELEASE[2:]}
        states["position"] = self._places(get, self.model)
        carrier: dict[str, Any] = {f"craft_{name}": get(f"carrier.{name}") for name in _CARRIER}
        with self.blamed():
            if self.body.planar:
                _require_flat(states)
            return MembraneRelease(
                **states,
                **carrier,
                mass=mass,
                inertia=scaled_inertia(own, np.broadcast_to(scale, (count, 3))),
                in_contact=one.release.in_contact,
            )

    @property
    def _get(self) -> Any:
        return getter(self.scenario, self.arrays)

    def blamed(self) -> Any:
        """What is wrong with the runs is reported with file and key."""
        return blame(self.scenario.source, "release")

    def follow(self, device: str, every: float, threads: int | None = None) -> MembraneFlight:
        """The runs with their trajectories, a record each ``every`` seconds."""
        with self.blamed():
            flight: MembraneFlight = fly(self.model.followed(every), self.release, device, threads)
        return flight

    def _motion(self, get: Any) -> MembraneMotion:
        carrier, one = self.scenario.carrier, self.scenario
        with blame(one.source, "membrane"):
            fabric = fabric_of(one.membrane, get, one.membrane.points(), up=one.membrane.up)
        craft: Craft | None = None
        thrusters = tuple(part.make() for part in carrier.thruster)
        with blame(one.source, "carrier"):
            if carrier.mass is not None:
                craft = Craft(float(carrier.mass), np.asarray(carrier.inertia, dtype=np.float64))
            if carrier.thrust is not None and any(carrier.thrust):
                thrusters = (self._thruster(), *thrusters)
        laws = self.around.laws(one)
        with blame(one.source, "body"):
            return MembraneMotion(fabric, self.body, craft, actuators=thrusters, **laws)

    def _thruster(self) -> Thruster:
        carrier = self.scenario.carrier
        point = np.asarray(carrier.thrust_point, dtype=np.float64)
        force = np.asarray(carrier.thrust, dtype=np.float64)
        after = Schedule() if carrier.from_start else Schedule.after_touch()
        return Thruster(float(np.linalg.norm(force)), force, point, after, "thrust")

    def _places(self, get: Any, motion: MembraneMotion) -> Array:
        """(n, 3) of the body's centre of mass [m]."""
        if self.scenario.release.position is not None:
            return np.asarray(get("release.position"))
        ring = motion.membrane.ring
        place = ring.origin + get("release.height") * ring.R[:, 2]
        turn = frames.quat_normalize(get("carrier.attitude"))
        return np.asarray(get("carrier.position") + frames.quat_rotate(turn, place))


#: Components that are 0 in 2D.
_ACROSS = {"position": [1], "velocity": [1], "attitude": [0, 2], "rate": [0, 2]}


def _require_flat(states: dict[str, Array]) -> None:
    """An error unless a plate stays in the plane of x and z."""
    for name, rows in states.items():
        if np.any(rows[:, _ACROSS[name]]):
            raise InputError(
                f"the {name} leads out of the plane of x and z, in which a plate falls on two "
                "points: y of places and velocities must be 0, and so must x and z of rates and "
                "attitudes."
            )


def fabric_of(section: Any, get: Any, suspension: Any, **options: Any) -> Membrane:
    """The membrane of a section, with numbers of each run where they differ."""
    numbers = {name: get(f"membrane.{name}") for name in FABRIC}
    single = {name: a if name == "more" else a[:, 0] for name, a in numbers.items()}
    return PROFILES[section.profile](**single, suspension=suspension, **options)


class PreparedDrop(PreparedCaught):
    """The scenario of a drop with its body made; made by ``prepare``."""

    WITHIN = WITHIN

    def __init__(self, scenario: DropScenario, device: str, progress: str | Progress) -> None:
        super().__init__(scenario, device)
        self._around = Surroundings(scenario, device, progress)
        self._bodies: dict[Any, Captive] = {}
        self._body(scenario)

    def _group(self, setting: dict[str, Any], arrays: dict[str, Array], rows: Any) -> DropGroup:
        scenario = self.scenario.replaced(setting) if setting else self.scenario
        return DropGroup(scenario, self._body(scenario), arrays, rows, self._around)

    def _body(self, scenario: DropScenario) -> Captive:
        section = scenario.body
        if section not in self._bodies:
            self._bodies.clear()
            with blame(scenario.source, "body"):
                self._bodies[section] = _body_of(section)
        return self._bodies[section]


def _body_of(section: Any) -> Captive:
    if section.corners is not None:
        return Captive.polygon(np.asarray(section.corners, dtype=np.float64), float(section.mass))
    mesh = mesh_of(section)
    return Captive.from_mesh(mesh, mass_of(section, mesh))
