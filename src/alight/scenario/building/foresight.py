"""What can be known of a scenario before any table is built: where it starts, what it will cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from alight.core import devices, frames
from alight.core.checks import Array
from alight.core.errors import AlightError
from alight.engine.lift import TOLERANCE
from alight.scenario import ephemeris
from alight.scenario.building.articulated_landers import Articulated
from alight.scenario.building.laws import ScenarioLaws
from alight.scenario.building.manoeuvre_check import impossible_commands
from alight.scenario.building.mesh_probe import MeshProbe, PlaneProbe, SphereProbe
from alight.scenario.building.releases import release_of
from alight.scenario.errors import Fault, ScenarioError
from alight.scenario.schema.landing import Scenario
from alight.scenario.schema.release import GROUND
from alight.scenario.schema.target import FLAT
from alight.vehicles import RigidLander

#: Runs a second of one core, by what moves: processor time of shipped scenarios (ryugu_minerva,
#: itokawa_cube, paper002_dispersed), which others may miss by a factor of a few.
RATES = {"landing": 70.0, "hull": 40.0, "impulse": 55.0, "tree": 7.0, "capture": 9.0, "drop": 25.0}
#: Bytes on disk of a run with its contacts; of a kept trajectory, by what moves.
RUN_BYTES, TRAJECTORY_BYTES = 5500.0, {"landing": 4e5, "hull": 4e5, "impulse": 4e5}
JOINTED_BYTES = 4e6
#: Pairs of point and facet that the check of a release may look at.
MOST_PAIRS = 50_000_000
#: Memory that the distance field of a scenario may take [bytes].
MOST_MEMORY = 4e9


@dataclass
class Foresight:
    """What is known before a run."""

    problems: list[Fault] = field(default_factory=list)
    """What would make a run fail."""
    remarks: list[Fault] = field(default_factory=list)
    """What may not be meant."""
    runs: int = 0
    seconds: float = 0.0
    """Of the runs of a campaign on this machine; compiling and building come before."""
    cores: int = 1
    memory: float = 0.0
    """Of tables [bytes]."""
    disk: float = 0.0
    """Of the campaign's folder [bytes]."""


def foresee(scenario: Any) -> Foresight:
    """What can be said of a scenario that has been read."""
    found = _cost(scenario)
    found.remarks += _record_remarks(scenario)
    if not isinstance(scenario, Scenario):
        found.problems += _through_membrane(scenario) if scenario.KIND == "drop" else []
        return found
    laws = ScenarioLaws(scenario, "cpu", "silent")
    try:
        found.problems += impossible_commands(scenario, laws.lander(scenario))
        start = start_of(scenario, laws)
        if start is not None:
            found.problems += _inside(scenario, *start)
            if not found.problems:
                found.remarks += _flight_remarks(scenario, laws, start[0])
        found.memory = _tables(scenario, laws)
        found.problems += _too_fine(scenario, found.memory)
    except ScenarioError as cause:
        found.problems += cause.problems
    except AlightError as cause:
        found.problems.append(Fault("release", " ".join(str(cause).split())))
    return found


# -- where it starts -------------------------------------------------------------------------------


def _probe(scenario: Scenario, laws: ScenarioLaws) -> Any:
    """Ground that can be asked at once; None where only tables know it."""
    ground = scenario.ground
    if ground.kind in FLAT:
        return PlaneProbe(np.array([float(v) for v in ground.point]), np.array(ground.normal))
    if ground.kind == "sphere":
        radius = ground.radius if ground.radius is not None else laws.mesh(scenario).bounding_radius
        return SphereProbe(float(radius))
    if ground.kind in ("distance-field", "facets", "parametric"):
        mesh = laws.mesh(scenario)
        return MeshProbe(mesh) if mesh.n_faces * 64 <= MOST_PAIRS else None
    return None


