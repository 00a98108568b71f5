"""Playbacks put together: tracks of one model, with its ground, its Sun and how it turns."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from alight.campaign.study.subject import mesh_of
from alight.scenario.building.laws import ScenarioLaws
from alight.shapes.mesh import Mesh
from alight.staging.colours import colours_of
from alight.staging.ground import RIM, Ground, ground_of, patches_of, sphere_mesh, wider
from alight.staging.landings import TreeLanders, landers_of
from alight.staging.sky import attitude_of, sun_of
from alight.views.playback import Playback, Track
from alight.views.playback.joining import SEAM, joined, touched_ground

if TYPE_CHECKING:
    from alight.staging.caught import Caught

#: Tracks whose own ground is shown, and cells along a side of that about all of them.
PATCHES, CELLS = 24, 112


def landing_playback(
    model: Any, tracks: list[Track], scenario: Any, title: str | None, **more: Any
) -> Playback:
    """Landings of one model."""
    body = more.pop("target", None) or _target(model, scenario)
    made = Playback(
        title or title_of(scenario, "A landing"),
        landers_of(model).parts,
        tuple(tracks),
        target=body,
        attitude=attitude_of(model.rotation),
        **more,
    )
    sun, note = sun_of(scenario, model.rotation, getattr(model, "externals", ()))
    middle, reach = made.focus
    ground: Ground = ground_of(model.surface, middle, reach, made.lander_size)
    ends = [track.position[-1, 0] for track in tracks[:PATCHES]]
    notes = (*made.notes, *ground.notes, *((note,) if note else ()))
    made = dataclasses.replace(
        made, terrain=ground.terrain, square=ground.square, wider=wider(model.surface)
    )
    terrain, square = touched_ground(made, CELLS)
    patches = patches_of(model.surface, ends, made.lander_size)
    if body is not None:
        patches = tuple((joined(part, body, one, RIM), one) for part, one in patches)
        if terrain is not None and square is not None:
            terrain = joined(terrain, body, square, SEAM)
    return dataclasses.replace(
        made,
        terrain=terrain,
        rocks=ground.rocks,
        square=square,
        patches=patches,
        up=ground.up,
        sun=sun,
        notes=notes,
        colours=colours_of(body, *masses_of(scenario), model.rotation, sun),
    )


def masses_of(scenario: Any) -> tuple[Any, Any]:
    """A scenario of a landing and its laws, which know the mass of its body."""
    if getattr(scenario, "KIND", "") != "landing":
        return None, None
    return scenario, ScenarioLaws(scenario, "cpu", "silent")


def _target(model: Any, scenario: Any) -> Mesh | None:
    """The body: that of the scenario, which models may know by fewer facets."""
    if getattr(scenario, "KIND", "") == "landing" and not scenario.flat:
        body = scenario.body
        if body.name is not None or body.mesh is not None:
            return ScenarioLaws(scenario, "cpu", "silent").mesh(scenario)
    return mesh_of(model) or sphere_mesh(model.surface)


def caught_playback(
    caught: Caught, tracks: list[Track], scenario: Any, title: str | None, **more: Any
) -> Playback:
    """Captures or drops of one model."""
    kind = "capture" if caught.capture else "drop"
    return Playback(
        title or title_of(scenario, f"A {kind}"),
        caught.parts,
        tuple(tracks),
        frame="inertial",
        surface=caught.fabric.surface,
        up=None if caught.capture else np.asarray(caught.model.membrane.ring.R[:, 2]),
        kind=kind,
        **more,
    )


def title_of(scenario: Any, otherwise: str) -> str:
    """The title of a scenario."""
    return str(getattr(scenario, "title", None) or otherwise)


def release_track(model: Any, release: Any) -> Track:
    """A track of one line: a lander at its release."""
    lander = landers_of(model)
    if isinstance(lander, TreeLanders):
        found = lander.tree.kinematics(release.q[:1], release.v[:1], device="cpu")
        rows = [a[:, lander.owners] for a in (found.position, found.velocity, found.attitude)]
    else:
        given = (release.position, release.velocity, release.attitude)
        rows = [np.atleast_2d(a)[:1, None] for a in given]
    return Track(0, "released", np.zeros(1), rows[0], rows[1], rows[2])
