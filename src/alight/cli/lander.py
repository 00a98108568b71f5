"""``alight lander``: look at a lander of the catalogue, or at a hull of your own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alight.cli import lander_tree, screen
from alight.cli.body import Command as Command  # its --figure may stand without a value
from alight.cli.body import figure_place, file_stem, is_file_name, writing
from alight.cli.names import complete_lander
from alight.cli.options import Json, List, Unit, optional
from alight.cli.speaking import speaking
from alight.core.errors import InputError
from alight.core.paths import user_path

if TYPE_CHECKING:
    from alight.scenario.landers import Lander
    from alight.vehicles import RigidLander


@speaking("Inspecting the lander")
def command(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME_OR_FILE",
            help="A lander of the catalogue (see --list), a mesh file of a hull, or a URDF file.",
            show_default=False,
            autocompletion=complete_lander,
        ),
    ] = None,
    figure: Annotated[
        str | None,
        typer.Option(
            metavar="[PATH]",
            help='Draw the hull and its contact points into a folder ("out" if none is named), or '
            "into a .png, .svg or .pdf file.",
        ),
    ] = None,
    points: Annotated[
        int | None,
        optional(
            "Contact points to distribute over the hull (default: its corners; 32 for a mesh file)."
        ),
    ] = None,
    unit: Unit = None,
    mass: Annotated[float | None, optional("Mass of a file's lander in kg.")] = None,
    as_json: Json = False,
    show_list: List = False,
) -> None:
    """Look at a lander: mass, size, inertia, contact points, and where the figures come from."""
    if show_list:
        _show_catalogue(as_json)
        return
    if target is None:
        raise InputError(
            'no lander given: write for example "alight lander minerva-ii-1", "alight lander '
            'hull.stl --unit mm --mass 5", or "alight lander --list" to see the catalogue.'
        )
    if lander_tree.articulated_target(target):
        options = {"--figure": figure, "--points": points, "--unit": unit, "--mass": mass}
        lander_tree.show(target, options, as_json)
        return
    place = figure_place(figure)
    entry, rigid = _find(target, points, unit, mass)
    drawn = [] if place is None else _draw(entry, rigid, place)
    if as_json:
        screen.echo_json(_data(entry, rigid, drawn))
    else:
        _show(entry, rigid, drawn)


def _find(
    target: str, points: int | None, unit: str | None, mass: float | None
) -> tuple[Lander | None, RigidLander]:
    """The lander of the catalogue or file that ``target`` names."""
    from alight.scenario import landers
    from alight.shapes import Mesh
    from alight.vehicles import RigidLander

    path = user_path(target, "lander")
    if not (path.suffix and (path.exists() or re.fullmatch(r"\.[A-Za-z]{3,4}", path.suffix))):
        given = {"--unit": unit, "--mass": mass}
        for option in (name for name, value in given.items() if value is not None):
            raise InputError(f"{option} is for mesh files; {target} is a lander of the catalogue.")
        entry = landers.find(target)
        return entry, entry.rigid(points)
    if mass is None:
        raise InputError(f'the mass of "{target}" is needed: add for example --mass 5 (in kg).')
    mesh = Mesh.read(path, unit)
    count = 32 if points is None else points
    return None, RigidLander.from_mesh(mesh, mass, points=count, name=path.stem)


# -- for people -------------------------------------------------------------------------------


def _facts(rigid: RigidLander) -> list[tuple[str, str]]:
    """(name, value with unit) rows about a lander."""
    from alight.views import words

    hull, moments = rigid.hull, rigid.principal[0]
    length = words.length(2.0 * rigid.bounding_radius)
    size = " × ".join(words.quoted(float(f"{x / length.size:.4g}")) for x in hull.extent)
    rows = [
        ("mass", f"{words.quoted(rigid.mass)} kg"),
        ("size of the hull, x y z", f"{size} {length.name}"),
        ("density of the hull", f"{words.number(rigid.mass / hull.volume)} kg/m³"),
        ("moments about x, y, z", _inertia_text(rigid.inertia.diagonal())),
        ("principal moments", _inertia_text(moments)),
    ]
    products = [float(rigid.inertia[i, j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    if max(abs(p) for p in products) > 1e-9 * float(moments[2]):
        rows.insert(4, ("products xy, xz, yz", _inertia_text(products)))
    if abs(rigid.center_of_mass).max() > 1e-9 * rigid.bounding_radius:
        place = ", ".join(words.row([float(x) / length.size for x in rigid.center_of_mass]))
        rows.append(("centre of mass in the shape", f"{place} {length.name}"))
    rows.append(("bounding radius", length(rigid.bounding_radius, 4)))
    rows.append(("contact points", _points_text(rigid)))
    nearest = _nearest(rigid)
    if nearest is not None:
        rows.append(("closest contact points", length(nearest)))
    return rows


def _inertia_text(values: Any) -> str:
    from alight.views import words

    return ", ".join(words.row([1e3 * float(v) for v in values], 4)) + " g m²"


def _points_text(rigid: RigidLander) -> str:
    from alight.views import words

    radius = float(rigid.radii.max())
    if radius > 0.0:
        return f"{rigid.n_points}, radius {words.length(radius)(radius)}"
    return str(rigid.n_points)


def _nearest(rigid: RigidLander) -> float | None:
    """Distance of the two contact points that are nearest to each other [m]."""
    from scipy.spatial import cKDTree

    if rigid.n_points < 2:
        return None
    return float(cKDTree(rigid.points).query(rigid.points, k=2)[0][:, 1].min())


def _show(entry: Lander | None, rigid: RigidLander, drawn: list[Path]) -> None:
    from alight.cli.body_report import show_sources

    console = screen.console()
    screen.lines(console, [entry.designation if entry else rigid.name], "bold")
    console.print(screen.table(("", ""), _facts(rigid)))
    if entry is not None:
        show_sources(console, entry.notes, _source_lines(entry))
    screen.lines(console, (f"wrote {file}" for file in drawn), "green")


def _source_lines(entry: Lander | None) -> list[str]:
    """``figure: source [mark]`` of every figure."""
    sources = entry.sources if entry else {}
    return [f"{figure.replace('_', ' ')}: {source}" for figure, source in sources.items()]


def _show_catalogue(as_json: bool) -> None:
    from alight.cli.lander_tree import ready_tree
    from alight.scenario import landers
    from alight.scenario.building.articulated_landers import READY

    found = [landers.find(name) for name in landers.names()]
    trees = {name: ready_tree(name)[0] for name in READY}
    if as_json:
        rows = [{"name": x.name, "designation": x.designation, "mass_kg": x.mass} for x in found]
        rows += [{"name": n, "designation": t.name, "mass_kg": t.mass} for n, t in trees.items()]
        screen.echo_json(rows)
        return
    told = [(x.name, x.designation, f"{x.mass:g}") for x in found]
    told += [(n, READY[n].about, f"{t.mass:g}") for n, t in trees.items()]
    screen.console().print(screen.table(("name", "designation", "mass [kg]"), told, right=[2]))


# -- figures and scripts ----------------------------------------------------------------------


def _draw(entry: Lander | None, rigid: RigidLander, place: Path) -> list[Path]:
    """Draw the sheet; into a folder as .png and .svg."""
    from alight.views.figures import lander as view

    stem = file_stem(rigid.name, "lander")
    files = [place] if is_file_name(place) else [place / f"{stem}.png", place / f"{stem}.svg"]
    subject = view.Subject(
        title=rigid.name,
        subtitle=entry.designation if entry else "",
        hull=rigid.hull,
        points=rigid.points,
        radii=rigid.radii,
        facts=_facts(rigid),
        notes=entry.notes if entry else (),
        sources=_source_lines(entry),
    )
    with writing(place):
        view.draw(subject, *files)
    return files


def _data(entry: Lander | None, rigid: RigidLander, drawn: list[Path]) -> dict[str, Any]:
    """Everything the table says and the contact points, in SI units."""
    moments, axes = rigid.principal
    return {
        "name": rigid.name,
        "designation": entry.designation if entry else None,
        "mass_kg": rigid.mass,
        "size_m": rigid.hull.extent.tolist(),
        "volume_m3": rigid.hull.volume,
        "inertia_kg_m2": rigid.inertia.tolist(),
        "principal_moments_kg_m2": moments.tolist(),
        "principal_axes": axes.tolist(),
        "center_of_mass_m": rigid.center_of_mass.tolist(),
        "bounding_radius_m": rigid.bounding_radius,
        "points_m": rigid.points.tolist(),
        "radii_m": rigid.radii.tolist(),
        "sources": {k: str(v) for k, v in entry.sources.items()} if entry else {},
        "notes": list(entry.notes) if entry else [],
        "figures": [str(file) for file in drawn],
    }
