"""``Listed``: an entry of a list whose keys depend on its kind, a name of the registry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from alight.scenario.errors import Fault
from alight.scenario.field_types import NameField, TextField
from alight.scenario.schema.ground_regions import checked_name
from alight.scenario.schema.section import Section


class Listed(Section):
    """An entry of a list: its kind, the name that dispersions know it by, and keys of its own.

    A subclass sets ``REGISTRY``, the kind of the registry, and the field ``kind`` of that kind::

        class PushSection(Listed):
            REGISTRY: ClassVar = "external"
            kind: Annotated[str, NameField("external")]

    and a section has a list of them: ``push: tuple[PushSection, ...] = ()``. The keys of each kind
    are those that were registered with it (``scenario.registered``).
    """

    FORMS: ClassVar = ("kind", {})

    kind: Annotated[str, NameField("")]
    name: Annotated[str | None, TextField(checked_name, ("boost",))] = None


def name_problems(where: str, entries: Sequence[Listed]) -> list[Fault]:
    """Entries of a list that go by one name."""
    names = [str(one.name) for one in entries]
    twice = sorted({name for name in names if names.count(name) > 1})
    return [Fault(f"{where}.{name}", "is the name of two; each needs its own") for name in twice]
