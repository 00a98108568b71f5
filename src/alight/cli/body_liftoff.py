"""``alight body NAME --liftoff``: how fast an object may slide before it leaves the ground."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from alight.core.errors import InputError

if TYPE_CHECKING:
    from alight.analysis.liftoff import LiftOffMap
    from alight.cli.body_subject import Subject
    from alight.surfaces import Parametric

#: Latitudes and longitudes of the maps.
ROWS, COLUMNS = 121, 240

#: Degree of the surface that is fitted to a file, and vertices it needs for each term.
DEGREE, VERTICES_A_TERM = 22, 2


def drawn(
    subject: Subject, file: Path, device: str
) -> tuple[list[tuple[str, str]], Sequence[str], dict[str, Any]]:
    """Compute the map and draw it: what it shows in rows, notes, and the same for scripts."""
    from alight.views.figures.body import liftoff
    from alight.views.figures.facts import Words

    ground = smooth_ground(subject)
    found = look(subject, ground, device)
    facts = facts_of(subject, ground, found)
    text = Words(
        title=subject.name,
        subtitle=f"{subject.designation}: the speed at which the ground falls away faster than "
        "the object",
        facts=facts,
        notes=notes_of(subject, ground, found),
        source=f"Surface: radius series of degree {ground.series.degree}. Gravity: homogeneous "
        f"polyhedron of {subject.mesh.n_faces} facets.",
    )
    body = subject.fine or subject.mesh
    liftoff.draw(found, text, body, subject.spin, not subject.tumbles, file)
    return facts, text.notes, as_data(subject, ground, found)


def smooth_ground(subject: Subject) -> Parametric:
    """The body's surface as a radius series: built in, or fitted to its mesh."""
    from alight.surfaces import Parametric

    try:
        if subject.body is not None:
            return Parametric.from_body(subject.body.shape)
        mesh = subject.original or subject.mesh
        most = math.isqrt(mesh.n_vertices // VERTICES_A_TERM) - 1
        return Parametric.from_mesh(mesh, max(0, min(DEGREE, most)))
    except InputError as error:
        raise InputError(
            f"--liftoff needs a smooth surface with one radius for every direction: {error}"
        ) from None


def look(subject: Subject, ground: Parametric, device: str) -> LiftOffMap:
    """Lift-off speeds all over the body, with progress."""
    from alight.analysis.liftoff import lift_off_map
    from alight.core import devices
    from alight.core.progress import progress
    from alight.gravity.polyhedron.field import Polyhedron

    chosen = devices.resolve(device)
    field = Polyhedron(subject.mesh, gm=subject.gm)
    with progress("auto") as bar:
        bar.start(f"Gravity at {ROWS * COLUMNS} places", total=ROWS * COLUMNS)
        return lift_off_map(
            ground,
            field,
            subject.spin,
            rows=ROWS,
            columns=COLUMNS,
            device=chosen.name,
            advance=bar.advance,
        )


def facts_of(subject: Subject, ground: Parametric, found: LiftOffMap) -> list[tuple[str, str]]:
    """Rows of what there is to know."""
    from alight.views import words
    from alight.views.figures.body import liftoff

    unit = words.speed(found.quantile(found.least, 0.5))

    def told(speed: float) -> str:
        return "never" if math.isinf(speed) else unit(speed)

    rows = [
        ("slowest anywhere", told(float(found.least.min()))),
        ("on 1 % of the ground, below", told(found.quantile(found.least, 0.01))),
        ("on 10 % of the ground, below", told(found.quantile(found.least, 0.10))),
        ("on half of the ground, below", told(found.quantile(found.least, 0.5))),
        *(
            (f"the same {title.lower()}", told(found.quantile(values, 0.5)))
            for title, values in liftoff.headings(found, subject.spin)
        ),
        ("nothing leaves on", f"{words.percent(found.never(found.least))} of the ground"),
    ]
    slow, fast = sphere_speeds(subject, ground)
    text = unit(slow) if fast == slow else f"{unit.of(slow)} to {unit(fast)}"
    return [*rows, ("on a sphere of its volume", text)]


def sphere_speeds(subject: Subject, ground: Parametric) -> tuple[float, float]:
    """Smallest and largest speed [m/s] on the equator of a sphere, sqrt(GM/R) -+ Omega R."""
    radius = ground.series.mean_radius
    circular = math.sqrt(subject.gm / radius)
    return max(0.0, circular - subject.rate * radius), circular + subject.rate * radius


def detail(ground: Parametric) -> float:
    """Half of the shortest wavelength of the surface [m]: bumps shorter than this are not seen."""
    return math.pi * ground.series.mean_radius / max(1, ground.series.degree)


def fit_error(subject: Subject, ground: Parametric) -> float:
    """Root mean square radius error of the series against what it was fitted to [m]."""
    from alight.shapes import builtin

    if ground.report is not None:
        return ground.report.rms * ground.report.mean_radius
    assert subject.body is not None
    shape = builtin.find(subject.body.shape)
    return shape.rms * float(np.cbrt(3.0 * shape.source_volume / (4.0 * np.pi)))


def notes_of(subject: Subject, ground: Parametric, found: LiftOffMap) -> list[str]:
    """How to read the maps, what they leave out, and what must not be overlooked."""
    from alight.views import words

    size = detail(ground)
    notes = [
        "An object that slides faster than this over smooth ground leaves it and flies: the push "
        "of the ground has fallen to zero. Friction plays no part.",
        f"The surface holds no bumps shorter than {words.length(size)(size, 2)}. Over rocks and "
        "sharper crests an object leaves sooner.",
    ]
    missed = fit_error(subject, ground)
    if missed > 0.0:
        notes.append(
            f"The surface follows the shape model to {words.length(missed)(missed, 2)} rms; low "
            "ripples along its ends and edges can be its own."
        )
    loose = float(found.share[found.least == 0.0].sum())
    if loose > 0.0:
        notes.append(
            f"Net gravity points outward on {words.percent(loose)} of the ground: nothing rests "
            "there, and the speed is zero."
        )
    if subject.tumbles:
        notes.append("The body tumbles: its angular velocity at one moment is taken as fixed.")
    if subject.primary not in (None, "Sun"):
        notes.append(f"The tide of {subject.primary} is left out.")
    return notes


def as_data(subject: Subject, ground: Parametric, found: LiftOffMap) -> dict[str, Any]:
    """The same for scripts, in SI units; null where nothing leaves."""

    def finite(speed: float) -> float | None:
        return speed if math.isfinite(speed) else None

    quantiles = (0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90)
    told: dict[str, Any] = {
        "name": subject.name,
        "degree": ground.series.degree,
        "shortest_bump_m": detail(ground),
        "fit_rms_m": fit_error(subject, ground),
        "rows": len(found.latitude),
        "columns": len(found.longitude),
    }
    for name in ("least", "east", "west", "north"):
        values = getattr(found, name)
        told[f"{name}_m_s"] = {
            "smallest": float(values.min()),
            **{f"p{100 * q:02.0f}": finite(found.quantile(values, q)) for q in quantiles},
        }
        told[f"{name}_never_fraction"] = found.never(values)
    row, column = np.unravel_index(int(found.least.argmin()), found.least.shape)
    told["slowest_at_deg"] = {
        "latitude": math.degrees(found.latitude[row]),
        "longitude": math.degrees(found.longitude[column]),
        "heading": math.degrees(found.heading[row, column]),
    }
    told["sphere_m_s"] = list(sphere_speeds(subject, ground))
    return told
