"""A campaign watched while it runs (extra ``viser``): rest sites, paths and landers as shards end.

The pages of ``views.viewer`` stand still; this one is served by viser and looks into the folder
again and again. It reads what is sealed and writes nothing.

Landings on a body are shown on the body, with the paths of the latest runs that are kept. On flat
ground, and of captures and drops, the latest kept run is shown as it moves: a slider sets its time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from alight.campaign.reader import Campaign, open_campaign
from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import AlightError
from alight.core.extras import require
from alight.staging.campaigns import campaign_playback, scenario_of, sites_of, title_of
from alight.staging.ground import body_mesh, body_table
from alight.views.looks import COLOURS, colour_of
from alight.views.playback import Playback, Track

#: Facets of the body: a browser that draws in software is slow with more.
FACETS = 20_480
#: Seconds between looks into the folder.
EVERY = 1.0
#: Colours of rest sites, settled and all else, and of paths.
SETTLED, OTHER, PATH = (86, 180, 233), (213, 94, 0), (240, 200, 80)
#: Behind everything, of 255.
NIGHT = (11, 14, 20)
#: Paths of the latest kept runs that are shown, and points along each.
PATHS, POINTS = 12, 600


class Live:
    """A served scene of one campaign."""

    def __init__(self, folder: Path, port: int) -> None:
        viser = require("viser", "viser")
        self.folder = folder
        campaign = open_campaign(folder)
        self.landing = campaign.kind.word == "landing"
        self.mesh, self.note = None, ""
        if self.landing:
            self.mesh, self.note = body_mesh(body_table(campaign), FACETS)
        self.server: Any = viser.ViserServer(port=port, verbose=False)
        self._light()
        #: Browsers draw in single precision: lengths are counted from an origin near what is shown,
        #: in radii of the body or in sizes of what moves. Not known before there is anything.
        self.origin: Array | None = None
        self.scale = 1.0
        self.playback: Playback | None = None
        self.kept: list[int] = []
        self.runs = -1
        self.words: Any = self.server.gui.add_markdown("")
        self.moment: Any = self.server.gui.add_slider("time", 0.0, 1.0, 0.002, 1.0, visible=False)
        self.moment.on_update(lambda _: self.move())
        if self.mesh is not None:
            self.origin, self.scale = np.zeros(3), 1.0 / float(self.mesh.bounding_radius)
            self._solid("/body", self.mesh.vertices, self.mesh.faces, COLOURS["terrain"], False)
        self._look_from(np.array([1.0, -0.7, 0.6]), np.array([0.0, 0.0, 1.0]), 2.8)
        self.show(campaign)

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        return f"http://localhost:{self.server.get_port()}"

    def show(self, campaign: Campaign) -> bool:
        """Show what is there now; whether anything is new."""
        if len(campaign) == self.runs:
            return False
        self.runs = len(campaign)
        self._take_latest(campaign)
        self._say(campaign)
        self._show_sites(campaign)
        return True

    def look(self) -> bool:
        """Look into the folder again; whether the campaign is complete."""
        campaign = open_campaign(self.folder)
        self.show(campaign)
        return campaign.complete

    def stop(self) -> None:
        """End serving."""
        self.server.stop()

    def _light(self) -> None:
        """Night around, and a Sun to the side of the first view."""
        scene = self.server.scene
        scene.set_background_image(np.full((2, 2, 3), NIGHT, np.uint8))
        scene.configure_default_lights(enabled=False)
        scene.configure_environment_map(hdri=None)
        scene.add_light_ambient("/sky", intensity=0.4)
        scene.add_light_directional("/sun", intensity=1.6, position=(1.5, -0.6, 2.0))

    def _look_from(self, way: Array, up: Array, away: float) -> None:
        """Where browsers that connect look from, at the origin of what is shown."""
        camera = self.server.initial_camera
        camera.position = tuple(away * way / np.linalg.norm(way))
        camera.look_at, camera.up = (0.0, 0.0, 0.0), tuple(up)

    # -- what is said ----------------------------------------------------------------------------

    def _say(self, campaign: Campaign) -> None:
        ended = ", ".join(
            f"{n} {way.name.lower().replace('_', ' ')}" for way, n in campaign.count().items()
        )
        told = f"{self.runs} of {campaign.plan.total} runs"
        lines = [f"**{_plain(title_of(campaign))}**", f"{told}{': ' if ended else ''}{ended}"]
        if self.playback is not None:
            shown = ", ".join(str(track.run) for track in self.playback.tracks)
            several = self.mesh is not None and len(self.playback.tracks) > 1
            lines.append(f"Shown: run{'s' if several else ''} {shown}")
        elif self.mesh is None:
            lines.append(self.note or "No trajectory is kept so far: nothing moves here.")
        self.words.content = "\n\n".join(_plain(x) if k else x for k, x in enumerate(lines))

    # -- what is seen ----------------------------------------------------------------------------

    def _take_latest(self, campaign: Campaign) -> None:
        """The latest kept trajectories, where there are new ones."""
        latest = campaign.trajectories[-PATHS if self.mesh is not None else -1 :]
        if not latest or latest == self.kept:
            return
        self.kept = latest
        try:
            given = scenario_of(campaign)
            self.playback = campaign_playback(
                campaign, latest, given, None, "cpu", "silent", self.mesh
            )
        except AlightError as cause:  # a study made in Python, or a file that is gone
            self.note = str(cause)
            return
        if self.mesh is not None:
            self._show_paths(self.playback)
        else:
            self._show_run(self.playback)

    def _show_sites(self, campaign: Campaign) -> None:
        sites = sites_of(campaign) if self.runs else None
        if sites is None:
            return
        known = np.isfinite(sites.place).all(axis=1)
        if self.origin is None and known.any():
            place = sites.place[known]
            self.origin = place.mean(axis=0)
            self.scale = 1.0 / max(float(np.ptp(place, axis=0).max()), 1e-3)
        if self.origin is None or not known.any():
            return
        if self.mesh is not None and not self.playback:
            middle = sites.place[known].mean(axis=0)
            self._look_from(middle, np.array([0.0, 0.0, 1.0]), 2.8)
        settled = np.array([word == "settled" for word in sites.outcome])
        self.server.scene.add_point_cloud(
            "/rest sites",
            self._near(sites.place[known]),
            np.where(settled[known, None], SETTLED, OTHER).astype(np.uint8),
            point_size=0.014,
            point_shape="circle",
        )

    def _show_paths(self, shown: Playback) -> None:
        self._look_from(shown.focus[0] + 1e-9, np.array([0.0, 0.0, 1.0]), 2.8)
        pieces = [self._line(track) for track in shown.tracks if len(track.time) > 1]
        if pieces:
            lines = np.concatenate(pieces)
            self.server.scene.add_line_segments("/paths", lines, PATH, line_width=2.0)

    def _show_run(self, shown: Playback) -> None:
        """What moves, and the ground about it, of the latest kept run."""
        track = shown.tracks[-1]
        if self.landing:
            middle, reach = shown.focus
            self.origin, self.scale = middle, 1.0 / reach
            up = np.array([0.0, 0.0, 1.0]) if shown.up is None else np.asarray(shown.up)
            aside = np.asarray(frames.local_frame(up)).T
            self._look_from(up + aside[0] - 1.2 * aside[1], up, 2.4)
            for name, part in (("ground", shown.terrain), ("rocks", shown.rocks)):
                if part is not None:
                    self._solid(f"/{name}", part.vertices, part.faces, colour_of(part))
            line = self._line(track)
            self.server.scene.add_line_segments("/path", line, PATH, line_width=2.0)
        else:
            self.origin, self.scale = np.zeros(3), 1.6 / shown.lander_size
        self.parts = [
            self._part(f"/moving/{k}", part)
            for k, part in enumerate(shown.parts if track.parts is None else track.parts)
        ]
        self.moment.visible = True
        self.move()

    def move(self) -> None:
        """Put what moves where it is at the chosen time."""
        if self.playback is None or self.mesh is not None:
            return
        track = self.playback.tracks[-1]
        start = float(track.time[0])
        place, turn, bent = track.at(start + self.moment.value * (track.end - start))
        about = self.origin if self.landing else place[0].mean(axis=0)
        for handle, x, q in zip(self.parts, place[0], turn[0], strict=True):
            handle.position = tuple((x - about) * self.scale)
            handle.wxyz = (q[3], *q[:3])
        if bent is not None and self.playback.surface is not None:
            away, faces = bent[0] - about, self.playback.surface.faces
            self._mesh("/membrane", away * self.scale, faces, COLOURS["membrane"], opacity=0.7)

    def _part(self, name: str, part: Any) -> Any:
        return self._mesh(name, part.vertices * self.scale, part.faces, colour_of(part))

    def _solid(
        self, name: str, vertices: Array, faces: Any, colour: Any, flat: bool = True
    ) -> None:
        self._mesh(name, self._near(vertices), faces, colour, flat)

    def _mesh(
        self, name: str, vertices: Array, faces: Any, colour: Any, flat: bool = True, **more: Any
    ) -> Any:
        return self.server.scene.add_mesh_simple(
            name,
            np.asarray(vertices, np.float32),
            np.asarray(faces, np.uint32),
            color=tuple(round(255 * c) for c in colour),
            flat_shading=flat,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
            **more,
        )

    def _line(self, track: Track) -> Array:
        """(n, 2, 3) pieces of a path."""
        times = np.linspace(float(track.time[0]), track.end, POINTS)
        points = self._near(track.at(times)[0][:, 0])
        return np.stack([points[:-1], points[1:]], axis=1)

    def _near(self, points: Array) -> Any:
        """Points as the browser has them."""
        assert self.origin is not None
        return np.asarray((points - self.origin) * self.scale, np.float32)


def _plain(text: str) -> str:
    """Letters and figures alone: what is served is read as Markdown."""
    return "".join(c for c in text if c.isalnum() or c in " -.,:;()'_")


def watch(folder: Path, port: int, opened: Callable[[str], None]) -> None:
    """Serve a campaign until Ctrl-C; ``opened`` is given the address."""
    live = Live(folder, port)
    opened(live.address)
    try:
        while True:
            live.look()
            time.sleep(EVERY)
    except KeyboardInterrupt:
        live.stop()
