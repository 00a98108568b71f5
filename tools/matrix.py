"""The matrix of what composes with what: ``docs/reference/matrix.md`` (``make matrix``).

Of each cell one small model is made, from Python and from a scenario file, and run until it has
touched the ground. It runs, or it is refused by an ``AlightError`` whose reason stands below the
table. Anything else is a defect: it is told, and the walk fails. Axes are taken two by two, over
one composition of the others. ``walk(device=None)`` makes models without running them, which needs
no kernels: tests do so.
"""

from __future__ import annotations

import argparse
import copy
import functools
import pathlib
import re
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from alight.campaign import run_campaign
from alight.core import devices
from alight.core.errors import AlightError
from alight.core.outcomes import FIRST_FAILURE
from alight.engine import Stop, run_batch, simulate
from alight.membrane import Captive, Membrane, hexagon, pear
from alight.motions import Model, Release, TreeModel, TreeRelease, TreeStop
from alight.motions.capture.approach import approach
from alight.motions.capture.craft import Spacecraft
from alight.motions.capture.model import Capture, CaptureRelease
from alight.motions.membrane.caught import CaughtStop
from alight.motions.membrane.model import Craft, MembraneMotion, MembraneRelease
from alight.scenario import from_dict, prepare
from alight.views.report import kind_of, write
from tools import matrix_axes as axes
from tools.matrix_axes import GM, HEIGHT, RADIUS, Member

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "reference" / "matrix.md"
#: Long enough to fall on the ground and come off it again [s].
TIME = 4.0
#: What pulls far from the target: captures and drops are this far from its middle [m].
FAR = 200.0
DROP, CAPTURE = "drop on a membrane", "capture"


class Cell(NamedTuple):
    """One composition."""

    table: str
    row: str
    column: str
    make: Callable[[], tuple[Any, Any]]
    """The model and its release."""
    file: dict[str, Any]
    """The same as a scenario file."""
    use: str = ""
    """The place of use, where that is what the cell is about."""


class Found(NamedTuple):
    """What became of it: None where it runs, or why not."""

    python: str | None
    file: str | None
    defect: str | None = None


# -- composing -----------------------------------------------------------------------------------


def pick(members: tuple[Member, ...], name: str) -> Member:
    """The member of that name."""
    return next(m for m in members if m.name == name)


@functools.cache
def made(member: Member) -> Any:
    """What a member makes, once."""
    return member.make()


BASE = {
    "ground": pick(axes.GROUNDS, "sphere"),
    "varied": axes.VARIED[0],
    "gravity": pick(axes.GRAVITIES, "uniform"),
    "rotation": axes.ROTATIONS[0],
    "external": axes.EXTERNALS[0],
    "actuator": axes.ACTUATORS[0],
}


def landing(vehicle: Member, contact: Member, **other: Member) -> tuple[Any, Any]:
    """The model of a lander and where it is let go; ``other`` members in place of the base's."""
    use = {**BASE, **other}
    law = contact.make(made(use["varied"]))
    laws = {
        "gravity": made(use["gravity"]),
        "surface": made(use["ground"]),
        "contact": law,
        "rotation": made(use["rotation"]),
        "externals": made(use["external"]),
    }
    fitted, what = use["actuator"].make(), made(vehicle)
    if not isinstance(what, tuple):
        return _rigid(what, fitted, laws)
    tree, devices = what
    paper = vehicle.name == "lander of paper 002"
    up = (0.0, 1.0, 0.0) if paper else (0.0, 0.0, 1.0)
    turn = (0.5**0.5, 0.0, 0.0, 0.5**0.5) if paper else (0.0, 0.0, 0.0, 1.0)
    model = TreeModel(tree, [*devices, *fitted], stop=TreeStop(max_time=TIME), up=up, **laws)
    high = RADIUS + (1.3 if paper else 0.1) + HEIGHT
    return model, TreeRelease.of(tree, (0.0, 0.0, high), attitude=turn)


def _rigid(lander: Any, fitted: list[Any], laws: dict[str, Any]) -> tuple[Any, Any]:
    options: dict[str, Any] = {}
    if fitted:
        options["actuators"] = fitted
    model = Model(lander=lander, stop=Stop(max_time=TIME), **laws, **options)
    return model, Release((0.0, 0.0, RADIUS + 0.15 + HEIGHT))


