"""What is lost, and why: for each kind of loss its share, what it depends on, and thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from alight.analysis.columns import Array, Bools
from alight.analysis.dependence import FEW, LEVEL, Dependence, Part, dependences
from alight.analysis.intervals import Estimate, wilson
from alight.views import words
from alight.views.estimates import interval, percent
from alight.views.figures.losses import draw_loss
from alight.views.report.section import Figure, Heading, Paragraph, Section, Table, named
from alight.views.report.section import Part as PagePart

if TYPE_CHECKING:
    from alight.views.report.findings import Findings

#: Inputs that are drawn, at most, and rows of the table of them.
SHOWN, ROWS = 3, 6

HEAD = ["uncertain number", "explains alone", "probability by chance", "in these runs"]


@dataclass(frozen=True)
class Verb:
    """What a lost run does, in the forms that sentences need."""

    one: str
    """``escapes``"""
    many: str
    """``escape``"""
    did: str
    """``escaped``"""
    one_short: str = "does"
    many_short: str = "do"
    none: str = ""
    """What all others do, where "none of them" would be a double negative."""

    def counted(self, count: int, n: int, short: bool = False) -> str:
        """``none of 47 escapes``, ``27 of 39 do``."""
        one, many = (self.one_short, self.many_short) if short else (self.one, self.many)
        if count == 0:
            return f"none of {n} {one}" if not self.none else f"all {n} {self.none}"
        if count == n:
            return f"all {n} {many}" if n > 1 else f"the only one {one}"
        return f"{count} of {n} {one if count == 1 else many}"


ESCAPE = Verb("escapes", "escape", "escaped")
TIP = Verb("tips over", "tip over", "tipped over")
BOTTOM = Verb("bottoms out", "bottom out", "bottomed out")
COMPANION = Verb("hits the companion", "hit the companion", "hit the companion")
NOT_HELD = Verb("is not held", "are not held", "were not held", "is not", "are not", "are held")


@dataclass(frozen=True, eq=False)
class Loss:
    """A kind of loss: who it happened to, and what that depends on."""

    stem: str
    """For names of files and keys of scripts: ``escape``."""
    title: str
    verb: Verb
    hit: Bools
    """(n,) of all runs."""
    of: Bools
    """(n,) runs that it could happen to."""
    known: Bools
    """(n,) those of them that did not fail: of these alone it is known."""
    inputs: dict[str, tuple[Array, words.Unit]]
    """What it may depend on, by name."""
    note: str = ""
    """A further sentence about those that are lost so."""

    @property
    def asked(self) -> bool:
        """Whether it is a requirement that fails: the lander need not be lost."""
        return self.stem.startswith("requirement")

    @property
    def count(self) -> int:
        """Runs that are lost so."""
        return int((self.hit & self.known).sum())

    @property
    def share(self) -> Estimate:
        """Of the runs that it could happen to."""
        return wilson(self.count, int(self.of.sum()))

    @cached_property
    def dependences(self) -> list[Dependence]:
        """On each input, in the unit that it is shown in."""
        shown = {name: (x / unit.size)[self.known] for name, (x, unit) in self.inputs.items()}
        return dependences(shown, self.hit[self.known])

    @property
    def clear(self) -> list[Dependence]:
        """Those that are no chance."""
        return [one for one in self.dependences if one.clear]

    def unit(self, name: str) -> words.Unit:
        """What an input is shown in."""
        return self.inputs[name][1]


# -- words ------------------------------------------------------------------------------------


def said(loss: Loss, things: str = "runs") -> str:
    """How many are lost, and what it depends on most."""
    part, n = loss.share, loss.share.n
    many = loss.verb.one if loss.count == 1 else loss.verb.many
    first = f"{percent(part.value)} of the {things} {many} ({loss.count} of {n}; {interval(part)})."
    return " ".join(text for text in (first, loss.note, why(loss)) if text)


def why(loss: Loss) -> str:
    """The strongest dependence in a sentence; that there is none to be seen, where that is so."""
    clear = loss.clear
    if clear:
        first = clear[0]
        if not first.parts:
            return f"It depends most on the {first.name}."
        return f"It depends most on the {first.name}: {parts_text(loss, first)}."
    if not loss.dependences:
        return ""
    n = len(loss.dependences)
    return f"None of the {n} uncertain numbers, looked at alone, stands out from chance."


def parts_text(loss: Loss, one: Dependence) -> str:
    """``below 8 cm/s none of 47 escapes, above 17 cm/s 27 of 39 do``."""
    unit, told = loss.unit(one.name), []
    for k, part in enumerate(one.parts):
        counted = loss.verb.counted(part.count, part.n, short=k > 0)
        told.append(f"{_range(part, unit)} {counted}")
    return ", ".join(told)


def _range(part: Part, unit: words.Unit) -> str:
    low, high = (words.quoted(float(f"{end:.6g}")) for end in (part.low, part.high))
    name = f" {unit.name}".rstrip().replace(" °", "°")
    if part.low == part.high:
        return f"at {low}{name}"
    if part.low == -np.inf:
        return f"below {high}{name}"
    return f"above {low}{name}" if part.high == np.inf else f"from {low} to {high}{name}"


def rows(loss: Loss) -> list[list[str]]:
    """Each input with what it explains alone, how likely that is chance, and the counts."""
    out = []
    for one in loss.dependences[:ROWS]:
        seen = parts_text(loss, one) if one.parts else "–"
        chance = "below 0.0001" if one.chance < 1e-4 else words.number(one.chance, 2)
        out.append([one.name, percent(one.explained), chance, seen])
    return out


# -- the section ------------------------------------------------------------------------------


def lost(found: Findings[Any]) -> Section:
    """Each kind of loss that occurred, with what it depends on."""
    some = [one for one in found.losses if one.count]
    parts = [part for one in some for part in _told(one, found.things)]
    numbers = {one.stem: _numbers(one) for one in found.losses}
    return Section("What is lost, and why", parts, numbers={"losses": numbers})


def _told(loss: Loss, things: str) -> Iterator[PagePart]:
    yield Heading(loss.title)
    yield Paragraph(said(loss, things))
    if not loss.dependences:
        yield Paragraph(_silent(loss))
        return
    if not loss.clear:
        return
    shown = loss.dependences[:SHOWN]
    names = named(one.name for one in shown)
    yield Figure(
        f"loss_{loss.stem}",
        partial(draw_loss, loss, shown),
        f"Share of {things} that {loss.verb.many} against {names}",
        f"Share of {things} that {loss.verb.many}. Dots: bins of about as many {things} each, with "
        "95 % intervals. Line: fitted logistic curve. Dashed: the share of all. "
        + ("" if all(one.clear for one in shown) else "Grey: may be chance. ")
        + _pair_note(loss),
    )
    yield Table(HEAD, rows(loss), (1, 2))
    left = len(loss.dependences) - ROWS
    more = f" {left} more explain less." if left > 0 else ""
    yield Paragraph(
        "Each is looked at alone: the part of the uncertainty about who is lost (deviance) that "
        "its logistic curve takes away, and the chance of so much where nothing depends, for all "
        f"{len(loss.dependences)} together; below {words.quoted(LEVEL)} counts as clear.{more}"
    )


def pair(loss: Loss) -> tuple[Dependence, Dependence] | None:
    """The two strongest inputs that are clear and not of one vector, or else its components."""
    clear = loss.clear
    for other in clear[1:]:
        if not _related(clear[0].name, other.name):
            return clear[0], other
    parts = [one for one in clear if "," in one.name]
    return (parts[0], parts[1]) if len(parts) > 1 else None


def _related(a: str, b: str) -> bool:
    """Whether names are of one vector: they share what stands before the comma, or a speed."""
    first, second = (name.partition(",")[0].split()[-1] for name in (a, b))
    return first == second or {first, second} <= {"speed", "velocity"}


def _pair_note(loss: Loss) -> str:
    return "Last: each run by two of them; crosses are those lost." if pair(loss) else ""


def _silent(loss: Loss) -> str:
    if not loss.inputs:
        return "Nothing is dispersed that it could be held against."
    others = int(loss.known.sum()) - loss.count
    if not others:
        return "All are lost, so nothing can be said about what it depends on."
    who = f"{loss.count} lost" if loss.count < FEW else f"{others} not lost"
    return f"With only {who}, nothing can be said about what it depends on; {FEW} are needed."


def _numbers(loss: Loss) -> dict[str, object]:
    from alight.views.report.findings import plain

    return {
        "share": plain(loss.share),
        "count": loss.count,
        "depends_on": [
            {
                "input": one.name,
                "unit": loss.unit(one.name).name,
                "explained": one.explained,
                "chance": one.chance,
                "parts": [_part_numbers(part) for part in one.parts],
            }
            for one in loss.clear
        ],
    }


def _part_numbers(part: Part) -> dict[str, object]:
    low, high = (end if np.isfinite(end) else None for end in (part.low, part.high))
    return {"low": low, "high": high, "lost": part.count, "runs": part.n}
