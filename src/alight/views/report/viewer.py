"""The section of a report that shows runs in three dimensions."""

from __future__ import annotations

from alight.views.playback import Playback
from alight.views.report.section import Section, Viewer
from alight.views.viewer.page import fragment
from alight.views.viewer.scene import encoded


def see_it(playback: Playback) -> Section:
    """Runs in three dimensions."""
    made = encoded(playback)
    numbers = {"viewer": {"bytes": len(made.text), "lines": made.lines, **made.errors}}
    return Section("See it", [Viewer(fragment(playback, made))], numbers=numbers)
