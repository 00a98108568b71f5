"""Light at the rest sites, as a report shows it: how much, how long the nights are, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from alight.analysis import columns
from alight.analysis.columns import Array
from alight.analysis.illumination import Illumination, illumination
from alight.analysis.intervals import Estimate, quantile, wilson
from alight.analysis.rest_light import rest_light
from alight.analysis.sun import SunPath
from alight.core import frames, random
from alight.core.errors import InputError
from alight.shapes import icosphere
from alight.shapes.mesh import Mesh
from alight.views import words
from alight.views.estimates import with_interval
from alight.views.report.findings import plain
from alight.views.report.landing.data import LandingData

#: Places of rest that are looked at, at most: shares are then known to 0.5 %, in 4 s.
PLACES = 50_000

#: Directions of the Sun for the map of the whole body, and bisections between them: enough for its
#: colours, of which there are 256.
MAP_SAMPLES, MAP_HALVINGS = 72, 3

#: Name of the table beside the page.
TABLE = "illumination.parquet"


@dataclass(frozen=True, eq=False)
class Light:
    """What the page says about light."""

    sun: SunPath
    mesh: Mesh
    """What casts the shadows."""
    rows: npt.NDArray[np.int64]
    """(k,) runs that were looked at, as rows of the table of runs, ascending."""
    found: Illumination
    """Of these."""
    settled: int
    """Landings at rest, of which they were drawn."""

    @property
    def hours(self) -> Array:
        """(k,) time with the Sun in sight in one turn, or in the whole span [s]."""
        return self.found.day_fraction * self.sun.span

    @property
    def dark(self) -> Estimate:
        """Share of the places that the Sun does not reach at all."""
        never = int(np.count_nonzero(self.found.day_fraction == 0.0))
        return wilson(never, len(self.rows))

    def nights(self, p: float) -> Estimate:
        """A quantile of the longest night [s]; inf where that place has no sunrise."""
        return _quantile(self.found.longest_night, p, 2.0 * self.sun.span)

    def light(self, p: float) -> Estimate:
        """A quantile of the time in light [s]."""
        return quantile(self.hours, p)

    def over_the_body(self) -> Array:
        """(n,) part of the time with the Sun in sight at each vertex of the mesh."""
        every = max(1, len(self.sun.directions) // MAP_SAMPLES)
        mesh, sun = self.mesh, self.sun.directions[::every]
        found = illumination(
            mesh, mesh.vertices, sun, self.sun.span, mesh.vertex_normals, halvings=MAP_HALVINGS
        )
        return found.day_fraction

    def numbers(self) -> dict[str, object]:
        """For scripts: SI, None where a night does not end."""
        parts = {"p05": 0.05, "median": 0.5, "p95": 0.95}
        low, high = self.sun.latitude
        return {
            "when": self.sun.when,
            "source": self.sun.source,
            "span_s": self.sun.span,
            "sun_latitude_deg": [float(np.degrees(low)), float(np.degrees(high))],
            "places": len(self.rows),
            "places_at_rest": self.settled,
            "light_s": {name: plain(self.light(p)) for name, p in parts.items()},
            "day_fraction": {
                name: plain(quantile(self.found.day_fraction, p)) for name, p in parts.items()
            },
            "longest_night_s": {name: plain(self.nights(p)) for name, p in parts.items()},
            "no_sunrise_share": plain(self.dark),
        }


def _quantile(values: Array, p: float, never: float) -> Estimate:
    """A quantile of values that may be infinite: what comes near one of these is."""
    found = quantile(np.where(np.isfinite(values), values, never), p)
    value, low, high = (
        np.inf if end > 0.5 * never else end for end in (found.value, found.low, found.high)
    )
    return Estimate(value, low, high, found.n)


# -- looking ----------------------------------------------------------------------------------


def light_of(data: LandingData) -> Light | str | None:
    """Light at the rest sites; why it is not known; None where nobody asked for it."""
    if data.sun is None:
        return data.sun_note or None
    if not data.settled.any():
        return "No landing came to rest: there is no place to look at the Sun from."
    rows = _drawn(data)
    rest = data.rest[rows]
    sky = rest_light(data.scenario.get("ground", {}), data.mesh, data.sun)
    if isinstance(sky, str):
        return sky
    mesh = sky.mesh
    if mesh is None:
        mesh = icosphere(4, float(np.median(np.linalg.norm(rest, axis=1))))
    try:
        found = sky.at(rest)
    except InputError as cause:
        return f"Light could not be computed: {cause}."
    return Light(data.sun, mesh, rows, found, int(data.settled.sum()))


def _drawn(data: LandingData) -> npt.NDArray[np.int64]:
    """Rows of landings at rest; of too many, those with the smallest random numbers.

    The numbers are addressed by seed and run: the same runs are drawn in whatever shards they lie.
    """
    rows = np.flatnonzero(data.settled)
    if len(rows) <= PLACES:
        return rows
    seed = data.scenario.get("seed", 0)
    lots = random.uniform(int(seed), data.table["run"][rows].astype(np.int64), "report.light")
    return np.sort(rows[np.argpartition(lots[:, 0], PLACES)[:PLACES]])


def write_table(light: Light, data: LandingData, file: Path) -> Path:
    """The table beside the page: a row for each place that was looked at."""
    latitude, longitude = np.degrees(frames.latitude_longitude(data.rest[light.rows]))
    found = light.found
    table = columns.arrow_table(
        {
            "run": data.table["run"][light.rows].astype(np.int64),
            "latitude_deg": latitude,
            "longitude_deg": longitude % 360.0,
            "day_fraction": found.day_fraction,
            "longest_night_s": found.longest_night,
            "longest_day_s": found.longest_day,
            "mean_cosine": found.mean_cosine,
        }
    )
    pq.write_table(table, file)
    return file


# -- words ------------------------------------------------------------------------------------

QUESTION = "How much light does it get?"


def answer(light: Light) -> str:
    """The one sentence, and when it holds."""
    unit = words.time(light.sun.span)
    night, dark = light.nights(0.95), words.percent(light.dark.value)
    median = light.light(0.5).value
    if not np.isfinite(night.value):  # what 95 % get is nothing
        said = f"{dark} of the landings at rest never see the Sun {_each(light, unit)}"
        if median > 0.0:
            said += f"; half of all landings see it for {unit(median)} or more"
        return f"{said}. {_stands(light.sun)}."
    said = "95 % of the landings at rest have the Sun in sight for at least "
    said += f"{unit(light.light(0.05).value)} {_each(light, unit)} and no night longer than "
    said += f"{unit(night.value)}. Half of them see it for {unit(median)} or more"
    if light.dark.value > 0.0:
        said += f"; {dark} never do"
    return f"{said}. {_stands(light.sun)}."


def _each(light: Light, unit: words.Unit) -> str:
    whole = unit(light.sun.span)
    return f"per {whole} rotation" if light.sun.turns else f"in {whole} of tumbling"


def _stands(sun: SunPath) -> str:
    """``On 2018-10-03 01:57 UTC the Sun stands over 5.3° S``."""
    low, high = np.degrees(sun.latitude)
    when = sun.when[:1].upper() + sun.when[1:] if sun.when else "Then"
    if high - low < 1.0:
        return f"{when} the Sun stands over latitude {_north(0.5 * (low + high))}"
    return f"{when} the Sun stands over latitudes from {_north(low)} to {_north(high)}"


def _north(latitude: float) -> str:
    return f"{abs(latitude):.1f}° {'N' if latitude >= 0.0 else 'S'}"


HEAD = ["quantity", "median (95 % interval)", "5 %", "95 %", "min", "max"]


def rows(light: Light) -> list[list[str]]:
    """Time in light, its part of the rotation, the longest night."""
    unit = words.time(light.sun.span)
    found, never = light.found, 2.0 * light.sun.span
    turn = "rotation" if light.sun.turns else "time"
    table = (
        (f"time in light in a {turn} [{unit.name}]", light.hours / unit.size),
        (f"part of the {turn} in light [%]", 100.0 * found.day_fraction),
        (f"longest night [{unit.name}]", found.longest_night / unit.size),
        ("mean sunlight on the ground, of the Sun overhead [%]", 100.0 * found.mean_cosine),
    )
    told = []
    for label, values in table:
        median, low, high = (_quantile(values, p, never) for p in (0.5, 0.05, 0.95))
        sure = np.isfinite([median.value, median.low, median.high]).all()
        middle = with_interval(median, words.bare(0.0)) if sure else _told(median.value)
        others = (low.value, high.value, float(values.min()), float(values.max()))
        told.append([label, middle, *(_told(x) for x in others)])
    return told


def _told(value: float) -> str:
    return words.number(value) if np.isfinite(value) else "no sunrise"


def notes(light: Light, data: LandingData) -> list[str]:
    """What is assumed, a sentence each."""
    said = []
    if len(light.rows) < light.settled:
        said.append(
            f"{len(light.rows)} of the {light.settled} landings at rest were examined, drawn at "
            f"random with the campaign's seed."
        )
    if light.sun.source:
        said.append(light.sun.source)
    said.append(
        f"The shape model of {light.mesh.n_faces} facets casts the shadows, and its smooth normals "
        "tilt the ground, seen from 0.1 m above it."
    )
    if data.scenario.get("ground", {}).get("noise"):
        said.append("The hills that the scenario adds to the shape throw no shadows here.")
    if light.sun.turns:
        said.append(
            "The Sun is a point; the light is that of one rotation, without seasons and eclipses."
        )
    else:
        said.append(
            "The Sun is a point; the body tumbles, and the time that was examined is taken as if "
            "it continued in the same way."
        )
    return said
