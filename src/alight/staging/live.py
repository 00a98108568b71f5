"""A campaign watched while it runs: rest sites appear as shards are finished (extra ``viser``).

The pages of ``views.viewer`` stand still; this one is served by viser and looks into the folder
again and again. It reads what is sealed and writes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from alight.campaign.reader import Campaign, open_campaign
from alight.core.errors import InputError
from alight.core.extras import require
from alight.staging.campaigns import sites_of, title_of
from alight.staging.ground import body_mesh, body_table

#: Facets of the body: a browser that draws in software is slow with more.
FACETS = 20_480
#: Seconds between looks into the folder.
EVERY = 1.0
#: Colours of rest sites: settled, and all else.
SETTLED, OTHER = (86, 180, 233), (213, 94, 0)


class Live:
    """A served scene of one campaign."""

    def __init__(self, folder: Path, port: int) -> None:
        viser = require("viser", "viser")
        self.folder = folder
        campaign = open_campaign(folder)
        mesh, note = body_mesh(body_table(campaign), FACETS)
        if campaign.kind.word != "landing" or mesh is None:
            raise InputError(f"{folder} has no body to show live. {note}".strip())
        self.server: Any = viser.ViserServer(port=port, verbose=False)
        #: Lengths are told in radii of the body: browsers draw in single precision.
        self.scale = 1.0 / mesh.bounding_radius
        self.server.scene.add_mesh_simple(
            "/body",
            (mesh.vertices * self.scale).astype(np.float32),
            np.asarray(mesh.faces, np.uint32),
            color=(168, 160, 150),
            flat_shading=False,
            cast_shadow=False,
            receive_shadow=False,
        )
        self.words: Any = self.server.gui.add_markdown("")
        self.runs = -1
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
        ended = ", ".join(f"{n} {way.name.lower()}" for way, n in campaign.count().items())
        title = "".join(c for c in title_of(campaign) if c.isalnum() or c in " -.,")
        told = f"{self.runs} of {campaign.plan.total} runs"
        self.words.content = f"**{title}**\n\n{told}{': ' if ended else ''}{ended}"
        sites = sites_of(campaign) if self.runs else None
        if sites is not None:
            settled = np.array([word == "settled" for word in sites.outcome])
            self.server.scene.add_point_cloud(
                "/rest sites",
                (sites.place * self.scale).astype(np.float32),
                np.where(settled[:, None], SETTLED, OTHER).astype(np.uint8),
                point_size=0.012,
                point_shape="circle",
            )
        return True

    def look(self) -> bool:
        """Look into the folder again; whether the campaign is complete."""
        campaign = open_campaign(self.folder)
        self.show(campaign)
        return campaign.complete

    def stop(self) -> None:
        """End serving."""
        self.server.stop()


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
