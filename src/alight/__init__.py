"""Alight: landing, bouncing, sliding, settling, hopping and capture at small bodies.

::

    import alight
    mesh = alight.Mesh.read("itokawa.obj", unit="km")
    field = alight.gravity.Polyhedron(mesh, density=1950.0)
    potential, acceleration, gradient = field.evaluate(points)

Names are loaded when first used, so that ``import alight`` and the command line start at once.
"""

from alight.core import lazy

TYPE_CHECKING = False  # as type checkers read it; the module typing takes long to load
if TYPE_CHECKING:
    from alight import (
        analysis,
        campaign,
        contact,
        core,
        engine,
        flight,
        gravity,
        integrators,
        membrane,
        mobility,
        motions,
        scenario,
        shapes,
        staging,
        surfaces,
        vehicles,
    )
    from alight.campaign import Study, dispersions, open_campaign, run_campaign
    from alight.core.requirements import Requirement
    from alight.engine import run_batch
    from alight.mobility import aim
    from alight.motions import Model, Release
    from alight.scenario.bodies import Body
    from alight.scenario.bodies import find as body
    from alight.scenario.building.prepare import simulate
    from alight.scenario.landers import find as lander
    from alight.shapes import Mesh
    from alight.staging.advising.advice import advise
    from alight.staging.exporting import export
    from alight.staging.filming import film
    from alight.staging.gathering import playback, view
    from alight.vehicles import RigidLander
    from alight.views.compare.findings import compare

__version__ = "0.1.0"
__all__ = [
    "Body",
    "Mesh",
    "Model",
    "Release",
    "Requirement",
    "RigidLander",
    "Study",
    "advise",
    "aim",
    "analysis",
    "body",
    "campaign",
    "compare",
    "contact",
    "core",
    "dispersions",
    "engine",
    "export",
    "film",
    "flight",
    "gravity",
    "integrators",
    "lander",
    "membrane",
    "mobility",
    "motions",
    "open_campaign",
    "playback",
    "run_batch",
    "run_campaign",
    "scenario",
    "shapes",
    "simulate",
    "staging",
    "surfaces",
    "vehicles",
    "view",
]

lazy.door(
    __name__,
    {
        "alight.campaign": "Study dispersions open_campaign run_campaign",
        "alight.core.requirements": "Requirement",
        "alight.engine": "run_batch",
        "alight.mobility": "aim",
        "alight.motions": "Model Release",
        "alight.scenario.bodies": "Body body=find",
        "alight.scenario.building.prepare": "simulate",
        "alight.scenario.landers": "lander=find",
        "alight.shapes": "Mesh",
        "alight.staging.advising.advice": "advise",
        "alight.staging.exporting": "export",
        "alight.staging.filming": "film",
        "alight.staging.gathering": "playback view",
        "alight.vehicles": "RigidLander",
        "alight.views.compare.findings": "compare",
    },
)
