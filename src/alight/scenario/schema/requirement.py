"""``[[requirement]]``: what a mission asks of its runs, and of how many of them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from alight.core.errors import InputError, did_you_mean
from alight.core.outcomes import Outcome
from alight.core.requirements import ABOVE, BELOW, OF_LIGHT, OUTCOME, REST_WITHIN, Requirement
from alight.scenario import quantities
from alight.scenario.building.articulated_landers import READY
from alight.scenario.errors import Fault, told
from alight.scenario.field_types import (
    ChoiceField,
    FieldType,
    ListField,
    Measure,
    Number,
    TextField,
)
from alight.scenario.quantities import DIMENSIONS, Dimension
from alight.scenario.schema.ground_regions import LATITUDE, LONGITUDE
from alight.scenario.schema.section import Section
from alight.scenario.schema.sun import SPICE, Date, Sun

#: What a requirement without a confidence of its own is decided with.
CONFIDENCE = 0.95
#: Columns of parts of landers, by how their names begin, and their units.
OF_PARTS = {
    "peak_pad_force_": "N",
    "peak_belly_force_": "N",
    "stroke_": "m",
    "peak_joint_force_": "N",
    "peak_joint_moment_": "N m",
    "peak_slosh_": "deg",
    "wheel_max_speed_": "rad/s",
    "actuator_work_": "J",
}


class LimitField(FieldType):
    """A number, or one with a unit, which the column that it limits decides."""

    def read(self, value: Any) -> Any:
        """As it stands; ``RequirementSection.problems`` knows the unit."""
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise InputError(f'found {told(value)}; it must be such as "50 N", or a plain number')
        return value

    def json(self) -> dict[str, Any]:
        """A string or a number."""
        return {"anyOf": [{"type": "string"}, {"type": "number"}], "examples": ["50 N"]}


class RequirementSection(Section):
    """What a run must do, and the share of runs that must."""

    FORMS: ClassVar = (
        "kind",
        {
            REST_WITHIN: ("latitude", "longitude", "center", "radius", "share"),
            BELOW: ("column", "value", "share", "date"),
            ABOVE: ("column", "value", "share", "date"),
            OUTCOME: ("outcome", "at_most", "at_least"),
        },
    )

    kind: Annotated[str, ChoiceField((REST_WITHIN, BELOW, ABOVE, OUTCOME))]
    name: Annotated[str | None, TextField(None, ("in the crater",))] = None
    latitude: Annotated[float | None, LATITUDE] = None
    longitude: Annotated[float | None, LONGITUDE] = None
    center: Annotated[Any, ListField(Measure(dimension="length"))] = None
    radius: Annotated[float | None, Measure(dimension="length", above=0)] = None
    column: Annotated[str | None, TextField(None, ("peak_force",))] = None
    value: Annotated[Any, LimitField()] = None
    date: Annotated[str | None, Date()] = None
    outcome: Annotated[str | None, TextField(None, ("escaped",))] = None
    share: Annotated[float | None, Number(above=0, below=1)] = None
    at_most: Annotated[float | None, Number(above=0, below=1)] = None
    at_least: Annotated[float | None, Number(above=0, below=1)] = None
    confidence: Annotated[float, Number(above=0, below=1)] = CONFIDENCE

    def problems(self, where: str, scenario: Any) -> list[Fault]:
        """What does not fit together, or with the scenario."""
        found = self.misplaced(where)
        if self.kind == REST_WITHIN:
            return found + self._target_problems(where, scenario) + self.missing(where, "share")
        if self.kind == OUTCOME:
            return found + self._outcome_problems(where, scenario)
        found += self.missing(where, "column", "value", "share")
        return found or self._column_problems(where, scenario)

    def _target_problems(self, where: str, scenario: Any) -> list[Fault]:
        found = self.missing(where, "radius")
        if scenario.KIND != "landing":
            return [
                Fault(f"{where}.kind", f'"{REST_WITHIN}" is of landings: others have no ground')
            ]
        flat = scenario.flat
        place = ("center",) if flat else ("latitude", "longitude")
        others = ("latitude", "longitude") if flat else ("center",)
        said = (
            "goes with a body; on flat ground give center = [...]"
            if flat
            else "goes with flat ground; on a body give latitude and longitude"
        )
        found += [Fault(f"{where}.{n}", said) for n in others if getattr(self, n) is not None]
        return found + self.missing(where, *place)

    def _outcome_problems(self, where: str, scenario: Any) -> list[Fault]:
        found = self.missing(where, "outcome")
        if (self.at_most is None) == (self.at_least is None):
            said = "needs either at_most or at_least, a share of the runs: at_most = 0.01 is 1 %"
            found.append(Fault(where, said))
        words = [*(o.name.lower() for o in Outcome if o), *(e.name for e in scenario.endings)]
        if self.outcome is not None and self.outcome not in words:
            listed = ", ".join(words)
            said = f"found {told(self.outcome)}; it must be one of {listed}."
            found.append(Fault(f"{where}.outcome", said + did_you_mean(self.outcome, words)))
        return found

    def _column_problems(self, where: str, scenario: Any) -> list[Fault]:
        try:
            full, unit = self._column(scenario)
        except InputError as cause:
            return [Fault(f"{where}.column", str(cause))]
        try:
            limit_in(self.value, unit)
        except InputError as cause:
            return [Fault(f"{where}.value", f"{cause} ({full} is in {unit or 'plain numbers'})")]
        if full in OF_LIGHT:
            return self._light_problems(where, full, scenario)
        said = f"goes with light alone ({', '.join(OF_LIGHT)}), not with {full}"
        return [] if self.date is None else [Fault(f"{where}.date", said)]

    def _light_problems(self, where: str, full: str, scenario: Any) -> list[Fault]:
        """Light takes a body that turns, its pole, and a Sun that stands somewhere."""
        if scenario.flat:
            said = f"{full} is of bodies; flat ground has no day"
            return [Fault(f"{where}.column", said)]
        body, sun = scenario.body.completed(), scenario.environment.sun
        if self.date is None and sun is None:
            said = f'is missing: {full} takes the Sun. Give date = "2018-10-03" here, or '
            return [Fault(f"{where}.date", f"{said}[environment.sun] with a date")]
        given = Sun(tide=False, date=self.date) if self.date is not None else sun
        if self.date is not None and sun is not None:
            given = given.model_copy(update={n: getattr(sun, n) for n in ("orbit", *SPICE)})
        return given.sky_problems(f"{where} asks for {full}", body)

    def _column(self, scenario: Any) -> tuple[str, str]:
        """The full name of the column and its unit."""
        own = {name: (name, None) for name in scenario.record.columns or ()}
        known = {**asked_columns(scenario.KIND, _is_tree(scenario)), **own}
        return _found_column(str(self.column), known)

    def requirement(self, where: str, kind: str, tree: bool) -> Requirement:
        """As analysis judges it; ``kind`` and ``tree`` are of the scenario."""
        given: dict[str, Any] = {"confidence": self.confidence, "kind": self.kind}
        if self.kind == OUTCOME:
            least = self.at_least is not None
            share = self.at_least if least else self.at_most
            given |= {"outcome": self.outcome, "share": share, "at_least": least}
        elif self.kind == REST_WITHIN:
            assert self.radius is not None
            center = self.center
            if center is None:
                from alight.core import frames  # which comes with Warp

                center = frames.direction(float(self.latitude or 0), float(self.longitude or 0))
            given |= {
                "share": self.share,
                "center": tuple(float(v) for v in center),
                "flat": self.center is not None,
                "radius": float(self.radius),
                "said": getattr(self.radius, "text", f"{float(self.radius):g} m"),
            }
        else:
            full, unit = _found_column(str(self.column), asked_columns(kind, tree), strict=False)
            said = self.value if isinstance(self.value, str) else f"{self.value:g}"
            given["date"] = self.date or ""
            given |= {"share": self.share, "column": full, "said": said}
            given["limit"] = limit_in(self.value, unit)
        made = Requirement(self.name or "", **given)
        return made if self.name else Requirement(str(made), **given)


def _is_tree(scenario: Any) -> bool:
    return bool(getattr(getattr(scenario, "lander", None), "is_tree", False))


def requirement_problems(scenario: Any) -> list[Fault]:
    """What is wrong with the requirements of a scenario."""
    found = []
    for number, one in enumerate(scenario.requirement, 1):
        found += one.problems(f"requirement.{number}", scenario)
    return found


def requirements_of(resolved: Mapping[str, Any]) -> tuple[Requirement, ...]:
    """The requirements of a resolved scenario or study, as a campaign's plan keeps it."""
    entries: Sequence[Any] = resolved.get("requirement", ())
    if "study" in resolved:
        return tuple(Requirement(**{**one, "center": tuple(one["center"])}) for one in entries)
    lander = resolved.get("lander", {})
    tree = lander.get("shape") == "tree" or lander.get("name") in READY
    kind = resolved.get("kind", "landing")
    sections = [RequirementSection.model_validate(dict(entry)) for entry in entries]
    return tuple(one.requirement(f"{n}", kind, tree) for n, one in enumerate(sections, 1))


