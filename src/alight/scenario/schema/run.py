"""What surrounds a run in a scenario: a companion, when it ends, how it is followed and kept."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

from alight.scenario.errors import Fault
from alight.scenario.field_types import ChoiceField, ListField, Measure, NameField, Number, Whole
from alight.scenario.quantities import Quantity, in_si
from alight.scenario.schema.listed import Listed, name_problems
from alight.scenario.schema.section import Section
from alight.scenario.schema.stops import WhenSection, landing_problems
from alight.scenario.schema.sun import ANGLE, Sun
from alight.scenario.schema.target import TargetBodySection, extension_problems


class CompanionSection(Section):
    """A second mass: a planet over its locked moon, or a moon on its orbit."""

    FORMS: ClassVar = (
        "kind",
        {
            "synchronous": ("direction",),
            "orbit": ("eccentricity", "inclination", "node", "periapsis", "mean_anomaly"),
        },
    )

    kind: Annotated[str, ChoiceField(("synchronous", "orbit"))] = "synchronous"
    gm: Annotated[float | None, Measure(dimension="gravitational parameter", above=0)] = None
    distance: Annotated[float | None, Measure(dimension="length", above=0)] = None
    direction: Annotated[Any, ListField(Number(), nonzero=True)] = None
    eccentricity: Annotated[float | None, Number(least=0, most=0.99)] = None
    inclination: Annotated[float | None, ANGLE] = None
    node: Annotated[float | None, ANGLE] = None
    periapsis: Annotated[float | None, ANGLE] = None
    mean_anomaly: Annotated[float | None, ANGLE] = None

    def problems(self, body: TargetBodySection) -> list[Fault]:
        """It needs a mass, and a place."""
        where, entry = "environment.companion", body.entry
        found = self.misplaced(where)
        moon = entry is not None and entry.orbit.primary != "Sun"
        if self.gm is None and not (moon and self.kind == "synchronous"):
            found.append(
                Fault(
                    f"{where}.gm",
                    'is missing; it must be such as "0.287 m^3/s^2" (it is known for moons of the '
                    "catalogue: Phobos, Dimorphos)",
                )
            )
        if self.kind == "orbit":
            found += self.missing(where, "distance")
        elif body.completed().rotation.kind != "uniform":
            found.append(
                Fault(
                    f"{where}.kind", '"synchronous" needs a body that turns evenly about one axis'
                )
            )
        return found

    def completed(self, body: TargetBodySection) -> CompanionSection:
        """With the catalogue's primary, and a circular orbit in the plane of N."""
        zero = Quantity(0.0, "0 deg")
        if self.kind == "orbit":
            angles = dict.fromkeys(("inclination", "node", "periapsis", "mean_anomaly"), zero)
            return self.filled(eccentricity=0.0, **angles)
        made = self.filled(direction=(1.0, 0.0, 0.0))
        if body.entry is not None and body.entry.orbit.primary != "Sun":
            made = made.filled(gm=in_si(body.entry.orbit.primary_gm, "gravitational parameter"))
        return made


class PushSection(Listed):
    """A push from outside, such as one that begins and ends."""

    REGISTRY: ClassVar = "external"

    kind: Annotated[str, NameField("external")]


class Environment(Section):
    """What pulls and pushes besides the body."""

    sun: Sun | None = None
    companion: CompanionSection | None = None
    push: tuple[PushSection, ...] = ()

    def problems(self, body: TargetBodySection) -> list[Fault]:
        """Those of Sun, companion and pushes."""
        found = [p for part in (self.sun, self.companion) if part for p in part.problems(body)]
        found += name_problems("environment.push", self.push)
        return found + [
            fault
            for one in self.push
            for fault in extension_problems(one, f"environment.push.{one.name}", body)
        ]

    def completed(self, body: TargetBodySection) -> Environment:
        """With the defaults of both."""
        sun = self.sun.completed(body) if self.sun else None
        companion = self.companion.completed(body) if self.companion else None
        return self.model_copy(update={"sun": sun, "companion": companion})


