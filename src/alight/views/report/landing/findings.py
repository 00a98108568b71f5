"""The numbers of a report of landings, from the functions of the room ``analysis``."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from alight.analysis.clusters import Clusters, clusters, hollow
from alight.analysis.columns import Array, Bools
from alight.analysis.convergence import Convergence, convergence
from alight.analysis.footprint import Ellipse, Footprint, ellipses, footprint
from alight.analysis.loads import (
    ACCELERATION,
    STROKE,
    TILT,
    LoadSpread,
    greatest,
    loads,
    of_kind,
)
from alight.analysis.rest_light import RestLight, rest_light
from alight.analysis.settling import COUNT, FIRST, FORCE, HARDEST, PATH, SETTLE, TOUCH, read_runs
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.core.requirements import Requirement
from alight.views import words
from alight.views.report.findings import (
    FEW,
    PARTS,
    Findings,
    Quantity,
    Trend,
    plain,
    quantile_numbers,
)
from alight.views.report.landing.data import LandingData
from alight.views.report.landing.light import Light, light_of
from alight.views.report.landing.terrain import FAR, TerrainMap, terrain_maps
from alight.views.report.losses import BOTTOM, COMPANION, ESCAPE, TIP, Loss

#: A leg counts as fully crushed this near to its limit, as a part of it: steps end beside it.
FULL = 1e-3

QUANTITIES = (
    Quantity(SETTLE, "time from release to rest", words.time),
    Quantity(TOUCH, "time from release to first contact", words.time),
    Quantity(COUNT, "number of contacts", words.bare, whole=True),
    Quantity(PATH, "path of the centre of mass", words.length),
    Quantity(FIRST, "speed of the first impact", words.speed),
    Quantity(HARDEST, "speed of the hardest impact", words.speed),
    Quantity(FORCE, "largest normal force", words.newton),
)

#: Outcomes that inputs are held against, by their names on the page.
OUTPUTS = {
    "settling time": SETTLE,
    "contacts": COUNT,
    "first impact speed": FIRST,
    "peak force": FORCE,
    "hardest impact speed": HARDEST,
}

#: Those of them that say little about a lander on legs, and what is told of it instead.
_NOT_OF_LEGS = ("contacts", "first impact speed")
_OF_LEGS = {"peak acceleration": ACCELERATION, "largest stroke": STROKE, "largest tilt": TILT}


class LandingFindings(Findings[LandingData]):
    """Everything that the page of landings and its figures say."""

    kind, things = "landing", "landings"
    trends = (
        Trend(f"median {SETTLE}", "Median settling time", words.time),
        Trend("ellipse_area_m2", "Area of the 95 % ellipse", words.area),
        Trend(f"median {FORCE}", "Median largest force", words.newton),
        Trend(f"median {HARDEST}", "Median speed of the hardest impact", words.speed),
        Trend("escaped", "Share that escapes", words.share),
        Trend("tipped_over", "Share that tips over", words.share),
    )

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The columns that the page reports; rigid hits have no force."""
        return tuple(q for q in QUANTITIES if q.column != FORCE or self.data.forces)

    @cached_property
    def known(self) -> dict[str, Array]:
        """Quantities of each run by column; nan for runs that have none."""
        return read_runs(self.data.table)

    @cached_property
    def where(self) -> Footprint | None:
        """Where landings rest; None if none does."""
        data = self.data
        return footprint(data.rest, data.level) if data.settled.any() else None

    @property
    def on_globe(self) -> bool:
        """True where places have a latitude and a longitude."""
        return self.data.level is None and not self.data.nameless

    @property
    def far(self) -> float:
        """Part of the landings on the far side of the body; a plane has none."""
        on_body = self.where is not None and self.data.level is None
        return self.where.far_share if self.where is not None and on_body else 0.0

    @cached_property
    def groups(self) -> Clusters:
        """Clusters of the rest sites."""
        return clusters(self.data.rest[self.data.settled])

    @cached_property
    def hollow(self) -> float | None:
        """Share of landings near the middle of all, where it is so small that none is there."""
        return None if self.where is None else hollow(self.where.plane)

    @property
    def compact(self) -> bool:
        """Whether rest sites lie about one middle."""
        some = self.where is not None and self.far <= FAR
        return some and self.groups.count == 1 and self.hollow is None

    @cached_property
    def parts(self) -> list[Footprint]:
        """The footprint of each cluster, the largest first."""
        rest = self.data.rest[self.data.settled]
        each = range(self.groups.count)
        return [footprint(rest[self.groups.members(k)], self.data.level) for k in each]

    @cached_property
    def terrain(self) -> tuple[list[TerrainMap], str]:
        """Maps of the ground where landings rest; and why there are none."""
        return terrain_maps(self)

    @cached_property
    def ellipses(self) -> list[Ellipse]:
        """Ellipses that hold 50, 95 and 99 % of these landings, as far as their number allows."""
        where = self.where
        if where is None or len(where.plane) < FEW or not self.compact:
            return []
        try:
            found = ellipses(where.plane)
        except InputError:  # all places on one line: no ellipse has that shape
            return []
        enough = [e for e in found if len(where.plane) * (1.0 - e.share) >= 1.0 - 1e-9]
        return [e for e in enough if e.kind == "empirical"]

    def ellipse(self, share: float) -> Ellipse | None:
        """The ellipse of a share, where there is one."""
        return next((e for e in self.ellipses if e.share == share), None)

    @cached_property
    def light(self) -> Light | str | None:
        """Light where landings rest, or why it is not known; None where nobody asks."""
        return light_of(self.data)

    def light_for(self, asked: Requirement) -> RestLight | str:
        """What computes the light that a requirement asks for; or why nothing does."""
        data = self.data
        if data.light is not None:
            return data.light(asked)
        if data.sun is None or asked.date:
            return data.sun_note or (
                "The Sun's path was not given; on the command line alight report finds it."
            )
        return rest_light(data.scenario.get("ground", {}), data.mesh, data.sun)

    # -- losses -------------------------------------------------------------------------------

    def _losses(self) -> list[Loss]:
        """Escape, tipping over, legs at full stroke, and hitting the companion where some do."""
        codes = self.data.codes
        gone = codes == Outcome.ESCAPED
        escape = self.loss("escape", "Escape", ESCAPE, gone)
        found = [
            replace(escape, note=_untouched(gone & ~np.isfinite(self.data.table[TOUCH]), gone))
        ]
        tipped = codes == Outcome.TIPPED_OVER
        rights_itself = "upright" in self.data.campaign.schema("runs").names
        if self.data.articulated and (tipped.any() or not rights_itself):
            found.insert(0, self.loss("tipping", "Tipping over", TIP, tipped))
        if self.bottomed is not None:
            touched = np.isfinite(self.data.table[TOUCH])
            full = self.bottomed
            found.append(self.loss("bottoming", "Legs at full stroke", BOTTOM, full, touched))
        if (hit := codes == Outcome.HIT_COMPANION).any():
            found.append(self.loss("companion", "Hitting the companion", COMPANION, hit))
        return found

    @cached_property
    def bottomed(self) -> Bools | None:
        """(n,) some leg is crushed to the end of its stroke; None where that is not known."""
        strokes = of_kind(self.data.loads, STROKE)
        known = [(strokes[leg], most) for leg, most in self.data.limits.items() if leg in strokes]
        if not known:
            return None
        return np.asarray(np.any([x >= (1.0 - FULL) * most for x, most in known], axis=0))

    # -- sensitivity --------------------------------------------------------------------------

    def _outputs(self) -> dict[str, Array]:
        """Outputs by their names on the page."""
        known, places = self.known, dict[str, Array]()
        if self.where is not None:
            local = (self.data.rest - self.where.origin) @ self.where.R_TL[:, :2]
            places = {f"rest place, {a}": c for a, c in zip(self.data.axes, local.T, strict=True)}
        outputs = {name: known[column] for name, column in OUTPUTS.items()}
        del outputs["hardest impact speed" if self.data.forces else "peak force"]
        if self.data.articulated:
            outputs = {n: a for n, a in outputs.items() if n not in _NOT_OF_LEGS}
            outputs |= self._of_legs()
        return {**outputs, **places}

    def _of_legs(self) -> dict[str, Array]:
        """What inputs are held against of articulated landers, by its name on the page."""
        touched = self.data.table["first_contact_time_s"]
        found = {n: greatest(self.data.loads, kind, touched) for n, kind in _OF_LEGS.items()}
        tipped = (self.data.table["outcome_code"] == Outcome.TIPPED_OVER).astype(np.float64)
        told = {n: a for n, a in found.items() if np.isfinite(a).any()}
        return {**told, "tipping over": tipped}

    @cached_property
    def loads(self) -> list[LoadSpread]:
        """What articulated landers bear; empty for rigid ones."""
        return loads(self.data.loads, self.data.table["first_contact_time_s"], PARTS)

    # -- convergence --------------------------------------------------------------------------

    @cached_property
    def convergence(self) -> Convergence:
        """What the first runs alone would have said."""
        rest = {name: self.data.table[name] for name in ("rest_x_m", "rest_y_m", "rest_z_m")}
        hard = FORCE if self.data.forces else HARDEST
        found = convergence({**self.known, **rest}, (SETTLE, hard), level=self.data.level)
        # What rigid landers cannot do, or legs seldom do, needs no panel.
        found.answers.pop("escaped" if self.data.articulated else "tipped_over")
        # No ellipse would tell where, or there are too few for one.
        if self.where is not None and not (self.compact and self.ellipses):
            found.answers.pop("ellipse_area_m2")
        return found

    # -- for scripts --------------------------------------------------------------------------

    def numbers(self) -> dict[str, object]:
        """The key numbers of the runs, SI and degrees."""
        told: dict[str, object] = {
            "settled_share": plain(self.share(Outcome.SETTLED)),
            "escaped_share": plain(self.share(Outcome.ESCAPED)),
            "rest": None if self.where is None else self._where_numbers(self.where),
        }
        if self.data.articulated:
            told["tipped_over_share"] = plain(self.share(Outcome.TIPPED_OVER))
            told["loads"] = self._load_numbers()
        for one in QUANTITIES:
            found = self.spread(one.column) if one in self.quantities else None
            told[one.column] = found and quantile_numbers(found)
        return told

    def _load_numbers(self) -> dict[str, object]:
        """Quantiles of every load by its column; of several parts, the largest without a part."""
        return {
            "_".join(part for part in (load.kind.start, load.part, load.kind.unit) if part): (
                quantile_numbers(load.spread) if load.spread.n else None
            )
            for load in self.loads
        }

    def _cluster_numbers(self, k: int) -> dict[str, object]:
        latitude, longitude = np.degrees(self.parts[k].latitude_longitude)
        return {
            "landings": len(self.parts[k].plane),
            **dict(zip(("x_m", "y_m", "z_m"), map(float, self.parts[k].origin), strict=True)),
            "latitude_deg": float(latitude) if self.on_globe else None,
            "longitude_deg": float(longitude) if self.on_globe else None,
        }

    def _where_numbers(self, where: Footprint) -> dict[str, object]:
        latitude, longitude = np.degrees(where.latitude_longitude)
        return {
            "x_m": float(where.origin[0]),
            "y_m": float(where.origin[1]),
            "z_m": float(where.origin[2]),
            "latitude_deg": float(latitude) if self.on_globe else None,
            "longitude_deg": float(longitude) if self.on_globe else None,
            "far_side_share": self.far,
            "clusters": [self._cluster_numbers(k) for k in range(self.groups.count)],
            "ellipses": [
                {
                    "share": e.share,
                    "semi_major_m": e.semi_major,
                    "semi_minor_m": e.semi_minor,
                    "azimuth_deg": e.azimuth,
                    "area_m2": plain(e.area),
                }
                for e in self.ellipses
            ],
        }


def _untouched(never: Bools, gone: Bools) -> str:
    """How many of the runs that are gone never came down: it is the release then, not a bounce."""
    count, n = int(never.sum()), int(gone.sum())
    if not count:
        return ""
    verb = "touches" if count == 1 else "touch"
    who = "None of them touches" if count == n else f"{count} of these {n} never {verb}"
    return f"{who} the ground."
