"""The ground of a campaign as its runs touch it, for the maps of its report."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from alight.core.compile_notice import listening
from alight.core.errors import AlightError
from alight.core.stages import stage

if TYPE_CHECKING:
    from alight.analysis.columns import Array
    from alight.analysis.terrain import Terrain, Weight
    from alight.campaign.reader import Campaign
    from alight.gravity import Gravity
    from alight.scenario.building.laws import ScenarioLaws
    from alight.scenario.schema.landing import Scenario
    from alight.views.report.landing.terrain import Ground

#: Sections whose dispersed numbers change what the ground looks like.
SHAPING = ("body.", "ground.")


def ground_of(campaign: Campaign) -> Ground | str:
    """What is touched in a campaign of landings; or why that is not known."""
    from alight.scenario import from_dict
    from alight.scenario.building.laws import ScenarioLaws
    from alight.views.report.landing.terrain import Ground

    table = campaign.scenario
    if "study" in table:
        return "There is no map of the terrain: the study was made in Python, with its own ground."
    varied = [key for key in table.get("dispersions", {}) if _shapes(key)]
    try:
        rest = {k: v for k, v in table.items() if k not in ("made_by", "dispersions")}
        scenario: Any = from_dict(rest, "the campaign's scenario")
        laws = ScenarioLaws(scenario, "cpu", "auto" if listening() else "silent")
        size = _size(laws.lander(scenario))
    except AlightError as error:
        return _unknown(error)
    return Ground(functools.partial(_surveyed, laws, scenario), size, bool(varied))


def _unknown(error: AlightError) -> str:
    return f"There is no map of the terrain: {str(error).rstrip('.')}."


def _shapes(key: str) -> bool:
    """Whether other values under a key change how the ground lies; regions change how it grips."""
    return key.startswith(SHAPING) and not key.startswith(("ground.region", "body.rotation"))


def _surveyed(
    laws: ScenarioLaws, scenario: Scenario, place: Array, R_TL: Array, half: float
) -> Terrain | str:
    """A square of the ground; or why there is none."""
    from alight.analysis.terrain import terrain
    from alight.surfaces import Rocky

    try:
        with stage("Sampling the ground"):
            ground = laws.ground(scenario)
            bare = ground.base if isinstance(ground, Rocky) else None
            return terrain(ground, place, R_TL, half, _weight(laws, scenario), bare=bare)
    except AlightError as error:
        return _unknown(error)


def _weight(laws: ScenarioLaws, scenario: Scenario) -> Weight:
    """What pulls at rest, by the scenario's gravity and the spin at the release."""
    from alight import gravity
    from alight.analysis.surface import effective_acceleration
    from alight.scenario.schema.target import MESH_LAWS

    law: Gravity
    if scenario.gravity.law in MESH_LAWS:  # what tables are made from: none need be built for a map
        law = gravity.Polyhedron(laws.mesh(scenario), gm=laws.gm(scenario))
    else:
        law = laws.gravity(scenario)
    spin = laws.rotation(scenario).evaluate(0.0, "cpu")[0]

    def weight(places: Array) -> Array:
        return effective_acceleration(places, np.asarray(law.evaluate(places, "cpu")[1]), spin)

    return weight


def _size(lander: Any) -> float:
    """How far a lander reaches from its middle, about [m]."""
    from alight.cli.report_lander import pose_of
    from alight.scenario.building.articulated_landers import Articulated

    if not isinstance(lander, Articulated):
        return float(lander.bounding_radius)
    q = np.concatenate([np.zeros(3), [0.0, 0.0, 0.0, 1.0], lander.joints])
    points = pose_of(lander.tree, lander.devices, q).points
    return float(np.linalg.norm(points - points.mean(axis=0), axis=1).max())
