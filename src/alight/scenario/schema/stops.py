"""Stops in a scenario: [[stop.when]], entries that each end a run in a way of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from alight.core.errors import InputError
from alight.core.outcomes import FIRST_OWN, AnyEnding, Ending, own_endings
from alight.core.registry import Entry, registry
from alight.scenario.errors import Fault, blame
from alight.scenario.field_types import ChoiceField, Measure, NameField, TextField, Whole
from alight.scenario.registered import own_problems, own_values
from alight.scenario.schema.ground_regions import RegionShape
from alight.scenario.schema.listed import Listed, name_problems
from alight.scenario.schema.section import Section

if TYPE_CHECKING:
    from alight.engine.stops import HitCompanion, InRegion, OutOfRegion, StopLaw
    from alight.flight import Place

#: When a stop is looked at, as ``engine.stops.law.WHEN``, which comes with Warp.
WHEN = ("always", "contact", "flight")

#: What stops may ask for by the names of their parameters.
Offers = Mapping[str, Callable[[], Any]]


class HeightKeys(Section):
    """Of "below-height"."""

    height: Annotated[float, Measure(dimension="length")]


class RegionKeys(RegionShape):
    """Of "in-region" and "out-of-region": the shapes of [[ground.region]]."""

    def problems(self, where: str) -> list[Fault]:
        """What is no shape."""
        return self.shape_problems(where, False)


class CompanionKeys(Section):
    """Of "hit-companion"."""

    radius: Annotated[float, Measure(dimension="length", above=0)]


class SpinKeys(Section):
    """Of "spin-above"."""

    rate: Annotated[float, Measure(dimension="angular rate", least=0)]


def in_region(ground_at: Callable[[float, float], Any], **shape: Any) -> InRegion:
    """The stop; ``ground_at(latitude, longitude)`` [rad] is a place on the ground [m]."""
    from alight.engine.stops import InRegion

    return InRegion(_shape(ground_at, shape))


def out_of_region(ground_at: Callable[[float, float], Any], **shape: Any) -> OutOfRegion:
    """The same of whatever is outside."""
    from alight.engine.stops import OutOfRegion

    return OutOfRegion(_shape(ground_at, shape))


def hit_companion(radius: float, companion: Place) -> HitCompanion:
    """The stop of the scenario's own companion."""
    from alight.engine.stops import HitCompanion

    return HitCompanion(radius, companion)


def _shape(ground_at: Callable[[float, float], Any], given: dict[str, Any]) -> Any:
    keys = RegionKeys.model_construct(**given)
    place = None
    if keys.latitude is not None:
        place = ground_at(float(keys.latitude), float(keys.longitude or 0.0))
    return keys.shape(place)


#: Those that are about a target, and what else they need.
_OF_TARGET = ("in-region", "out-of-region", "hit-companion")


class WhenSection(Listed):
    """A stop: its kind, the keys of that kind, and what can be chosen of every stop."""

    REGISTRY: ClassVar = "stop"

    kind: Annotated[str, NameField("stop")]
    hold: Annotated[float | None, Measure(dimension="time", least=0)] = None
    when: Annotated[str | None, ChoiceField(WHEN)] = None
    code: Annotated[int | None, Whole(least=FIRST_OWN, most=2**31 - 1)] = None
    sentence: Annotated[str | None, TextField(None, ("came into the pond",))] = None

    @property
    def where(self) -> str:
        """Its key in messages and dispersions."""
        return f"stop.when.{self.name}"

    @property
    def entry(self) -> Entry:
        """What its kind stands for."""
        return registry.find("stop", self.kind)

    @property
    def ending(self) -> AnyEnding | None:
        """How it ends runs, as far as the file or its class say."""
        if self.code is None:
            return getattr(self.entry.make, "ending", None)
        return Ending(self.code, str(self.name), self.sentence or f"met the stop {self.name}")

    def problems(self) -> list[Fault]:
        """What does not fit together."""
        found = own_problems(self, self.where)
        if self.code is not None:
            try:
                _ = self.ending
            except InputError as cause:
                found.append(Fault(self.where, str(cause)))
        elif self.sentence is not None:
            said = f"needs a code of its own, from {FIRST_OWN} up, to be distinguished in tables"
            found.append(Fault(f"{self.where}.sentence", said))
        return found

    def law(self, offers: Offers) -> StopLaw:
        """The stop."""
        from alight.engine.stops import StopLaw

        entry = self.entry
        law = entry.called(own_values(self, entry), offers)
        if not isinstance(law, StopLaw):
            raise InputError(f"{entry} makes {law!r}, which is no engine.stops.StopLaw.")
        if self.hold is not None:
            law.hold = float(self.hold)
        if self.when is not None:
            law.when = self.when
        if self.code is not None and self.ending is not None:
            law.ending = self.ending
        return law


def stops_of(source: str, entries: Sequence[WhenSection], offers: Offers) -> tuple[StopLaw, ...]:
    """The stops of a scenario, in their order."""
    found = []
    for one in entries:
        with blame(source, one.where):
            found.append(one.law(offers))
    return tuple(found)


def stop_problems(entries: Sequence[WhenSection]) -> list[Fault]:
    """What does not fit together among stops of any scenario."""
    found = name_problems("stop.when", entries)
    found += [fault for one in entries for fault in one.problems()]
    if not found:
        try:
            own_endings(one.ending for one in entries if one.ending is not None)
        except InputError as cause:
            found.append(Fault("stop.when", str(cause)))
    return found


def landing_problems(entries: Sequence[WhenSection], flat: bool, companion: bool) -> list[Fault]:
    """The same of a landing, on ``flat`` ground or with a ``companion``."""
    found = stop_problems(entries)
    for one in entries:
        if one.entry.keys is RegionKeys and flat and not found:
            keys = RegionKeys.model_construct(**own_values(one, one.entry))
            found += keys.shape_problems(one.where, True)
        if one.kind == "hit-companion" and not companion:
            said = 'found "hit-companion"; it needs the table [environment.companion]'
            found.append(Fault(f"{one.where}.kind", said))
    return found


def membrane_problems(entries: Sequence[WhenSection], what: str) -> list[Fault]:
    """The same of a body over a membrane, ``what``: it has no ground and no companion."""
    found = stop_problems(entries)
    for one in entries:
        if one.kind in _OF_TARGET or getattr(one.entry.make, "of_target", False):
            said = (
                f'found "{one.kind}", a stop of places about a target, and {what} has none; take '
                '"below-height" (of the lowest point over the membrane) or "spin-above"'
            )
            found.append(Fault(f"{one.where}.kind", said))
    return found
