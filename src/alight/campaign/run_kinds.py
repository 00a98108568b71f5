"""The kind of runs that a campaign has, by what its plan says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from alight.engine.run_kind import LANDINGS, RunKind


def run_kind(scenario: Mapping[str, Any]) -> RunKind:
    """The kind of runs of a resolved scenario; one that does not say is a landing."""
    return RUN_KINDS[scenario.get("kind", "landing")]()


def _captures() -> RunKind:
    from alight.motions.capture.columns import CAPTURE_KIND

    return CAPTURE_KIND


def _drops() -> RunKind:
    from alight.motions.membrane.columns import DROP_KIND

    return DROP_KIND


#: By what scenario files say under ``kind``; motions are loaded by who reads runs of theirs.
RUN_KINDS: dict[str, Callable[[], RunKind]] = {
    "landing": lambda: LANDINGS,
    "capture": _captures,
    "drop": _drops,
}
