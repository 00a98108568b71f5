"""``alight body``: look at a body of the catalogue, or at a mesh of your own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from alight.cli import screen
from alight.cli.names import complete_body
from alight.core.errors import FileError, InputError
from alight.core.paths import user_path

if TYPE_CHECKING:
    from alight.analysis.surface import FacetFields
    from alight.cli.body_rocks import Site
    from alight.cli.body_subject import Subject
    from alight.core.progress import Progress

#: Where figures go when ``--figure`` names no place.
FIGURES = "out"

#: Facets from which a look on a CPU takes minutes.
MANY_FACETS = 60_000


class Command(TyperCommand):
    """A command whose ``--figure`` may stand without a value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, with the default place for figures where none is named."""
        given: list[str] = []
        for k, here in enumerate(args):
            given.append(here)
            if here == "--figure" and (k + 1 == len(args) or args[k + 1].startswith("-")):
                given.append(FIGURES)
        return super().parse_args(ctx, given)


def command(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME_OR_FILE",
            help="A body of the catalogue (see --list), or a mesh file: OBJ, PLY, STL, NPZ, "
            "plate table or Gaskell ICQ.",
            show_default=False,
            autocompletion=complete_body,
        ),
    ] = None,
    figure: Annotated[
        str | None,
        typer.Option(
            metavar="[PATH]",
            help="Draw maps of effective gravity and slope and a 3D picture into a folder "
            f'("{FIGURES}" if none is named), or one sheet into a .png, .svg or .pdf file.',
        ),
    ] = None,
    facets: Annotated[
        int | None,
        typer.Option(
            min=20,
            help="Facets of a built-in shape (5120 if not given); a file with more is simplified "
            "to this many.",
            show_default=False,
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(help="Unit of a file's coordinates: m, km, cm, mm or ft.", show_default=False),
    ] = None,
    density: Annotated[
        float | None, typer.Option(help="Bulk density in kg/m^3.", show_default=False)
    ] = None,
    gm: Annotated[
        float | None,
        typer.Option(help="Gravitational parameter GM in m^3/s^2.", show_default=False),
    ] = None,
    period: Annotated[
        str | None,
        typer.Option(
            help='Time of one turn about z, such as "7.63 h"; a file without it does not turn.',
            show_default=False,
        ),
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Weld vertices and mend the winding of a file.")
    ] = False,
    rocks: Annotated[
        bool,
        typer.Option(
            "--rocks",
            help="Draw a local world instead: a square of ground with the rocks that the boulder "
            "count of the body puts there.",
        ),
    ] = False,
    liftoff: Annotated[
        bool,
        typer.Option(
            "--liftoff",
            help="Draw maps of lift-off speed instead: how fast an object may slide before it "
            "leaves the ground, by place and heading.",
        ),
    ] = False,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="LAT,LON",
            help="Of the square with --rocks: latitude and east longitude in degrees (0,0 if not "
            "given).",
            show_default=False,
        ),
    ] = None,
    world: Annotated[
        float | None,
        typer.Option(help="Side of that square in metres (40 if not given).", show_default=False),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed of the rocks (0 if not given).", show_default=False),
    ] = None,
    device: Annotated[
        str, typer.Option(help="Where to compute: auto, cpu, cuda, cuda:1, ...")
    ] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
    show_list: Annotated[bool, typer.Option("--list", help="List the catalogue.")] = False,
) -> None:
    """Look at a body: size, mass, spin, surface gravity, slopes, escape and lift-off speeds."""
    from alight.cli import body_report as report
    from alight.cli.body_subject import find_subject

    if show_list:
        report.show_catalogue(as_json)
        return
    if target is None:
        raise InputError(
            'which body? Write for example "alight body ryugu", "alight body shape.obj --unit km '
            '--density 1190", or "alight body --list" to see the catalogue.'
        )
    # What can be refused is refused before anything long begins, or is written.
    wanted = figure_place(figure)
    site = _site(rocks, at, world, seed)
    if rocks and liftoff:
        raise InputError("--rocks and --liftoff each draw a sheet of their own: ask for one.")
    subject = find_subject(target, facets, unit, density, gm, period, repair)
    if site is not None:
        _draw_rocks(subject, site, wanted or Path(FIGURES), device, as_json)
        return
    if liftoff:
        _draw_liftoff(subject, wanted or Path(FIGURES), device, as_json)
        return
    if wanted is not None:
        _make_folder(wanted)
    surface, drawn = look(subject, device, wanted)
    if as_json:
        screen.echo(report.as_json(subject, surface, drawn))
    else:
        report.show(subject, surface, drawn)


def _site(rocks: bool, at: str | None, world: float | None, seed: int | None) -> Site | None:
    """What ``--rocks`` is to show, if it was given."""
    from alight.cli.body_rocks import parse_site

    if rocks:
        return parse_site(at or "0,0", 40.0 if world is None else world, seed or 0)
    given = {"--at": at, "--world": world, "--seed": seed}
    for option, value in given.items():
        if value is not None:
            raise InputError(f"{option} is about the square of ground with rocks: add --rocks.")
    return None


def _draw_liftoff(subject: Subject, wanted: Path, device: str, as_json: bool) -> None:
    """Draw maps of lift-off speed into a file, or into a folder under the body's name."""
    from alight.cli import body_liftoff

    file = _sheet_file(subject, wanted, "liftoff")
    try:
        body_liftoff.show(subject, file, device, as_json)
    except OSError as error:
        raise _unwritable(wanted, error) from None


