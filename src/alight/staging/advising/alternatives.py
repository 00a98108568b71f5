"""What else a scenario could be computed with: one law changed at a time, and what each suits.

Each alternative is a change of the scenario file; what the schema refuses is listed, with why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from alight.campaign.plan import deciding
from alight.core import devices
from alight.core.errors import AlightError, unknown_name
from alight.scenario.document import Document
from alight.scenario.errors import ScenarioError
from alight.scenario.schema.contact import LAWS as CONTACT_KEYS
from alight.scenario.schema.target import GRAVITY_ERROR, GravitySection, GroundSection

#: What is asked, in the order of the answers.
QUESTIONS = ("gravity", "ground", "contact", "shape", "steps")
#: A reach of linearised gravity, and spacings, as parts of the largest size of the body.
REACH, SPACING = 1.0 / 400.0, 1.0 / 100.0
#: Points that a table of 1e-5 is made from, by facet of the mesh, and how many one core does
#: in a second: seen on Ryugu with 20 480 facets.
POINTS_PER_FACET, POINTS_PER_S = 520.0, 2.5e4
#: Factor between tolerances of steps that are tried.
FINER = 100.0


@dataclass(frozen=True)
class Alternative:
    """A law, as a change of a scenario."""

    question: str
    name: str
    changes: Mapping[str, Any]
    """Dotted keys and their values; None takes a key away."""
    suits: str
    """What it is good for, in a clause."""
    exact: bool = False
    """True of the one of its question that others are measured against."""

    @property
    def lines(self) -> list[str]:
        """What to write in the scenario file."""
        given = {key: value for key, value in self.changes.items() if value is not None}
        return [f"{key} = {_written(value)}" for key, value in given.items()]


@dataclass(frozen=True)
class Tried:
    """An alternative that the scenario can be computed with."""

    alternative: Alternative
    scenario: Document
    own: bool = False
    """True of what the file says already."""


@dataclass(frozen=True)
class Refused:
    """An alternative that does not go with the rest of the scenario."""

    alternative: Alternative
    reason: str


def checked_questions(asked: str | None) -> tuple[str, ...]:
    """The questions that ``"gravity,ground"`` names; all where nothing is named."""
    if asked is None:
        return QUESTIONS
    names = [name.strip() for name in asked.split(",")]
    for name in names:
        if name not in QUESTIONS:
            raise unknown_name("question", name, QUESTIONS)
    return tuple(name for name in QUESTIONS if name in names)


def alternatives(scenario: Document, question: str) -> tuple[list[Tried], list[Refused]]:
    """What answers a question, the file's own answer among it, and what does not."""
    tried, refused = [], []
    own = deciding(scenario.resolved())
    for one in _candidates(scenario, question):
        try:
            changed = scenario.replaced(dict(one.changes))
        except AlightError as cause:
            refused.append(Refused(one, _reason(cause, question)))
        else:
            same = deciding(changed.resolved()) == own
            tried.append(Tried(one, changed, same))
    if not any(one.own for one in tried):
        named = Alternative(question, _as_it_is(scenario, question), {}, "what the file says")
        tried.insert(0, Tried(named, scenario, own=True))
    return tried, refused


def table_minutes(tried: Tried) -> float:
    """About how long the table of a law takes to build, the first time; 0 where that is short, or
    not known before a mesh file is read."""
    table = tried.scenario.resolved()
    facets = table.get("body", {}).get("facets")
    if tried.alternative.question != "gravity" or table["gravity"]["law"] != "cached":
        return 0.0
    seconds = POINTS_PER_FACET * (facets or 0) / (POINTS_PER_S * devices.thread_count())
    return seconds / 60.0


def _reason(cause: AlightError, question: str) -> str:
    """Why, in a line: the fault that is about the law, if one is."""
    if not isinstance(cause, ScenarioError):
        return str(cause).splitlines()[0]
    laws = ("gravity.law", "ground.kind", "contact.law")
    first = min(cause.problems, key=lambda f: (f.key not in laws, not f.key.startswith(question)))
    return str(first)


def _as_it_is(scenario: Document, question: str) -> str:
    """The file's own answer, where it is none of those that are tried."""
    table = scenario.resolved()
    if question == "steps":
        return f"tolerance {table['steps']['tolerance']:g}"
    found = table.get({"shape": "body"}.get(question, question), {})
    word = found.get("law") or found.get("kind") or f"{found.get('facets')} facets"
    more = [found[key] for key in ("linearise", "spacing", "scheme") if key in found]
    return ", ".join(str(part).replace("-", " ") for part in (word, *more))


def _candidates(scenario: Document, question: str) -> Iterator[Alternative]:
    table = scenario.resolved()
    if question == "steps":
        yield from _steps(float(table["steps"]["tolerance"]))
    elif question == "shape":
        yield from _shapes(table.get("body", {}))
    elif scenario.KIND == "landing":
        size = _size(scenario)
        yield from {
            "gravity": lambda: _gravities(table["gravity"], size),
            "ground": lambda: _grounds(table["ground"], size),
            "contact": lambda: _contacts(table["contact"]),
        }[question]()


def _size(scenario: Any) -> float | None:
    """Largest size of a body of the catalogue [m]; of a file it is not known before reading."""
    entry = scenario.body.entry
    return None if entry is None else float(max(entry.size))


