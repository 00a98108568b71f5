"""The kind of runs that a campaign has, by what its plan says of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alight.engine.run_kind import RunKind
from alight.motions import Model
from alight.motions.capture.model import Capture
from alight.motions.membrane.model import MembraneMotion

#: By what scenario files say under ``kind``.
RUN_KINDS = {motion.run_kind.word: motion.run_kind for motion in (Model, Capture, MembraneMotion)}


def run_kind(scenario: Mapping[str, Any]) -> RunKind:
    """The kind of runs of a resolved scenario; one that does not say is a landing."""
    return RUN_KINDS[scenario.get("kind", "landing")]
