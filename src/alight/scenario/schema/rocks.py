"""Rocks on the ground of a scenario: [ground.rocks], a law of sizes and how rocks lie."""

from __future__ import annotations

import math
from typing import Annotated, Any

from alight import surfaces
from alight.core.errors import InputError
from alight.scenario.bodies import Body
from alight.scenario.errors import Fault
from alight.scenario.field_types import MOST_SEED, ListField, Measure, Number, Whole
from alight.scenario.quantities import in_si
from alight.scenario.schema.ground_regions import factors_problems
from alight.scenario.schema.section import Section
from alight.surfaces.rocks.size_law import COUNTS, MOST_ROUGH

#: Keys that a boulder count gives.
COUNTED = {
    "slope": None,
    "density": "number per area",
    "reference": "length",
    "largest": "length",
}
_BURIAL = Number(least=0, most=0.95)


class RocksSection(Section):
    """Rocks by a law of sizes; on bodies whose boulders were counted, that of the count."""

    smallest: Annotated[float, Measure(dimension="length", above=0)]
    slope: Annotated[float | None, Number(above=0, most=10)] = None
    density: Annotated[float | None, Measure(dimension="number per area", least=0)] = None
    reference: Annotated[float | None, Measure(dimension="length", above=0)] = None
    largest: Annotated[float | None, Measure(dimension="length", above=0)] = None
    cover: Annotated[float | None, Number(above=0, most=1)] = None
    seed: Annotated[int | None, Whole(least=0, most=MOST_SEED)] = None
    burial: Annotated[Any, ListField(_BURIAL, 2)] = (0.15, 0.5)
    shape: Annotated[Any, ListField(Number(above=0))] = (2.0, math.sqrt(2.0), 1.0)
    variety: Annotated[float, Number(least=0, most=0.5)] = 0.15
    roughness: Annotated[float, Number(least=0, most=MOST_ROUGH)] = 0.2
    map: Annotated[Any, ListField(ListField(Number(least=0), 0), 0)] = None

    def problems(self, kind: str, body: Body | None) -> list[Fault]:
        """What does not fit together, or with the ground and the body."""
        where = "ground.rocks"
        if kind in ("sphere", "plane"):
            said = (
                f'rocks lie on the facets of a shape, not on a {kind}: take ground.kind = "facets" '
                'or "distance-field"'
            )
            return [Fault(where, said)]
        if (self.density is None) != (self.reference is None):
            said = (
                "has one of density and reference; give both, the rocks of at least the reference "
                "size on a square metre, or neither"
            )
            return [Fault(where, said)]
        made = self.completed(body, 0)
        lacking = [key for key in COUNTED if getattr(made, key) is None]
        if lacking:
            said = (
                f"lacks {', '.join(lacking)}; boulders are counted on {', '.join(COUNTS)} alone. "
                'Give slope = 2.65, density = "0.0016 1/m^2" of rocks of at least reference = '
                '"5 m", and largest = "50 m"'
            )
            return [Fault(where, said)]
        found = factors_problems(f"{where}.map", self.map)
        if not found:
            try:
                made.rocks(1.0)
            except InputError as cause:
                found.append(Fault(where, str(cause)))
            except ArithmeticError:
                said = "has numbers so large or so small that no law of sizes comes out"
                found.append(Fault(where, said))
        return found

    def completed(self, body: Body | None, seed: int) -> RocksSection:
        """With the count of the body where its keys are not given, and the scenario's seed."""
        made = self.filled(seed=seed)
        count = COUNTS.get(body.name.lower()) if body is not None else None
        if count is None:
            return made
        known: dict[str, Any] = {}
        for key, dimension in COUNTED.items():
            value = float(getattr(count, key))
            known[key] = value if dimension is None else in_si(value, dimension)
        return made.filled(**known)

    def rocks(self, radius: float) -> surfaces.Rocks:
        """The rocks on a body that a ball of ``radius`` [m] holds."""
        names = (*COUNTED, "smallest", "variety", "roughness")
        numbers: dict[str, Any] = {name: float(getattr(self, name)) for name in names}
        if self.cover is not None:
            numbers["cover"] = self.cover
        if self.map is not None:
            numbers["density_map"] = surfaces.AmplitudeMap(self.map, radius)
        return surfaces.Rocks(**numbers, seed=self.seed or 0, burial=self.burial, shape=self.shape)
