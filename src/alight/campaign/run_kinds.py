"""The kind of runs that a campaign has, by what its plan says of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alight.engine.run_kind import LANDINGS, RunKind


def run_kind(scenario: Mapping[str, Any]) -> RunKind:
    """The kind of runs of a resolved scenario; one that does not say is a landing."""
    kind = scenario.get("kind", LANDINGS.word)
    if kind == LANDINGS.word:
        return LANDINGS
    from alight.motions.capture.columns import CAPTURE_KIND
    from alight.motions.membrane.columns import DROP_KIND

    return {one.word: one for one in (CAPTURE_KIND, DROP_KIND)}[kind]