def caught(name: str, **other: Member) -> tuple[Any, Any]:
    """The model of a drop or a capture under what pulls, and its release."""
    use = {**BASE, **other}
    still = use["rotation"].name == "none"
    laws = {
        "gravity": made(use["gravity"]),
        "rotation": None if still else made(use["rotation"]),
        "externals": made(use["external"]),
        "actuators": tuple(use["actuator"].make()),
    }
    if name == DROP:
        body = Captive.from_mesh(pear(4.0, subdivisions=1), 100.0)
        fabric = Membrane(30.0, 1.0, suspension=hexagon(7.5))
        stop = CaughtStop(1.0)
        model = MembraneMotion(fabric, body, Craft(1e3, (1e3, 1e3, 1e3)), stop=stop, **laws)
        place, fall = (0.0, 0.0, FAR + 4.0), (0.0, 0.0, -2.0)
        return model, MembraneRelease(place, fall, craft_position=(0.0, 0.0, FAR))
    craft, rock = Spacecraft(), Captive.from_mesh(pear(8.0, subdivisions=1), 5e5)
    way = approach("corkscrew")
    capture = Capture(craft.membrane(), rock, craft, way, stop=CaughtStop(1.0), **laws)
    return capture, CaptureRelease(rate=(0.01, 0.0, 0.05), position=(0.0, 0.0, FAR))


# -- the same as files ---------------------------------------------------------------------------


def merged(*parts: dict[str, Any]) -> dict[str, Any]:
    """Tables laid one over the other."""
    out: dict[str, Any] = {}
    for part in parts:
        for key, value in copy.deepcopy(part).items():
            known = out.get(key)
            both = isinstance(known, dict) and isinstance(value, dict)
            out[key] = merged(known, value) if both else value  # type: ignore[arg-type]
    return out


_BODY = {"mesh": "ball.obj", "unit": "m", "gm": f"{GM} m^3/s^2"}


def landing_file(vehicle: Member, contact: Member, **other: Member) -> dict[str, Any]:
    """The same composition as a scenario."""
    use = {**BASE, **other}
    head = {
        "body": _BODY,
        "release": {"position": ["0 m", "0 m", "52 m"]},
        "stop": {"max_time": f"{TIME} s"},
    }
    own = ("ground", "varied", "gravity", "rotation", "external")
    fitted = {"lander": use["actuator"].file} if use["actuator"].file else {}
    parts = [use[name].file for name in own]
    return merged(head, vehicle.file, contact.file, *parts, fitted)


def caught_file(name: str, **other: Member) -> dict[str, Any]:
    """The same of a drop or a capture."""
    use = {**BASE, **other}
    parts = merged(*(use[n].file for n in ("gravity", "rotation", "external")))
    parts["target"] = merged(_BODY, parts.pop("body", {}))
    if use["actuator"].file:
        parts["carrier" if name == DROP else "spacecraft"] = use["actuator"].file
    if name == DROP:
        own = {
            "kind": "drop",
            "body": {"length": "4 m", "facets": 80, "mass": "100 kg"},
            "membrane": {"side": "7.5 m", "stiffness": "30 N/m^3"},
            "release": {"height": "4 m"},
            "carrier": {
                **{"mass": "1 t", "inertia": ["1000 kg*m^2"] * 3},
                "position": ["0 m", "0 m", f"{FAR} m"],
            },
            "stop": {"duration": "1 s"},
        }
    else:
        own = {
            "kind": "capture",
            "asteroid": {
                **{"length": "8 m", "facets": 80, "mass": "500 t", "spin": "0.5 rpm"},
                "position": ["0 m", "0 m", f"{FAR} m"],
            },
            "stop": {"duration": "1 s"},
        }
    return merged(own, parts)


# -- places of use -------------------------------------------------------------------------------

USES = ("simulate", "batch", "scenario file", "campaign", "report", "GPU")