def _sheet_file(subject: Subject, wanted: Path, kind: str) -> Path:
    """The file ``wanted``, or one after the body in that folder, which is made."""
    _make_folder(wanted)
    stem = file_stem(subject.name, "body")
    return wanted if _is_file_name(wanted) else wanted / f"{stem}_{kind}.png"


def _draw_rocks(subject: Subject, site: Site, wanted: Path, device: str, as_json: bool) -> None:
    """Draw a local world into a file, or into a folder under the body's name."""
    from alight.cli import body_rocks

    file = _sheet_file(subject, wanted, "rocks")
    try:
        body_rocks.show(subject, site, file, device, as_json)
    except OSError as error:
        raise _unwritable(wanted, error) from None


def look(
    subject: Subject, device: str = "auto", wanted: Path | None = None
) -> tuple[FacetFields, list[Path]]:
    """Evaluate gravity on the surface and draw what is wanted, telling how far it is."""
    from alight.analysis.surface import examine
    from alight.core import devices
    from alight.core.progress import progress
    from alight.gravity.polyhedron.field import Polyhedron

    chosen = devices.resolve(device)
    mesh = subject.mesh
    field = Polyhedron(mesh, gm=subject.gm)
    if mesh.n_faces > MANY_FACETS and chosen.is_cpu:
        screen.echo(
            f"{mesh.n_faces} facets, each felt by all others, take a while; "
            "--facets 20000 gives a quick look.",
            err=True,
        )
    with progress("auto") as bar:
        bar.start(f"Gravity on {mesh.n_faces} facets", total=mesh.n_faces)
        surface = examine(mesh, field, subject.gm, subject.spin, chosen.name, bar.advance)
        drawn = _draw(subject, surface, wanted, bar) if wanted is not None else []
    return surface, drawn


# -- figures ----------------------------------------------------------------------------------

#: Formats of a sheet.
FORMATS = (".png", ".svg", ".pdf")


def figure_place(figure: str | None) -> Path | None:
    """The folder or file that ``--figure`` names, if figures can be of that kind."""
    if figure is None:
        return None
    if not figure.strip():
        raise InputError(
            f'--figure "{figure}" names no place: name a folder, or a file that ends in '
            f'{_listed(FORMATS)}; --figure alone means the folder "{FIGURES}".'
        )
    path = user_path(figure, "--figure")
    if path.suffix and path.suffix.lower() not in FORMATS and not path.is_dir():
        raise InputError(
            f'--figure "{figure}" ends in "{path.suffix}": name a folder, or a file that ends in '
            f"{_listed(FORMATS)}."
        )
    return path


def file_stem(name: str, otherwise: str) -> str:
    """A file name without extension after ``name``: small letters and figures of any script."""
    return re.sub(r"[\W_]+", "_", name.lower()).strip("_") or otherwise


def _make_folder(place: Path) -> None:
    """Have the folder that figures go to."""
    try:
        (place.parent if _is_file_name(place) else place).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(place, error) from None


def _is_file_name(path: Path) -> bool:
    return path.suffix.lower() in FORMATS and not path.is_dir()


def _unwritable(path: Path, error: OSError) -> FileError:
    return FileError(f'cannot write figures to "{path}": {error.strerror or error}.')


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}"


def _draw(subject: Subject, surface: FacetFields, wanted: Path, bar: Progress) -> list[Path]:
    """Draw the sheet, and into a folder also the large picture."""
    from alight.cli.body_report import sheet_text
    from alight.views.figures.body.sheet import Sheet

    text = sheet_text(subject, surface)
    if _is_file_name(wanted):
        sheets, portraits = [wanted], []
    else:
        stem = file_stem(subject.name, "body")
        sheets = [wanted / f"{stem}.png", wanted / f"{stem}.svg"]
        portraits = [wanted / f"{stem}_solid.png"]
    bar.start("Drawing", total=1 + len(portraits))
    try:
        sheet = Sheet(surface, text, subject.fine, fixed_axis=not subject.tumbles)
        sheet.draw(*sheets)
        bar.advance()
        if portraits:
            sheet.draw_portrait(*portraits)
            bar.advance()
    except OSError as error:
        raise _unwritable(wanted, error) from None
    return sheets + portraits
