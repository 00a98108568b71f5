"""``alight body``: look at a body of the catalogue, or at a mesh of your own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from alight.core.errors import AlightError, FileError, InputError, did_you_mean

if TYPE_CHECKING:
    from alight.analysis.surface import Surface
    from alight.cli.body_report import Subject
    from alight.core.progress import Progress

#: Where figures go when ``--figure`` names no place.
FIGURES = "out"

#: Seconds in each unit of a time.
TIMES = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}

#: What people write for them; suggested, not accepted.
_SPELLINGS = {
    "sec": "s", "second": "s", "minute": "min", "m": "min", "mn": "min", "hr": "h", "hour": "h",
    "day": "d", "j": "d",
}  # fmt: skip

#: Facets from which a look on a CPU takes minutes.
MANY_FACETS = 60_000


class Command(TyperCommand):
    """A command whose ``--figure`` may stand without a value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, with the default place for figures where none is named."""
        given: list[str] = []
        for here, following in zip(args, [*args[1:], "--"], strict=True):
            given.append(here)
            if here == "--figure" and following.startswith("-"):
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
    device: Annotated[
        str, typer.Option(help="Where to compute: auto, cpu, cuda, cuda:1, ...")
    ] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
    show_list: Annotated[bool, typer.Option("--list", help="List the catalogue.")] = False,
) -> None:
    """Look at a body: size, mass, spin, surface gravity, slopes, escape and lift-off speeds."""
    from alight.cli import body_report as report

    if show_list:
        report.show_catalogue(as_json)
        return
    if target is None:
        raise InputError(
            'which body? Write for example "alight body ryugu", "alight body shape.obj --unit km '
            '--density 1190", or "alight body --list" to see the catalogue.'
        )
    # What can be refused is refused before anything long begins.
    wanted = figure_files(figure)
    subject = find_subject(target, facets, unit, density, gm, period, repair)
    surface, drawn = _look(subject, device, wanted)
    if as_json:
        typer.echo(report.as_json(subject, surface, drawn))
    else:
        report.show(subject, surface, drawn)


def _look(subject: Subject, device: str, wanted: Path | None) -> tuple[Surface, list[Path]]:
    """Evaluate gravity on the surface and draw what is wanted, telling how far it is."""
    from alight.analysis.surface import examine
    from alight.core import devices
    from alight.core.progress import progress
    from alight.gravity.polyhedron import Polyhedron

    chosen = devices.resolve(device)
    mesh = subject.mesh
    field = Polyhedron(mesh, gm=subject.gm)
    if mesh.n_faces > MANY_FACETS and chosen.is_cpu:
        typer.echo(
            f"{mesh.n_faces} facets, each felt by all others, take a while; "
            "--facets 20000 gives a quick look.",
            err=True,
        )
    with progress("auto") as bar:
        bar.start(f"Gravity on {mesh.n_faces} facets", total=mesh.n_faces)
        surface = examine(mesh, field, subject.gm, subject.spin, chosen.name, bar.advance)
        drawn = _draw(subject, surface, wanted, bar) if wanted is not None else []
    return surface, drawn


# -- which body -------------------------------------------------------------------------------


def find_subject(
    target: str,
    facets: int | None,
    unit: str | None,
    density: float | None,
    gm: float | None,
    period: str | None,
    repair: bool,
) -> Subject:
    """The body of the catalogue, or the mesh file, that ``target`` names."""
    if density is not None and gm is not None:
        raise InputError("--density and --gm were both given; one follows from the other.")
    _require_positive("--density", density, "kg/m^3", "1190")
    _require_positive("--gm", gm, "m^3/s^2", "30")
    seconds = None if period is None else parse_time("--period", period)
    body = _in_catalogue(target)
    if body is not None:
        if unit is not None or repair:
            option = "--unit" if unit is not None else "--repair"
            raise InputError(
                f"{option} is for mesh files, but {body.name} has a built-in shape. For a file of "
                f'that name write its path: "./{target}".'
            )
        return _catalogue_subject(body, facets, density, gm, seconds)
    path = _file(target)
    if unit is None:
        raise InputError(
            f'the coordinates of "{path}" have no unit: add --unit km (or m, cm, mm, ft).'
        )
    if density is None and gm is None:
        raise InputError(
            f'nothing says how heavy "{path}" is: add --density 1190 (bulk density in kg/m^3) or '
            "--gm 30 (GM in m^3/s^2)."
        )
    return _file_subject(path, unit, facets, density, gm, seconds, repair)


def _in_catalogue(target: str) -> Any:
    """The body of that name; None for the path of a file; an error for anything else."""
    from alight.scenario import bodies

    try:
        return bodies.find(target)
    except InputError as unknown:
        if _looks_like_file(target):
            return None
        raise InputError(
            f'{unknown} For a mesh file of your own give its path, such as "./{target}.obj".'
        ) from None


def _looks_like_file(target: str) -> bool:
    path = Path(target)
    return path.exists() or bool(path.suffix) or "/" in target or "\\" in target


def _file(target: str) -> Path:
    """A path whose file exists, or an error that tells files from names of the catalogue."""
    path = Path(target)
    if path.is_file():
        return path
    if path.is_dir():
        raise FileError(f'"{path}" is a folder; give the mesh file inside it.')
    beside = _names_beside(path)
    raise FileError(
        f'there is no file "{path}".{did_you_mean(path.name, beside)} A body of the catalogue is '
        'called by its name alone, such as "ryugu" (see alight body --list).'
    )


def _names_beside(path: Path) -> list[str]:
    try:
        return [p.name for p in path.parent.iterdir() if p.is_file()]
    except OSError:
        return []


def _catalogue_subject(
    body: Any, facets: int | None, density: float | None, gm: float | None, seconds: float | None
) -> Subject:
    from alight.cli.body_report import Subject

    mesh = body.mesh(facets)
    return Subject(
        name=body.name,
        designation=body.designation,
        mesh=mesh,
        gm=_mass(mesh, density, gm) or body.gm,
        spin=body.spin_vector if seconds is None else _about_z(seconds),
        body=body,
        given=_names_given(density=density, gm=gm, period=seconds),
    )


def _file_subject(
    path: Path,
    unit: str,
    facets: int | None,
    density: float | None,
    gm: float | None,
    seconds: float | None,
    repair: bool,
) -> Subject:
    from alight.cli.body_report import Subject
    from alight.shapes.mesh import Mesh

    try:
        read = Mesh.read(path, unit, repair=repair)
    except AlightError as error:
        raise type(error)(_as_options(str(error))) from None
    mesh = read if facets is None or facets >= read.n_faces else read.simplified(facets)
    gm = _mass(mesh, density, gm)
    assert gm is not None
    return Subject(
        name=path.stem,
        designation=f"mesh file {path.name}, read in {unit}",
        mesh=mesh.recentred(),
        gm=gm,
        spin=_about_z(seconds),
        path=path,
        offset=tuple(float(x) for x in mesh.center_of_mass),
        repairs=read.repairs,
        original=read.recentred() if mesh is not read else None,
        given=_names_given(density=density, gm=gm if density is None else None, period=seconds),
    )


def _as_options(message: str) -> str:
    """The words of a library error in those of the command line."""
    return re.sub(r'unit="(\w+)"', r"--unit \1", message.replace("repair=True", "--repair"))


def _mass(mesh: Any, density: float | None, gm: float | None) -> float | None:
    """GM [m^3/s^2] from what was given on the command line, if anything was."""
    from alight.core.constants import G

    return gm if density is None else G * density * mesh.volume


def _about_z(seconds: float | None) -> Any:
    """Angular velocity of one turn about z in ``seconds``; zero for None."""
    import numpy as np

    return np.array([0.0, 0.0, 2.0 * np.pi / seconds if seconds is not None else 0.0])


def _names_given(**options: float | None) -> frozenset[str]:
    return frozenset(name for name, value in options.items() if value is not None)


# -- values -----------------------------------------------------------------------------------


def parse_time(option: str, text: str) -> float:
    """Seconds in a time such as ``7.63262 h``, ``275 min`` or ``5.4 d``."""
    form = f'write {option} "7.63 h" (units: {", ".join(TIMES)})'
    match = re.fullmatch(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\d\s.]*)\s*", text)
    if match is None:
        raise InputError(f'{option} "{text}" is not a time: {form}.')
    amount, unit = float(match[1]), match[2]
    if not unit:
        raise InputError(f'{option} "{text}" has no unit: {form}.')
    if unit not in TIMES:
        plain = unit.lower()
        spelt = _SPELLINGS.get(plain) or _SPELLINGS.get(plain.removesuffix("s"))
        spelt = spelt or (plain if plain in TIMES else None)
        hint = f' Did you mean "{match[1]} {spelt}"?' if spelt else ""
        raise InputError(f'{option} "{text}" has the unknown unit "{unit}".{hint} Or {form}.')
    if not 0.0 < amount * TIMES[unit] < float("inf"):
        raise InputError(f'{option} "{text}" must be a positive time: {form}.')
    return amount * TIMES[unit]


def _require_positive(option: str, value: float | None, unit: str, example: str) -> None:
    if value is not None and not 0.0 < value < float("inf"):
        raise InputError(
            f"{option} {value:g} cannot be: it must be a positive number in {unit}, such as "
            f"{option} {example}."
        )


# -- figures ----------------------------------------------------------------------------------

#: Formats of a sheet.
FORMATS = (".png", ".svg", ".pdf")


def figure_files(figure: str | None) -> Path | None:
    """The folder or file that ``--figure`` names, checked."""
    if figure is None:
        return None
    path = Path(figure)
    if path.suffix and path.suffix.lower() not in FORMATS and not path.is_dir():
        raise InputError(
            f'--figure "{figure}" ends in "{path.suffix}": name a folder, or a file that ends in '
            f"{_listed(FORMATS)}."
        )
    return path


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}"


def _draw(subject: Subject, surface: Surface, wanted: Path, bar: Progress) -> list[Path]:
    """Draw the sheet, and into a folder also the large picture."""
    from alight.cli.body_report import sheet_text
    from alight.views.sheet import Sheet

    text = sheet_text(subject, surface)
    if wanted.suffix.lower() in FORMATS and not wanted.is_dir():
        sheets, portraits = [wanted], []
    else:
        stem = re.sub(r"[^0-9a-z]+", "_", subject.name.lower()).strip("_") or "body"
        sheets = [wanted / f"{stem}.png", wanted / f"{stem}.svg"]
        portraits = [wanted / f"{stem}_solid.png"]
    bar.start("Drawing", total=1 + len(portraits))
    try:
        sheet = Sheet(surface, text, subject.fine)
        sheet.draw(*sheets)
        bar.advance()
        if portraits:
            sheet.draw_portrait(*portraits)
            bar.advance()
    except OSError as error:
        raise FileError(f'cannot write figures to "{wanted}": {error.strerror or error}.') from None
    return sheets + portraits
