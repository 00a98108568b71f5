"""``alight body``: look at a body of the catalogue, or at a mesh of your own."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alight.cli import help_screens, screen
from alight.cli.names import complete_body
from alight.cli.options import Device, Json, List, Unit, optional
from alight.cli.speaking import speaking
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


class Command(help_screens.Command):
    """A command whose ``--figure`` may stand without a value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, with the default place for figures where none is named."""
        given: list[str] = []
        for k, here in enumerate(args):
            given.append(here)
            if here == "--figure" and (k + 1 == len(args) or args[k + 1].startswith("-")):
                given.append(FIGURES)
        return super().parse_args(ctx, given)


@speaking("Inspecting the body")
def command(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME_OR_FILE",
            help="A body of the catalogue (see --list), or a mesh file: OBJ, PLY, STL, NPZ, "
            "glTF, DSK, plate table or Gaskell ICQ.",
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
        optional(
            "Facets of a built-in shape (5120 if not given); a file with more is simplified to "
            "this many.",
            min=20,
        ),
    ] = None,
    unit: Unit = None,
    density: Annotated[float | None, optional("Bulk density in kg/m^3.")] = None,
    gm: Annotated[float | None, optional("Gravitational parameter GM in m^3/s^2.")] = None,
    period: Annotated[
        str | None,
        optional(
            'Rotation period about z, such as "7.63 h"; without it a mesh file does not rotate.'
        ),
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Weld vertices and fix the winding of a mesh file.")
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
        optional(
            "Of the square with --rocks: latitude and east longitude in degrees (0,0 if not "
            "given).",
            metavar="LAT,LON",
        ),
    ] = None,
    world: Annotated[
        float | None, optional("Side of that square in metres (40 if not given).")
    ] = None,
    seed: Annotated[int | None, optional("Seed of the rocks (0 if not given).", min=0)] = None,
    device: Device = "auto",
    as_json: Json = False,
    show_list: List = False,
) -> None:
    """Look at a body: size, mass, spin, surface gravity, slopes, escape and lift-off speeds."""
    from alight.cli import body_report as report
    from alight.cli.body_subject import find_subject

    if show_list:
        report.show_catalogue(as_json)
        return
    if target is None:
        raise InputError(
            'no body given: write for example "alight body ryugu", "alight body shape.obj --unit '
            'km --density 1190", or "alight body --list" to see the catalogue.'
        )
    # What can be refused is refused before anything long begins, or is written.
    wanted = figure_place(figure)
    site = _site(rocks, at, world, seed)
    if rocks and liftoff:
        raise InputError("--rocks and --liftoff each draw a sheet of their own: ask for one.")
    subject = find_subject(target, facets, unit, density, gm, period, repair)
    if site is not None or liftoff:
        _draw_alone(subject, site, wanted or Path(FIGURES), device, as_json)
        return
    if wanted is not None:
        make_folder(wanted)
    surface, drawn = look(subject, device, wanted)
    if as_json:
        screen.echo_json(report.as_data(subject, surface, drawn))
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


def _draw_alone(
    subject: Subject, site: Site | None, wanted: Path, device: str, as_json: bool
) -> None:
    """Draw a local world, or maps of lift-off speed, into a file, or into a folder under the
    body's name, and say what is to be seen."""
    from alight.cli import body_liftoff, body_rocks

    make_folder(wanted)
    kind = "liftoff" if site is None else "rocks"
    name = f"{file_stem(subject.name, 'body')}_{kind}.png"
    file = wanted if is_file_name(wanted) else wanted / name
    with writing(wanted):
        if site is None:
            facts, notes, data = body_liftoff.drawn(subject, file, device)
        else:
            facts, notes, data = body_rocks.drawn(subject, site, file, device)
    if as_json:
        screen.echo_json({**data, "figures": [str(file)]})
        return
    width = max(len(name) for name, _ in facts) + 2
    for line in (*(f"{name:<{width}}{value}" for name, value in facts), *notes, f"wrote {file}"):
        screen.echo(line)


def look(
    subject: Subject, device: str = "auto", wanted: Path | None = None
) -> tuple[FacetFields, list[Path]]:
    """Evaluate gravity on the surface and draw what is wanted, with progress."""
    from alight.analysis.surface import examine
    from alight.core import devices
    from alight.core.progress import progress
    from alight.gravity.polyhedron.field import Polyhedron

    chosen = devices.resolve(device)
    mesh = subject.mesh
    field = Polyhedron(mesh, gm=subject.gm)
    if mesh.n_faces > MANY_FACETS and chosen.is_cpu:
        screen.echo(
            f"{mesh.n_faces} facets that all attract each other take a while; "
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


def make_folder(place: Path) -> None:
    """Have the folder that figures go to."""
    with writing(place):
        (place.parent if is_file_name(place) else place).mkdir(parents=True, exist_ok=True)


def is_file_name(path: Path) -> bool:
    """Whether a place for figures is one file, and no folder."""
    return path.suffix.lower() in FORMATS and not path.is_dir()


@contextlib.contextmanager
def writing(place: Path) -> Iterator[None]:
    """What the disk refuses is a user's mistake, reported with the place."""
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        raise FileError(f'cannot write figures to "{place}": {why}.') from None


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}"


def _draw(subject: Subject, surface: FacetFields, wanted: Path, bar: Progress) -> list[Path]:
    """Draw the sheet, and into a folder also the large picture."""
    from alight.cli.body_report import sheet_text
    from alight.views.figures.body.sheet import Sheet

    text = sheet_text(subject, surface)
    if is_file_name(wanted):
        sheets, portraits = [wanted], []
    else:
        stem = file_stem(subject.name, "body")
        sheets = [wanted / f"{stem}.png", wanted / f"{stem}.svg"]
        portraits = [wanted / f"{stem}_solid.png"]
    bar.start("Drawing", total=1 + len(portraits))
    with writing(wanted):
        sheet = Sheet(surface, text, subject.fine, fixed_axis=not subject.tumbles)
        sheet.draw(*sheets)
        bar.advance()
        if portraits:
            sheet.draw_portrait(*portraits)
            bar.advance()
    return sheets + portraits
