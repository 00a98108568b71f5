"""Which body ``alight body`` looks at: one of the catalogue, or a mesh file with mass and spin."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.constants import G
from alight.core.errors import AlightError, FileError, InputError, did_you_mean
from alight.scenario import bodies
from alight.scenario.bodies import Body
from alight.scenario.field_types import FieldType, Measure, Number
from alight.shapes.mesh import Mesh

Array = npt.NDArray[np.float64]

#: Facets of a built-in shape in pictures: no corner of its outline is seen.
PICTURE_FACETS = 81_920

#: Less than this across [m] and the unit is surely wrong.
SMALLEST_BODY = 1.0

#: Values beyond these are slips of the keyboard, far outside of any body: one turn [s] (the fastest
#: known asteroids take seconds), bulk density [kg/m^3] and GM [m^3/s^2].
PERIOD = Measure(dimension="time", least=0.1, most=1e11)
DENSITY = Number(least=1e-3, most=1e6)
GM = Number(least=1e-12, most=1e16)


@dataclass(frozen=True)
class Subject:
    """The body that is looked at: one of the catalogue, or a mesh file."""

    name: str
    designation: str
    mesh: Mesh
    """Centre of mass at the origin."""
    gm: float
    """[m^3/s^2]"""
    spin: Array
    """(3,) angular velocity in body axes [rad/s]."""
    body: Body | None = None
    path: Path | None = None
    offset: tuple[float, ...] = (0.0, 0.0, 0.0)
    """Centre of mass in the file [m], before it was moved to the origin."""
    repairs: tuple[str, ...] = ()
    original: Mesh | None = None
    """The mesh of the file, where ``mesh`` was simplified."""
    given: frozenset[str] = frozenset()
    """What was given on the command line: density, gm, period."""

    @property
    def density(self) -> float:
        """[kg/m^3]"""
        return self.gm / (G * self.mesh.volume)

    @property
    def fine(self) -> Mesh | None:
        """A finer mesh of the same body for pictures, if there is one."""
        if self.body is not None and self.mesh.n_faces < PICTURE_FACETS:
            return self.body.mesh(PICTURE_FACETS)
        return self.original

    @property
    def rate(self) -> float:
        """[rad/s]"""
        return float(np.linalg.norm(self.spin))

    @property
    def tumbles(self) -> bool:
        """Whether it turns about no fixed axis."""
        return self.body is not None and self.body.tumbling is not None and not self._own_spin

    @property
    def _own_spin(self) -> bool:
        return "period" in self.given

    @property
    def primary(self) -> str | None:
        """What it orbits, if that is known."""
        return self.body.orbit.primary if self.body else None

    @property
    def hill_radius(self) -> float | None:
        """[m], scaled from the catalogue's mass to this one; None for a file."""
        if self.body is None:
            return None
        return self.body.hill_radius * float(np.cbrt(self.gm / self.body.gm))

    def source(self, name: str) -> str:
        """Where the catalogue has a figure from; an option where it was given by one."""
        if name == "spin" and self._own_spin:
            return "--period"
        if name in ("gm", "density") and self.given & {"gm", "density"}:
            return f"--{name}" if name in self.given else "derived"
        if name == "density":
            return "derived: GM and the volume of the mesh"
        if self.body is None:
            return ""
        return str(self.body.sources.get(name, ""))


def find_subject(
    target: str,
    facets: int | None = None,
    unit: str | None = None,
    density: float | None = None,
    gm: float | None = None,
    period: str | None = None,
    repair: bool = False,
) -> Subject:
    """The body of the catalogue, or the mesh file, that ``target`` names."""
    if density is not None and gm is not None:
        raise InputError(
            "--density and --gm were both given, but each follows from the other: leave one out."
        )
    if density is not None:
        _read("--density", density, DENSITY, "--density 1190 (in kg/m^3)")
    if gm is not None:
        _read("--gm", gm, GM, "--gm 30 (in m^3/s^2)")
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


def _in_catalogue(target: str) -> Body | None:
    """The body of that name; None for the path of a file; an error for anything else."""
    if not target.strip():
        raise InputError(
            f'the body "{target}" has no name: give one of the catalogue, such as "ryugu" (see '
            "alight body --list), or the path of a mesh file."
        )
    try:
        return bodies.find(target)
    except InputError as unknown:
        if _looks_like_file(target):
            return None
        raise InputError(
            f'{unknown} For your own mesh file give its path, such as "./{target}.obj".'
        ) from None


def _looks_like_file(target: str) -> bool:
    path = Path(target)
    return _there(path) or bool(path.suffix) or "/" in target or "\\" in target


def _there(path: Path) -> bool:
    """Whether the path exists; one too long for the system to look up does not."""
    try:
        return path.exists()
    except OSError:
        return False


def _file(target: str) -> Path:
    """A path whose file exists, or an error that distinguishes files and names of the catalogue."""
    path = Path(target)
    there = _there(path)
    if there and path.is_dir():
        raise FileError(f'"{path}" is a folder; give the mesh file inside it.')
    if there:
        return path
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
    body: Body, facets: int | None, density: float | None, gm: float | None, seconds: float | None
) -> Subject:
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
    try:
        read = Mesh.read(path, unit, repair=repair)
    except AlightError as error:
        raise type(error)(_as_options(str(error))) from None
    size = float(read.extent.max())
    if size < SMALLEST_BODY:
        raise InputError(
            f'"{path}" in {unit} is {size:.3g} m across; a body has at least {SMALLEST_BODY:g} m. '
            "Give the unit that the file was written in, such as --unit km."
        )
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


def _mass(mesh: Mesh, density: float | None, gm: float | None) -> float | None:
    """GM [m^3/s^2] from what was given on the command line, if anything was."""
    return gm if density is None else G * density * mesh.volume


def _about_z(seconds: float | None) -> Array:
    """Angular velocity of one turn about z in ``seconds``; zero for None."""
    return np.array([0.0, 0.0, 2.0 * np.pi / seconds if seconds is not None else 0.0])


def _names_given(**options: float | None) -> frozenset[str]:
    return frozenset(name for name, value in options.items() if value is not None)


# -- values -----------------------------------------------------------------------------------


def parse_time(option: str, text: str) -> float:
    """Seconds in a time such as ``7.63262 h``, as scenario files have it."""
    return float(_read(option, text, PERIOD, f'{option} "7.63 h"'))


def _read(option: str, value: Any, kind: FieldType, example: str) -> Any:
    """The value of an option, refused in the words of scenario files."""
    try:
        return kind.read(value)
    except InputError as cause:
        raise InputError(f"{option}: {cause}. Write for example {example}.") from None
