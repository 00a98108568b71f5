"""Names that scenario files give to things: those that are shipped, and those of other packages.

A package adds to it through an entry point of the group ``alight``, a function that is given the
registry::

    [project.entry-points.alight]
    dumbbell = "my_package:register"

    def register(registry):
        registry.add("gravity", "dumbbell", Dumbbell, keys=DumbbellKeys, text="two point masses")

Entry points are loaded when a name is first looked up: in the process of a user, in those of a
cluster's workers, wherever the package is installed. A scenario file itself never imports code.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from alight.core.errors import InputError, did_you_mean

#: Group of entry points.
GROUP = "alight"
#: What can be registered, in the words of messages.
KINDS = (
    "gravity",
    "surface",
    "contact",
    "external",
    "stop",
    "actuator",
    "dispersion",
    "column",
    "report section",
)


@dataclass(frozen=True)
class Entry:
    """One name and what it stands for."""

    kind: str
    name: str
    make: Any
    """What makes it: a class or function; what it is called with depends on the kind."""
    keys: Any = None
    """The keys that a scenario file gives it (a ``scenario`` section class), if any."""
    text: str = ""
    """What it is, in a few words."""
    package: str = "alight"
    """Who added it."""


class Registry:
    """Entries by kind and name."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], Entry] = {}
        self._loaded = False
        self._package = "alight"

    def add(self, kind: str, name: str, make: Any, *, keys: Any = None, text: str = "") -> None:
        """Give something a name; a name that is taken is an error."""
        if kind not in KINDS:
            hint = did_you_mean(kind, KINDS)
            raise InputError(f'the registry has no kind "{kind}".{hint} Known: {", ".join(KINDS)}.')
        known = self._entries.get((kind, name))
        if known is not None:
            raise InputError(
                f'the {kind} "{name}" of package {self._package} is there already, from package '
                f"{known.package}; give it another name."
            )
        self._entries[kind, name] = Entry(kind, name, make, keys, text, self._package)

    def find(self, kind: str, name: str) -> Entry:
        """What a name stands for."""
        self._load()
        if (kind, name) not in self._entries:
            names = self.names(kind)
            raise InputError(
                f'unknown {kind} "{name}".{did_you_mean(name, names)} Known: '
                f"{', '.join(names) or 'none'}. Names of other packages are known where they are "
                "installed."
            )
        return self._entries[kind, name]

    def names(self, kind: str) -> list[str]:
        """All names of a kind, the shipped ones first, each in the order of its adding."""
        return [entry.name for entry in self.entries(kind)]

    def entries(self, kind: str) -> list[Entry]:
        """All entries of a kind."""
        self._load()
        found = [entry for entry in self._entries.values() if entry.kind == kind]
        return sorted(found, key=lambda entry: entry.package != "alight")

    def packages(self) -> dict[str, str]:
        """Packages that add to it, and their versions: what must be the same on every worker."""
        return {point.dist.name: point.dist.version for point in _points() if point.dist}

    def _load(self) -> None:
        """Let every installed package add its own; once."""
        if self._loaded:
            return
        self._loaded = True
        for point in _points():
            self._package = point.dist.name if point.dist else point.name
            try:
                point.load()(self)
            except InputError:
                raise
            except Exception as cause:
                raise InputError(
                    f"the extension {point.name} = {point.value} of package {self._package} does "
                    f"not load ({type(cause).__name__}: {cause}). Fix or uninstall that package."
                ) from cause
            finally:
                self._package = "alight"


def _points() -> Iterator[importlib.metadata.EntryPoint]:
    """Entry points of installed packages, by package and name."""
    found = importlib.metadata.entry_points(group=GROUP)
    yield from sorted(found, key=lambda p: (p.dist.name if p.dist else "", p.name))


#: The one that everything looks names up in.
registry = Registry()