def start_of(
    scenario: Scenario,
    laws: ScenarioLaws,
    values: dict[str, Array] | None = None,
    count: int = 1,
) -> tuple[Any, Any, Any] | None:
    """The release of the nominal run, or of ``count`` runs with values of their own, its lander and
    the ground, by cheap means; None where only tables know."""
    probe = _probe(scenario, laws)
    lander = laws.lander(scenario)
    if probe is None or scenario.release.form == GROUND:
        return None  # it is placed on the ground, wherever that is
    tree = lander if isinstance(lander, Articulated) else None
    pull = SimpleNamespace(evaluate=lambda x, device: (None, -np.asarray(x), None))
    model = SimpleNamespace(
        surface=probe, gravity=pull, rotation=ephemeris.rotation_of(scenario.body.rotation)
    )
    release = release_of(scenario, model, values or {}, count, lambda: laws.gm(scenario))  # type: ignore[arg-type]
    return release, (None if tree is not None else lander), probe


def _inside(
    scenario: Scenario, release: Any, lander: RigidLander | None, probe: Any
) -> list[Fault]:
    """Whether the nominal run is released inside the ground."""
    x, q = release.position[0], release.attitude[0]
    points, radii = np.zeros((1, 3)), np.zeros(1)
    if lander is not None:
        points, radii = np.asarray(lander.points), np.asarray(lander.radii)
        facets = getattr(getattr(probe, "mesh", None), "n_faces", 1)
        few = max(1, MOST_PAIRS // (64 * facets))
        points, radii = points[:: max(1, len(points) // few)], radii[:: max(1, len(points) // few)]
    depth = -float((probe.query(x + frames.quat_rotate(q, points))[0] - radii).min())
    if depth <= TOLERANCE + vagueness(scenario):
        return []
    key = "height" if scenario.release.height is not None else "position"
    key, fix = _OF_FORMS.get(str(scenario.release.form), (key, "Raise it"))
    reach = "" if lander is None else f" (the lander reaches {_reach(points, radii):.3g} m from it)"
    said = (
        f"the lander is released {depth:.3g} m inside the ground; the place is that of its centre "
        f'of mass{reach}. {fix}, or take release.kind = "ground" to place it touching'
    )
    return [Fault(f"release.{key}", said)]


#: Key that places a lander, and what to do where it is inside the ground, by kind of release.
_OF_FORMS = {
    "orbit": ("semi_major_axis", "Take a wider orbit or another anomaly"),
    "inertial": ("position", "Raise it"),
    "states": ("file", "Raise its states"),
}


def _through_membrane(scenario: Any) -> list[Fault]:
    """Whether the nominal drop starts through the membrane; nothing where that takes tables."""
    from alight.scenario.building.membrane_drops import PreparedDrop

    if scenario.gravity.law not in ("uniform", "point-mass"):
        return []
    try:
        group = PreparedDrop(scenario, "cpu", "silent").groups({})[0]
        model, release = group.model, group.release
    except ScenarioError as cause:
        return list(cause.problems)
    try:
        model.require_free(release)
    except AlightError as cause:
        key = "height" if scenario.release.height is not None else "position"
        return [Fault(f"release.{key}", " ".join(str(cause).split()))]
    return []


def _reach(points: Array, radii: Array) -> float:
    return float((np.linalg.norm(points, axis=1) + radii).max())


def vagueness(scenario: Scenario) -> float:
    """How far the ground may lie below what is looked at here [m]: hills, and grids."""
    ground = scenario.ground
    hills = 0.0 if ground.noise is None else 4.0 * float(ground.noise.amplitude)
    coarse = 0.1 * float(ground.spacing) if ground.spacing is not None else 0.0
    return hills + (coarse if ground.kind == "distance-field" else 0.0)


def _flight_remarks(scenario: Scenario, laws: ScenarioLaws, release: Any) -> list[Fault]:
    """What will happen to a lander that flies as it is released."""
    stop = scenario.stop
    found: list[Fault] = []
    x, v = release.position[0], release.velocity[0]
    radius = float(np.linalg.norm(x))
    if radius >= float(stop.escape_radius):
        far = f"is {float(stop.escape_radius):g} m, and the release is {radius:.4g} m away"
        return [Fault("stop.escape_radius", f"{far}: every run ends at once as escaped")]
    if scenario.ground.kind in FLAT:
        return _leaves(scenario)
    if scenario.body.gm is None:
        return found
    omega = ephemeris.rotation_of(scenario.body.rotation).evaluate(0.0, "cpu")[0]
    speed = float(np.linalg.norm(v + np.cross(omega, x)))
    escape = math.sqrt(2.0 * laws.gm(scenario) / radius)
    if speed > escape:
        said = (
            f"the release is faster ({speed:.3g} m/s, inertial) than escape from there "
            f"({escape:.3g} m/s)"
        )
        found.append(Fault("release.velocity", said))
    if speed > 0.7 * escape and math.isinf(stop.escape_radius):
        said = "is infinite: a lander that leaves is followed until stop.max_time"
        found.append(Fault("stop.escape_radius", said))
    return found


def _leaves(scenario: Scenario) -> list[Fault]:
    """Whether gravity pulls away from flat ground."""
    pull = scenario.gravity.acceleration
    if pull is None or float(np.dot(np.array(pull, float), scenario.ground.normal)) < 0.0:
        return []
    said = "does not pull towards the ground, whose normal is ground.normal: nothing comes down"
    return [Fault("gravity.acceleration", said)]


# -- what it costs ---------------------------------------------------------------------------------


def _cost(scenario: Any) -> Foresight:
    runs, cores = int(scenario.campaign.runs), devices.thread_count(None)
    kept = len([n for n in scenario.record.trajectories if n < runs])
    motion = _motion(scenario)
    disk = runs * RUN_BYTES + kept * TRAJECTORY_BYTES.get(motion, JOINTED_BYTES)
    return Foresight(runs=runs, cores=cores, seconds=runs / (RATES[motion] * cores), disk=disk)


def _motion(scenario: Any) -> str:
    if scenario.KIND != "landing":
        return str(scenario.KIND)
    if scenario.lander.is_tree:
        return "tree"
    if scenario.ground.kind == "facets" and scenario.lander.shape not in ("sphere", "point"):
        return "impulse" if scenario.contact.law == "impulse" else "hull"
    return "landing"


def _tables(scenario: Scenario, laws: ScenarioLaws) -> float:
    """Bytes that the tables of ground and gravity take, to a factor of two."""
    ground, total = scenario.ground, 0.0
    if ground.kind == "distance-field":
        mesh = laws.mesh(scenario)
        spacing = float(ground.spacing or mesh.extent.max() / 100.0)
        band = float(ground.band or 4.0 * spacing)
        # 32 to 64 numbers of 4 bytes for each cell of the layer, as measured.
        total += 1e6 + 100.0 * float(mesh.face_areas.sum()) * band / spacing**3
    if scenario.gravity.law in ("smooth", "cached"):
        mesh = laws.mesh(scenario)
        share = float(scenario.gravity.spacing or 0.005 * mesh.extent.max()) / mesh.extent.max()
        total += 7e6 * (1.6e4 * share**3) ** -0.4
    return total


def _too_fine(scenario: Scenario, memory: float) -> list[Fault]:
    """A distance field far beyond the memory that it may take; two is the error of ``memory``."""
    if scenario.ground.kind != "distance-field" or memory < 4.0 * MOST_MEMORY:
        return []
    assert scenario.ground.spacing is not None
    coarser = float(scenario.ground.spacing) * math.sqrt(memory / MOST_MEMORY)
    said = (
        f"is {float(scenario.ground.spacing):g} m: tables of about {_two(memory / 1e9)} GB, more "
        f"than the {MOST_MEMORY / 1e9:g} GB that they may take. Take {coarser:.2g} m or more"
    )
    return [Fault("ground.spacing", said)]


def _two(number: float) -> str:
    """Two digits, without an exponent."""
    return f"{float(f'{number:.2g}'):.12g}"


def _record_remarks(scenario: Any) -> list[Fault]:
    beyond = [n for n in scenario.record.trajectories if n >= int(scenario.campaign.runs)]
    if not beyond:
        return []
    said = f"names run {beyond[0]}, and the campaign has runs 0 to {scenario.campaign.runs - 1}"
    return [Fault("record.trajectories", said)]


def checked(scenario: Any) -> Foresight:
    """The same, with an error that lists everything that is wrong."""
    found = foresee(scenario)
    if found.problems:
        raise ScenarioError(scenario.source, found.problems)
    return found