def used(cell: Cell, folder: pathlib.Path) -> Any:
    """Use a cell where it says; codes of outcomes, or None where they are not looked at."""
    if cell.use in ("campaign", "report"):
        with tempfile.TemporaryDirectory() as out:
            table = merged(cell.file, {"campaign": {"runs": 2}})
            campaign = run_campaign(
                from_dict(table, "file", folder), out=out, device="cpu", show="silent"
            )
            if cell.use == "report":
                write(campaign.open())
        return None
    if cell.use == "scenario file":
        prepare(from_dict(cell.file, "file", folder), device="cpu").simulate("cpu")
        return None
    model, release = cell.make()
    if cell.use == "simulate":
        simulate(model, release, device="cpu")
        return None
    if cell.use == "GPU":
        gpus = [d.name for d in devices.available() if d.name != "cpu"]
        return run_batch(model, release, device=gpus[0]).outcome if gpus else None
    return run_batch(model, release, device="cpu").outcome


# -- the cells -----------------------------------------------------------------------------------


def _rows() -> Iterator[tuple[str, Member, Member]]:
    """Landers by their contact laws; more than one tree with the law of trees alone."""
    for vehicle in axes.VEHICLES[:-2]:
        for contact in axes.CONTACTS:
            hertz = contact.name == "springs of Hertz"
            if vehicle.name in ("tree on its belly", "lander of paper 002") and not hertz:
                continue
            yield f"{vehicle.name}, {contact.name}", vehicle, contact


_Axes = tuple[tuple[str, str, tuple[Member, ...]], ...]
#: Tables: their titles, the axis of their columns, and its members.
_GROUNDS: _Axes = (
    ("Ground", "ground", axes.GROUNDS),
    ("Ground that varies", "varied", axes.VARIED),
)
_PULLS: _Axes = (
    ("Gravity", "gravity", axes.GRAVITIES),
    ("Rotation of the target", "rotation", axes.ROTATIONS),
    ("External pushes", "external", axes.EXTERNALS),
    ("Actuators", "actuator", axes.ACTUATORS),
)


def cells() -> Iterator[Cell]:
    """All compositions of the matrix."""
    for title, axis, members in _GROUNDS:
        for row, vehicle, contact in _rows():
            for member in members:
                yield _cell(title, row, member, axis, vehicle, contact)
    bearing = {"rigid box": "clipped springs", "tree on pads": "springs of Hertz"}
    for title, axis, members in _PULLS:
        for name, law in bearing.items():
            vehicle, contact = pick(axes.VEHICLES, name), pick(axes.CONTACTS, law)
            for member in members:
                yield _cell(title, name, member, axis, vehicle, contact)
        for name in (DROP, CAPTURE):
            for member in members:
                other = {axis: member}
                file = caught_file(name, **other)
                yield Cell(title, name, member.name, functools.partial(caught, name, **other), file)
    yield from _places()


def _places() -> Iterator[Cell]:
    """One composition of each kind of motion in every place of use."""
    for name in ("rigid box", "tree on pads", DROP, CAPTURE):
        if name in (DROP, CAPTURE):
            make, file = functools.partial(caught, name), caught_file(name)
        else:
            law = "clipped springs" if name == "rigid box" else "springs of Hertz"
            both = pick(axes.VEHICLES, name), pick(axes.CONTACTS, law)
            make, file = functools.partial(landing, *both), landing_file(*both)
        for use in USES:
            yield Cell("Place of use", name, use, make, file, use)


def _cell(
    title: str, row: str, member: Member, axis: str, vehicle: Member, contact: Member
) -> Cell:
    other = {axis: member}
    make = functools.partial(landing, vehicle, contact, **other)
    return Cell(title, row, member.name, make, landing_file(vehicle, contact, **other))


# -- walking -------------------------------------------------------------------------------------


def look(cell: Cell, folder: pathlib.Path, device: str | None) -> Found:
    """Make a cell both ways, and run it on ``device`` if there is one."""
    python = file = defect = None
    try:
        model, release = cell.make()
        model.loop()
        if cell.use == "report":
            kind = cell.file.get("kind", "landing")
            kind_of(types.SimpleNamespace(scenario={"kind": kind}, folder="this"))  # type: ignore[arg-type]
        if device is not None:
            codes = (
                used(cell, folder) if cell.use else run_batch(model, release, device=device).outcome
            )
            if codes is not None and int(codes[0]) >= FIRST_FAILURE:
                defect = f"its run ended with code {int(codes[0])}"
    except AlightError as cause:
        python = _reason(cause)
    except Exception as cause:  # what a user would see as a traceback
        defect = f"from Python: {type(cause).__name__}: {cause}"
    try:
        group = prepare(from_dict(cell.file, "file", folder), device="cpu").nominal()
        _ = group.model, group.release
    except AlightError as cause:
        file = _reason(cause)
    except Exception as cause:
        defect = f"from a file: {type(cause).__name__}: {cause}"
    if python is not None and file is None and not cell.use:
        defect = f"a file may say what Python refuses: {python}"
    return Found(python, file, defect)