# -- gravity, ground, contact ---------------------------------------------------------------------


def _only(section: str, chooser: str, keys: Mapping[str, Any], word: str, **given: Any) -> Any:
    """Changes that choose a law and take away what goes with the others."""
    every = dict.fromkeys(key for own in keys.values() for key in own)
    return {
        f"{section}.{chooser}": word,
        **{f"{section}.{key}": given.get(key) for key in every},
    }


def _gravities(own: dict[str, Any], size: float | None) -> Iterator[Alternative]:
    reach = own.get("linearise") or (None if size is None else f"{size * REACH:.2g} m")

    def law(name: str, suits: str, word: str, exact: bool = False, **given: Any) -> Alternative:
        changes = _only("gravity", "law", GravitySection.FORMS[1], word, **given)
        return Alternative("gravity", name, changes, suits, exact)

    yield law(
        "polyhedron, exact", "a few runs, or as the reference of others", "polyhedron", exact=True
    )
    yield law(
        f"polyhedron, reused within {100.0 * GRAVITY_ERROR:g} %",
        "single runs and small campaigns: no table to build, the error is stated",
        "polyhedron",
        error=GRAVITY_ERROR,
    )
    if reach is not None:
        about = f"linearised over {reach}"
        yield law(
            f"polyhedron, {about}",
            "long contact and slow motion in one place",
            "polyhedron",
            linearise=reach,
        )
        yield law(
            f"reduced to 642 vertices, {about}",
            "campaigns on detailed meshes: built in a moment, off by about 1 % on the ground",
            "reduced",
            vertices=642,
            linearise=reach,
        )
    yield law(
        "cached to 1e-5",
        "large campaigns that must have the exact field: its table takes minutes to build, once",
        "cached",
        tolerance=1e-5,
    )
    yield law(
        "smooth table",
        "large campaigns: the cheapest per run, once its table is built",
        "smooth",
        spacing=None if size is None else f"{size / 200.0:.3g} m",
    )
    yield law("point mass", "bodies that are nearly spheres, or far away", "point-mass")


def _grounds(own: dict[str, Any], size: float | None) -> Iterator[Alternative]:
    def kind(name: str, suits: str, word: str, exact: bool = False, **given: Any) -> Alternative:
        changes = _only("ground", "kind", GroundSection.FORMS[1], word, **given)
        return Alternative("ground", name, changes, suits, exact)

    coarse = None if size is None else f"{size * SPACING:.3g} m"
    fine = None if size is None else f"{size * SPACING / 2.0:.3g} m"
    yield kind("facets", "the mesh exactly as it is, edges included", "facets", exact=True)
    for name, spacing in (("the default", coarse), ("fine", fine)):
        if spacing is not None:
            about = "most landings: smooth, with hills, rocks and properties that vary"
            yield kind(
                f"distance field, {spacing} ({name})", about, "distance-field", spacing=spacing
            )
    yield kind(
        "parametric", "sliding and lift-off on the global shape, without local relief", "parametric"
    )


def _contacts(own: dict[str, Any]) -> Iterator[Alternative]:
    springs = own["law"] == "compliant"
    kept = {key: own[key] for key in CONTACT_KEYS["compliant"] if springs and key in own}

    def law(name: str, suits: str, word: str, **given: Any) -> Alternative:
        changes = _only("contact", "law", CONTACT_KEYS, word, **given)
        return Alternative("contact", name, changes, suits)

    if own["law"] == "hertz":
        yield law("Hertz springs", "pads of articulated landers", "hertz", **{
            key: own[key] for key in CONTACT_KEYS["hertz"] if key in own
        })  # fmt: skip
    yield law(
        "springs, clipped",
        "most rigid landers (restitution and rest as asked, whatever the speed)",
        "compliant",
        **(kept | {"scheme": "clipped"}),
    )
    yield law(
        "springs, smooth",
        "forces over time at one known speed (deeper and slower at others)",
        "compliant",
        **(kept | {"scheme": "smooth"}),
    )
    yield law(
        "impulses", "hard landers whose corners, edges and faces matter (no forces)", "impulse"
    )
    yield law("sliding points", "grains and points on smooth ground", "sliding")


# -- what every kind of scenario has --------------------------------------------------------------


def _plain(value: float) -> float:
    """As a person writes it: 1e-07, where a product is 1.0000000000000001e-07."""
    return float(f"{value:.12g}")


def _steps(tolerance: float) -> Iterator[Alternative]:
    for name, value, exact in (
        ("the file's", tolerance, False),
        ("coarser", min(_plain(tolerance * FINER), 1e-2), False),
        ("finer", _plain(tolerance / FINER), True),
    ):
        suits = {"coarser": "quick looks", "finer": "checks of the others"}.get(name, "the default")
        changes = {"steps.tolerance": value}
        label = f"tolerance {value:g}" + ("" if value == tolerance else f", {name}")
        yield Alternative("steps", label, changes, suits, exact)


def _shapes(body: dict[str, Any]) -> Iterator[Alternative]:
    facets = body.get("facets")
    if facets is None:
        return
    own = {"body.facets": facets}
    yield Alternative("shape", f"{facets} facets", own, "what the file says", exact=True)
    few = max(80, int(facets) // 4)
    yield Alternative("shape", f"{few} facets", {"body.facets": few}, "quick looks")


def _written(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else f"{value}"
