"""What of runs is compared: the quantities of reports, where landings rest, what legs bear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.analysis.columns import Array
from alight.analysis.footprint import Footprint
from alight.analysis.loads import ACCELERATION, STROKE, TILT, greatest
from alight.analysis.settling import DISTANCE
from alight.campaign.plan import deciding
from alight.views import words
from alight.views.compare.sides import Side
from alight.views.report.findings import Quantity

#: Kinds of ground that are the shape of the body: rest sites on them compare.
OF_SHAPE = ("distance-field", "facets", "parametric")

#: More of the landings than this on the far side, and directions on a plane say little.
FAR = 0.05

#: Loads of articulated landers that are compared, by the kind of their columns.
_LOADS = (
    (ACCELERATION, "largest acceleration", words.acceleration),
    (TILT, "largest tilt", words.always("°")),
    (STROKE, "largest stroke", words.length),
)


@dataclass(frozen=True, eq=False)
class Measured:
    """A quantity of the runs of each campaign."""

    quantity: Quantity
    values: tuple[Array, ...]
    """(n,) of each; nan for runs that have none."""


def measured(sides: Sequence[Side]) -> list[Measured]:
    """All that every one of the campaigns has, in the order of reports."""
    listed = [{one.column: one for one in side.found.quantities} for side in sides]
    shared = [one for key, one in listed[0].items() if all(key in other for other in listed)]
    out = [Measured(one, tuple(s.found.known[one.column] for s in sides)) for one in shared]
    if sides[0].found.kind == "landing":
        out = [*_places(sides), *out, *_loads(sides)]
    return [one for one in out if any(np.isfinite(values).any() for values in one.values)]


def _places(sides: Sequence[Side]) -> list[Measured]:
    """How far landings travel, and where they rest, from the middle of the first campaign."""
    known = tuple(side.found.known[DISTANCE] for side in sides)
    far = Quantity(DISTANCE, "distance from first contact to rest", words.length)
    out = [Measured(far, known)]
    frame = common_frame(sides)
    if frame is None:
        return out
    local = [local_places(side, frame) for side in sides]
    for k, axis in enumerate(sides[0].found.data.axes):
        of = "of" if sides[0].found.data.level is None else "from"
        label = f"rest site, {axis} {of} the middle of {sides[0].name}"
        one = Quantity(f"rest_{axis}_m", label, words.length)
        out.append(Measured(one, tuple(places[:, k] for places in local)))
    return out


def common_frame(sides: Sequence[Side]) -> Footprint | None:
    """The plane at the middle of the first campaign's rest sites, if all are on one ground."""
    grounds = [_ground(side) for side in sides]
    if any(ground != grounds[0] for ground in grounds):
        return None
    found: list[Any] = [side.found for side in sides]
    if any(one.where is None or one.far > FAR for one in found):
        return None
    frame: Footprint = found[0].where
    return frame


def _ground(side: Side) -> Any:
    """What distinguishes grounds: the body, and on a plane its normal."""
    tree = deciding(side.campaign.scenario)
    ground = tree.get("ground", {})
    kind = ground.get("kind")
    return tree.get("body"), "shape" if kind in OF_SHAPE else kind, ground.get("normal")


def local_places(side: Side, frame: Footprint) -> Array:
    """(n, 2) rest sites in the plane [m]; nan where a run does not rest."""
    data: Any = side.found.data
    return np.asarray((data.rest - frame.origin) @ frame.R_TL[:, :2])


def _loads(sides: Sequence[Side]) -> list[Measured]:
    """What articulated landers bear; nothing where one of the landers is rigid."""
    out = []
    for kind, label, choose in _LOADS:
        if not all(side.found.data.loads for side in sides):
            continue
        values = tuple(
            greatest(side.found.data.loads, kind, side.found.data.table["first_contact_time_s"])
            for side in sides
        )
        out.append(Measured(Quantity(f"{kind.start}_{kind.unit}", label, choose), values))
    return out
