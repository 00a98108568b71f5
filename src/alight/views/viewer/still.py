"""The still picture of a viewer, for browsers without WebGL and for paper."""

from __future__ import annotations

import base64
import io

from alight.core.checks import Array
from alight.views.playback import Playback


def still_png(playback: Playback) -> str:
    """A PNG in base64."""
    return ""