#: When and how runs go on unless the scenario says otherwise: rigid landers, articulated ones.
_STOP = {
    "max_time": (Quantity(1e5, "1e5 s"), Quantity(1e3, "1e3 s")),
    "settle_speed": (Quantity(1e-5, "1e-5 m/s"),) * 2,
    "settle_rate": (Quantity(1e-4, "1e-4 rad/s"),) * 2,
    "settle_time": (Quantity(30.0, "30 s"),) * 2,
    "tip_angle": (None, Quantity(math.pi / 3.0, "60 deg")),
}
_STEPS = {
    "tolerance": (1e-9, 1e-7),
    "longest": (Quantity(600.0, "600 s"), Quantity(10.0, "10 s")),
    "shortest": (Quantity(1e-9, "1e-9 s"), Quantity(1e-13, "1e-13 s")),
    "integrator": (None, "pece"),
    "step": (None, Quantity(1e-4, "1e-4 s")),
}
_OF_TREES = (
    'goes with articulated landers only: lander.shape = "tree", or name = "dcap" or "idefix"'
)


class StopSection(Section):
    """When a run ends."""

    max_time: Annotated[float | None, Measure(dimension="time", above=0)] = None
    escape_radius: Annotated[float, Measure(dimension="length", above=0, infinite=True)] = Quantity(
        math.inf, "inf m"
    )
    settle_speed: Annotated[float | None, Measure(dimension="speed", above=0)] = None
    settle_rate: Annotated[float | None, Measure(dimension="angular rate", above=0)] = None
    settle_time: Annotated[float | None, Measure(dimension="time", above=0)] = None
    max_steps: Annotated[int, Whole(least=1, most=2**31 - 1)] = 10_000_000
    tip_angle: Annotated[float | None, Measure(dimension="angle", above=0, most=math.pi)] = None
    when: tuple[WhenSection, ...] = ()

    def problems(self, tree: bool, flat: bool, companion: bool) -> list[Fault]:
        """Only what has legs tips over; and those of its stops."""
        wrong = self.tip_angle is not None and not tree
        found = [Fault("stop.tip_angle", _OF_TREES)] if wrong else []
        return found + landing_problems(self.when, flat, companion)

    def completed(self, tree: bool) -> StopSection:
        """With the defaults of its kind of lander."""
        return self.filled(**{name: both[int(tree)] for name, both in _STOP.items()})


class StepsSection(Section):
    """How closely motion is followed."""

    tolerance: Annotated[float | None, Number(above=0, most=1e-2)] = None
    longest: Annotated[float | None, Measure(dimension="time", above=0)] = None
    shortest: Annotated[float | None, Measure(dimension="time", above=0)] = None
    integrator: Annotated[str | None, ChoiceField(("pece", "rk4"))] = None
    step: Annotated[float | None, Measure(dimension="time", above=0)] = None
    contact_step: Annotated[float | None, Measure(dimension="time", above=0)] = None

    def problems(self, tree: bool) -> list[Fault]:
        """The longest is longer, and rigid landers have one integrator."""
        found = []
        if not tree:
            own = ("integrator", "step", "contact_step")
            wrong = [name for name in own if getattr(self, name) is not None]
            found += [Fault(f"steps.{name}", _OF_TREES) for name in wrong]
        made = self.completed(tree)
        assert made.shortest is not None
        assert made.longest is not None
        if made.shortest >= made.longest:
            said = f"must be below steps.longest, {made.longest:g} s"
            found.append(Fault("steps.shortest", said))
        return found

    def completed(self, tree: bool) -> StepsSection:
        """With the defaults of its kind of lander."""
        return self.filled(**{name: both[int(tree)] for name, both in _STEPS.items()})


class CampaignSection(Section):
    """Number of runs, sampling and size of shards."""

    runs: Annotated[int, Whole(least=1, most=10**9)] = 1000
    repeats: Annotated[int | None, Whole(least=1, most=10**9)] = None
    """How often each combination of a sweep is run, with other random values."""
    sampling: Annotated[str, ChoiceField(("random", "latin-hypercube", "sobol"))] = "random"
    shard: Annotated[int, Whole(least=1, most=10**7)] = 250


class Record(Section):
    """What is kept besides how each run ended."""

    trajectories: Annotated[Any, ListField(Whole(least=0), 0)] = ()
    columns: Annotated[Any, ListField(NameField("column"), 0)] = None
    """Registered columns that the table of runs has besides its own."""


class ReportSection(Section):
    """What the report shows besides its own sections."""

    sections: Annotated[Any, ListField(NameField("report section"), 0)] = None
