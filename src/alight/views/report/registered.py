"""Sections that other packages add to a report, by the names that a scenario gives them.

``[report] sections = ["energy budget"]`` asks for one. A package registers it (``core.registry``)
as a function from ``CampaignData`` to a ``Section``. One that is absent or fails costs its own
place on the page and nothing else.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any

from alight.core.registry import registry
from alight.core.text import printable
from alight.views.report.data import CampaignData
from alight.views.report.section import Figure, Paragraph, Section

KIND = "report section"


@dataclasses.dataclass(frozen=True)
class Guarded:
    """A section of another package."""

    name: str
    package: str
    section: Section

    def failed(self, error: Exception) -> Guarded:
        """What the page has in its place: one line that names the package and the error."""
        why = printable(" ".join(f"{type(error).__name__}: {error}".split()))
        whose = f"of package {self.package} " if self.package else ""
        said = f'The section "{self.name}" {whose}could not be made: {why}'
        made = Section(self.name, [Paragraph(said)], warnings=[said])
        return dataclasses.replace(self, section=made)


def asked(scenario: Mapping[str, Any]) -> list[str]:
    """Names of the sections that a resolved scenario asks for."""
    given = scenario.get("report")
    names = given.get("sections") if isinstance(given, Mapping) else None
    return [str(name) for name in names or ()]


def registered(data: CampaignData) -> list[Guarded]:
    """The sections that the scenario asks for, in its order."""
    return [_made(name, data) for name in asked(data.scenario)]


def _made(name: str, data: CampaignData) -> Guarded:
    one = Guarded(name, "", Section())
    try:
        entry = registry.find(KIND, name)
        one = dataclasses.replace(one, package=entry.package)
        return dataclasses.replace(one, section=_checked(entry.make(data), name))
    except Exception as error:  # whatever another package does, there is a page
        return one.failed(error)


def _checked(made: Any, name: str) -> Section:
    """A section whose files and keys are its own."""
    if not isinstance(made, Section):
        raise TypeError(f"it made a {type(made).__name__}, and no alight.views.report.Section")
    json.dumps(dict(made.numbers), allow_nan=False)
    if made.files:
        raise TypeError("tables beside the page are for Alight's own sections")
    parts = [
        dataclasses.replace(part, stem=_stem(f"{name} {part.stem}"))
        if isinstance(part, Figure)
        else part
        for part in made.parts
    ]
    return dataclasses.replace(made, title=made.title or name, parts=parts)


def _stem(text: str) -> str:
    """A name for files that lie in the folder of figures and nowhere else."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
