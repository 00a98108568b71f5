"""Playbacks put together: tracks of one model, with its ground, its Sun and how it turns."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from alight.campaign.study.subject import mesh_of
from alight.staging.caught import Caught
from alight.staging.ground import Ground, ground_of, sphere_mesh, wider
from alight.staging.landings import TreeLanders, landers_of
from alight.staging.sky import attitude_of, sun_of
from alight.views.playback import Playback, Track


def landing_playback(
    model: Any, tracks: list[Track], scenario: Any, title: str | None, **more: Any
) -> Playback:
    """Landings of one model."""
    made = Playback(
        title or title_of(scenario, "A landing"),
        landers_of(model).parts,
        tuple(tracks),
        target=mesh_of(model) or sphere_mesh(model.surface),
        attitude=attitude_of(model.rotation),
        **more,
    )
    sun, note = sun_of(scenario, model.rotation, getattr(model, "externals", ()))
    middle, reach = made.focus
    ground: Ground = ground_of(model.surface, middle, reach, made.lander_size)
    notes = (*made.notes, *ground.notes, *((note,) if note else ()))
    return dataclasses.replace(
        made,
        terrain=ground.terrain,
        rocks=ground.rocks,
        square=ground.square,
        up=ground.up,
        wider=wider(model.surface),
        sun=sun,
        notes=notes,
    )


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
