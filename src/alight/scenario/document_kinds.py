"""The kinds of scenario files: what each says is a class of its own."""

from __future__ import annotations

from typing import Any

from alight.core.errors import unknown_name
from alight.scenario import shipped_names  # noqa: F401  (which registers them)
from alight.scenario.document import LANDING, Document, schema_of
from alight.scenario.registered import with_all
from alight.scenario.schema.capture import CaptureScenario
from alight.scenario.schema.landing import Scenario
from alight.scenario.schema.membrane import DropScenario

#: By what they say under ``kind``; a file that says nothing is a landing.
DOCUMENTS: dict[str, type[Document]] = {
    one.KIND: one for one in (Scenario, CaptureScenario, DropScenario)
}


def json_schema(kind: str = LANDING) -> dict[str, Any]:
    """The JSON schema of scenario files of a kind, with all that is installed, for editors."""
    if kind not in DOCUMENTS:
        raise unknown_name("kind of scenario", kind, DOCUMENTS)
    return schema_of(with_all(DOCUMENTS[kind]))
