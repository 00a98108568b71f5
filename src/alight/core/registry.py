"""Names that scenario files give to things: those that are shipped, and those of other packages.

A package adds to it through an entry point of the group ``alight``, a function that is given the
registry::

    [project.entry-points.alight]
    dumbbell = "my_package:register"

    def register(registry):
        registry.add("gravity", "dumbbell", Dumbbell, keys=DumbbellKeys, text="two point masses")

Entry points are loaded when a name is first looked up: in the process of a user, in those of a
cluster's workers, wherever the package is installed. A scenario file itself never imports code.

A package that does not load adds nothing, and affects nothing that does not need it: ``broken``
names it, and so does the error for a name that is not found.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
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
#: Who adds what no package does: a script or notebook, for its own process alone.
HERE = "this process"
#: Who ships the names that are always there.
SHIPPED = "alight"
# Names stand in files, dotted keys and tables; those of sections of a report are words for people.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,59}")
_PLACE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_TITLE = re.compile(r"[A-Za-z][A-Za-z0-9_ -]{0,59}")


@dataclass(frozen=True)
class Entry:
    """One name and what it stands for."""

    kind: str
    name: str
    given: Any
    """``make``, or "module:name" of it."""
    keys: Any = None
    """The keys that a scenario file gives it (a ``scenario`` section class), if any."""
    text: str = ""
    """What it is, in a few words."""
    unit: str = ""
    """Of the numbers it gives, where it gives any."""
    package: str = SHIPPED
    """Who added it."""

    @functools.cached_property
    def make(self) -> Any:
        """What makes it: a class or function; what it is called with depends on the kind."""
        if not isinstance(self.given, str):
            return self.given
        module, _, name = self.given.partition(":")
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as cause:
            raise InputError(
                f"{self} is made by {self.given}, which does not load: {cause}"
            ) from cause

    def __str__(self) -> str:
        return f'the {self.kind} "{self.name}" of {_who(self.package)}'

    def called(self, given: Mapping[str, Any], offers: Mapping[str, Callable[[], Any]]) -> Any:
        """``make`` of what a file gave; what else it asks for by name is taken from ``offers``."""
        wanted = self.asks(given)
        lacking = [name for name, needed in wanted.items() if needed and name not in offers]
        if lacking:
            raise InputError(
                f"{self} asks for {', '.join(lacking)}, which is none of its keys and nothing that "
                f"a scenario offers it ({', '.join(offers) or 'nothing'})."
            )
        return self.make(**given, **{name: offers[name]() for name in wanted if name in offers})

    @property
    def takes_more(self) -> bool:
        """Whether ``make`` takes parameters that it does not name."""
        found = inspect.signature(self.make).parameters.values()
        return any(p.kind is inspect.Parameter.VAR_KEYWORD for p in found)

    def asks(self, given: Mapping[str, Any] | tuple[str, ...] = ()) -> dict[str, bool]:
        """Parameters of ``make`` besides ``given``, and whether it cannot do without."""
        named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        found = inspect.signature(self.make).parameters.values()
        return {
            p.name: p.default is inspect.Parameter.empty
            for p in found
            if p.kind in named and p.name not in given
        }


class Registry:
    """Entries by kind and name."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], Entry] = {}
        self._disputed: dict[tuple[str, str], str] = {}
        self._loaded = False
        self._package: str | None = None
        self.dropped = 0
        """How often a name was taken away: what was made of names before is of no use then."""
        self.broken: dict[str, str] = {}
        """Packages that could not add what they have, and why."""
        self._packages: dict[str, str] = {}

    def add(
        self, kind: str, name: str, make: Any, *, keys: Any = None, text: str = "", unit: str = ""
    ) -> None:
        """Give something a name; a name that is taken is an error.

        ``make`` is a class or function, or "module:name" of one that is loaded when it is used.
        """
        if kind not in KINDS:
            hint = did_you_mean(kind, KINDS)
            raise InputError(f'the registry has no kind "{kind}".{hint} Known: {", ".join(KINDS)}.')
        form = _TITLE if kind == "report section" else _NAME
        if not isinstance(name, str) or not form.fullmatch(name):
            raise InputError(
                f"a {kind} cannot be called {name!r}; a name is a letter and then up to 59 "
                "letters, digits, - and _."
            )
        if not callable(make) and make is not None and not _is_place(make):
            raise InputError(f'the {kind} "{name}" is made by {make!r}, which cannot be called.')
        entry = Entry(kind, name, make, keys, text, unit, self._package or _owner(make))
        known = self._entries.get((kind, name))
        if known is not None:
            said = _taken(entry, known)
            if entry.package != SHIPPED or known.package == SHIPPED:
                if known.package != SHIPPED:
                    self._disputed[kind, name] = said
                raise InputError(said)
            # Packages were loaded before Alight's own names were there: these stay what they are.
            self.broken[known.package] = _taken(known, entry)
        self._entries[kind, name] = entry

    def drop(self, kind: str, name: str) -> None:
        """Take away what this process itself has added."""
        if self.find(kind, name).package != HERE:
            raise InputError(f"{self.find(kind, name)} was not added by this process.")
        del self._entries[kind, name]
        self.dropped += 1

    def find(self, kind: str, name: str) -> Entry:
        """What a name stands for."""
        self._load()
        if (kind, name) in self._disputed:
            raise InputError(self._disputed[kind, name])
        if (kind, name) not in self._entries:
            names = self.names(kind)
            raise InputError(
                f'unknown {kind} "{name}".{did_you_mean(name, names)} Known: '
                f"{', '.join(names) or 'none'}.{self.hint()}"
            )
        return self._entries[kind, name]

    def known(self, kind: str, name: object) -> Entry | None:
        """What a name stands for; None where nobody has added it."""
        self._load()
        if (kind, name) in self._disputed or (kind, name) in self._entries:
            return self.find(kind, str(name))
        return None

    def names(self, kind: str) -> list[str]:
        """All names of a kind, the shipped ones first, each in the order of its adding."""
        return [entry.name for entry in self.entries(kind)]

    def entries(self, kind: str | None = None) -> list[Entry]:
        """All entries of a kind, or of all."""
        self._load()
        found = [entry for entry in self._entries.values() if kind in (None, entry.kind)]
        return sorted(found, key=lambda entry: entry.package != SHIPPED)

    def hint(self) -> str:
        """What a message about a name that is not known ends with."""
        self._load()
        return "".join(f" {said}" for said in self.broken.values()) or (
            " Names of other packages are known where they are installed."
        )

    def packages(self) -> dict[str, str]:
        """Packages that add to it, and their versions."""
        self._load()
        return dict(self._packages)

    def _load(self) -> None:
        """Let every installed package add its own; once."""
        if self._loaded:
            return
        self._loaded = True
        for point in _points():
            if point.dist:
                # Kept: to look for packages takes milliseconds, and each run may be asked for them.
                self._packages[point.dist.name] = point.dist.version
            before = dict(self._entries)
            self._package = point.dist.name if point.dist else point.name
            try:
                point.load()(self)
            except Exception as cause:  # whatever a stranger's package does wrong
                self._entries = before
                why = str(cause) if isinstance(cause, InputError) else _said(cause)
                self.broken[self._package] = (
                    f"The extension {point.name} = {point.value} of package {self._package} does "
                    f"not load ({why}). Fix or uninstall that package."
                )
            finally:
                self._package = None


def _taken(entry: Entry, known: Entry) -> str:
    return f"{entry} is there already, from {_who(known.package)}; give it another name."


def _is_place(make: Any) -> bool:
    """True for "module:name", as entry points are written."""
    return isinstance(make, str) and _PLACE.fullmatch(make) is not None


def _owner(make: Any) -> str:
    """Who adds something outside of entry points: Alight itself, or a script."""
    module = make if isinstance(make, str) else getattr(make, "__module__", None) or ""
    return SHIPPED if make is None or module.partition(".")[0] == "alight" else HERE


def _who(package: str) -> str:
    return package if package == HERE else f"package {package}"


def _said(cause: Exception) -> str:
    return f"{type(cause).__name__}: {' '.join(str(cause).split())}"


def _points() -> Iterator[importlib.metadata.EntryPoint]:
    """Entry points of installed packages, by package and name; each package once."""
    found = importlib.metadata.entry_points(group=GROUP)
    yield from sorted(found, key=lambda p: (p.dist.name if p.dist else "", p.name))


#: The one that everything looks names up in.
registry = Registry()