def _reason(cause: AlightError) -> str:
    """What a refusal says, things named by their classes alone."""
    text = " ".join(str(cause).split()).removeprefix("file: ")
    text = re.sub(r"^([A-Z]\w+)\(.*\) is among", r"\1 is among", text)
    text = re.sub(r"^<.*\.(\w+) object at \w+> is among", r"\1 is among", text)
    return re.sub(r"(?<= is )([A-Z]\w+)\(.*?\)(?=; (?:it must|a whole|linear))", r"\1", text)


def walk(
    device: str | None = "cpu", only: str = "", tell: Callable[[str], None] | None = None
) -> dict[tuple[str, str, str], Found]:
    """What becomes of every cell, or of those with ``only`` in their names.

    Without a ``device`` models are made and not run.
    """
    out: dict[tuple[str, str, str], Found] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        axes.mesh().save(folder / "ball.obj", unit="m")
        (folder / "ground.csv").write_text(axes.MAP_FILE, encoding="utf-8")
        for cell in cells():
            key = (cell.table, cell.row, cell.column)
            if only not in " / ".join(key):
                continue
            start = time.monotonic()
            out[key] = look(cell, folder, device)
            if tell is not None:
                tell(f"{' / '.join(key)}: {_said(out[key])} ({time.monotonic() - start:.1f} s)")
    return out


def _said(found: Found) -> str:
    if found.defect is not None:
        return f"DEFECT: {found.defect}"
    if found.python is not None:
        return f"refused: {found.python}"
    return "runs" if found.file is None else f"runs; not from a file: {found.file}"


# -- the page ------------------------------------------------------------------------------------

HEAD = """# What composes with what

Made by `python -m tools.matrix`, which makes one small model of each cell from Python and from a
scenario file and runs it until it has touched the ground (`make matrix`), or, with `--no-run`,
makes it alone: a test does so and compares with this page, which says what is accepted; `make
validate` runs all cells. runs: from both. *Python*: from Python alone; the reason that a file gives
stands below. –: refused, with the reason below. `--device cuda:0` walks the same cells on a GPU;
the column of GPUs is walked where there is one.
"""


def page(found: dict[tuple[str, str, str], Found]) -> str:
    """``docs/reference/matrix.md``."""
    out = [HEAD]
    for title in dict.fromkeys(table for table, _, _ in found):
        own = {(row, column): f for (table, row, column), f in found.items() if table == title}
        out.append(_table(title, own))
    return "\n".join(out)


def _table(title: str, found: dict[tuple[str, str], Found]) -> str:
    rows = list(dict.fromkeys(row for row, _ in found))
    columns = list(dict.fromkeys(column for _, column in found))
    reasons: dict[str, int] = {}
    lines = [f"## {title}", "", f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for row in rows:
        marks = [_mark(found[row, column], reasons) for column in columns]
        lines.append(f"| {row} | {' | '.join(marks)} |")
    lines.append("")
    lines += [f"{number}. {reason}" for reason, number in reasons.items()]
    return "\n".join([*lines, ""])


def _mark(found: Found, reasons: dict[str, int]) -> str:
    if found.defect is not None:
        return f"**defect: {found.defect}**"
    reason = found.python or found.file
    if reason is None:
        return "runs"
    number = reasons.setdefault(reason, len(reasons) + 1)
    return f"– ({number})" if found.python is not None else f"*Python* ({number})"


def main() -> int:
    """Walk, and write the page where all of it was walked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cells with this in their names; no page")
    parser.add_argument("--no-run", action="store_true", help="make models without running them")
    parser.add_argument("--device", default="cpu", help='where they are run: "cpu", "cuda:0"')
    given = parser.parse_args()
    device = None if given.no_run else given.device
    found = walk(device, given.only, lambda line: print(line, flush=True))
    defects = [key for key, one in found.items() if one.defect is not None]
    if not given.only:
        PAGE.write_text(page(found), encoding="utf-8")
    print(f"{len(found)} cells, {len(defects)} defects")
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