# -- columns ---------------------------------------------------------------------------------------


@functools.cache
def run_columns(kind: str, tree: bool) -> dict[str, tuple[str, str]]:
    """Full name and unit of the columns of runs that hold numbers, by name with and without it."""
    if kind == "capture":
        from alight.motions.capture.columns import CAPTURES as COLUMNS
    elif kind == "drop":
        from alight.motions.membrane.columns import DROPS as COLUMNS
    else:
        from alight.motions.rigid.columns import RIGID as COLUMNS
    found = [(c.name, c.full_name, c.unit) for c in COLUMNS.runs if c.kind not in ("text", "bool")]
    if tree:
        from alight.motions.tree.columns import WHOLE_LOADS

        found += [(c.name, c.full_name, c.unit) for c in WHOLE_LOADS]
    if kind == "landing":
        found.append(("hops", "hops", ""))
    short = {name: (full, unit) for name, full, unit in found}
    return {**short, **{full: (full, unit) for _, full, unit in found}}


def asked_columns(kind: str, tree: bool) -> dict[str, tuple[str, str]]:
    """The same with light where landings rest, which no table has."""
    known = dict(run_columns(kind, tree))
    for full, unit in OF_LIGHT.items() if kind == "landing" else ():
        known |= {full: (full, unit), full.removesuffix(f"_{unit}"): (full, unit)}
    return known


def _found_column(
    name: str, known: Mapping[str, tuple[str, Any]], strict: bool = True
) -> tuple[str, str]:
    """Full name and unit of the column called ``name``."""
    from alight.engine.columns import named

    if name in known:
        full, unit = known[name]
        return full, unit or ""
    for start, unit in OF_PARTS.items():
        if name.startswith(start) and len(name) > len(start):
            ending = f"_{named('', unit).lstrip('_')}"
            return (name if name.endswith(ending) else name + ending), unit
    if strict:
        hint = did_you_mean(name, known)
        raise InputError(
            f"found {told(name)}, which is no column of the table of runs.{hint} "
            "docs/reference/columns.md lists them, such as peak_force, path or end_time."
        )
    return name, ""


def limit_in(value: Any, unit: str) -> float:
    """``value`` in the unit of a column; a column without one takes plain numbers."""
    if not unit:
        return float(Number().read(value))
    spelt = unit.replace(" ", "*")
    home = next((d for d in DIMENSIONS.values() if spelt in d.units), None)
    kind = home or Dimension(f"quantity in {unit}", spelt, f"1 {spelt}", {spelt: 1.0})
    return float(quantities.read_as(value, kind)) / kind.units[spelt]
