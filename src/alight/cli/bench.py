"""``alight bench``: how fast Alight computes on this machine, after checking that it is right.

A benchmark is a list of cases; a case is a function of a ``Setting`` that returns rows. To add
one, write the function and name it in ``GRAVITY``. Times are wall clock, medians over repeats;
where another tool is compared, the two are timed turn by turn and the ratio is the median of the
turns' ratios, so that a busy machine slows both.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alight.cli import screen
from alight.cli.help_screens import Application
from alight.cli.options import Device as DeviceOption
from alight.core.errors import MissingExtraError

if TYPE_CHECKING:
    import numpy as np
    from rich.table import Table

    from alight.core.devices import Device
    from alight.gravity import Gravity
    from alight.gravity.polyhedron.field import Polyhedron
    from alight.shapes.mesh import Mesh

app = Application(help="Benchmark Alight on this machine, after checking its results.")

#: Extra that brings the tool compared with.
PEER_EXTRA = "dev"


@dataclass(frozen=True)
class Row:
    """One figure of a benchmark."""

    what: str
    """What was timed."""
    value: float
    """Time of Alight, in ``unit``."""
    unit: str
    """Such as "ns/facet/point"."""
    asked: float | None = None
    """What it may take at most, in ``unit``; None where nothing is asked."""
    peer: float | None = None
    """Time of the tool compared with, in ``unit``."""
    ratio: float | None = None
    """How many times faster: than the tool compared with, or than one thread."""
    ratio_asked: float | None = None
    """How many times faster it must be at least."""
    error: float | None = None
    """Largest relative error of the accelerations, found before timing."""
    error_allowed: float = 1e-9

    @property
    def right(self) -> bool:
        """True when the accelerations were right (or there was nothing to check)."""
        return self.error is None or self.error <= self.error_allowed

    @property
    def holds(self) -> bool:
        """True when the figure is right and as fast as asked."""
        fast = self.asked is None or self.value <= self.asked
        ahead = self.ratio is None or self.ratio_asked is None or self.ratio >= self.ratio_asked
        return self.right and fast and ahead


@dataclass
class Setting:
    """What the cases of a benchmark run with."""

    device: Device
    repeats: int = 5
    peer: Any = None
    """The module ``polyhedral_gravity``; None where it is not installed."""
    say: Callable[[str], None] = field(default=lambda text: None)


Case = Callable[[Setting], Iterable[Row]]


# ---------------------------------------------------------------------------------------------
# Timing
# ---------------------------------------------------------------------------------------------


def seconds(call: Callable[[], object]) -> float:
    """Wall time of one call [s]."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def median_time(call: Callable[[], object], repeats: int) -> float:
    """Median wall time of a call [s], after one call to warm up."""
    call()
    return statistics.median(seconds(call) for _ in range(repeats))


def turn_by_turn(
    one: Callable[[], object], other: Callable[[], object], repeats: int, per_other: float
) -> tuple[float, float, float]:
    """Median times of two calls [s] and the median of ``per_other`` x other / one, interleaved.

    ``per_other`` is the work of ``one`` over that of ``other``.
    """
    one()
    other()
    turns = [(seconds(one), seconds(other)) for _ in range(repeats)]
    ratio = statistics.median(per_other * b / a for a, b in turns)
    return statistics.median(a for a, _ in turns), statistics.median(b for _, b in turns), ratio


# ---------------------------------------------------------------------------------------------
# Gravity
# ---------------------------------------------------------------------------------------------


def lumpy_body(vertices: int) -> Mesh:
    """An irregular body of ``2 vertices - 4`` facets, about a kilometre across."""
    import numpy as np

    from alight.shapes.icosphere import sphere_points_mesh
    from alight.shapes.mesh import Mesh

    ball = sphere_points_mesh(vertices)
    bump = 1.0 + 0.15 * np.sin(4.0 * ball.vertices[:, [1, 2, 0]] + 0.5)
    return Mesh(500.0 * ball.vertices * bump * [1.0, 0.8, 0.7], ball.faces)


def points_around(mesh: Mesh, count: int) -> np.ndarray:
    """Points from just above the bounding sphere to three times its radius, in a fixed order."""
    import numpy as np

    rng = np.random.default_rng(20_140_806)
    way = rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    return np.asarray(mesh.bounding_radius * way * rng.uniform(1.05, 3.0, (count, 1)))


def series_error(law: Polyhedron, device: Device) -> float:
    """Largest error of g at three radii, against an exterior series of degree 30."""
    from alight.gravity.multipole import Multipole

    series = Multipole.from_mesh(law.mesh, gm=law.gm, degree=30)
    way = points_around(law.mesh, 64)
    points = series.center + 3.0 * series.radius * way / _length(way)[:, None]
    exact = series.evaluate(points, "cpu")[1]
    return float((_length(law.evaluate(points, device.name)[1] - exact) / _length(exact)).max())


def _length(vectors: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.asarray(np.linalg.norm(vectors, axis=-1))


class Peer:
    """The same body in the package ``polyhedral_gravity``, on one core."""

    def __init__(self, module: Any, law: Polyhedron) -> None:
        body = module.Polyhedron(
            (law.mesh.vertices, law.mesh.faces),
            law.density,
            integrity_check=module.PolyhedronIntegrity.DISABLE,
        )
        self._evaluate = module.GravityEvaluable(body)

    def __call__(self, points: np.ndarray) -> Any:
        """Potential, acceleration and six second derivatives of each point, as a list."""
        return self._evaluate(points, parallel=False)

    def error(self, law: Polyhedron, points: np.ndarray) -> float:
        """Largest relative difference of the accelerations."""
        import numpy as np

        theirs = np.array([row[1] for row in self(points)])
        ours = law.evaluate(points, "cpu")[1]
        return float((_length(ours - theirs) / _length(theirs)).max())


#: Vertices of the bodies, and points for half a second of ours and of theirs.
SIZES = ((642, 32_768, 1_536), (10_242, 2_048, 96), (100_002, 256, 12))


def polyhedron_on_one_core(setting: Setting) -> Iterable[Row]:
    """U, g and gradient at three sizes, one thread, against polyhedral-gravity on one core."""
    from alight.core.devices import resolve
    from alight.gravity.polyhedron.field import Polyhedron

    for vertices, count, peer_count in SIZES:
        law = Polyhedron(lumpy_body(vertices), 1950.0)
        facets = law.mesh.n_faces
        setting.say(f"polyhedron, {facets} facets, one core")
        error = series_error(law, resolve("cpu"))
        points = points_around(law.mesh, count)
        work = count * facets * 1e-9

        def ours(law: Polyhedron = law, points: np.ndarray = points) -> object:
            return law.evaluate(points, "cpu", threads=1)

        title, unit = f"polyhedron, {facets} facets, 1 core", "ns/facet/point"
        if setting.peer is None:
            value = median_time(ours, setting.repeats) / work
            yield Row(title, value, unit, asked=25.0, error=error)
            continue
        peer, few = Peer(setting.peer, law), points[:peer_count]
        error = max(error, peer.error(law, few))

        def theirs(peer: Peer = peer, few: np.ndarray = few) -> object:
            return peer(few)

        share = count / peer_count
        mine, other, ratio = turn_by_turn(ours, theirs, setting.repeats, share)
        other *= share / work
        yield Row(title, mine / work, unit, 25.0, other, ratio, ratio_asked=10.0, error=error)


def polyhedron_on_two_threads(setting: Setting) -> Iterable[Row]:
    """The smallest body on two threads, against one."""
    from alight.core.devices import thread_count
    from alight.gravity.polyhedron.field import Polyhedron

    if thread_count() < 2:
        return
    vertices, count, _ = SIZES[0]
    law = Polyhedron(lumpy_body(vertices), 1950.0)
    points = points_around(law.mesh, count)
    setting.say("polyhedron, two threads")
    two, _, ratio = turn_by_turn(
        lambda: law.evaluate(points, "cpu", threads=2),
        lambda: law.evaluate(points, "cpu", threads=1),
        setting.repeats,
        1.0,
    )
    facets = law.mesh.n_faces
    value = two / (count * facets) * 1e9
    title = f"the same, {facets} facets, 2 threads (faster than 1)"
    yield Row(title, value, "ns/facet/point", ratio=ratio)


def polyhedron_on_gpu(setting: Setting) -> Iterable[Row]:
    """A million points on a GPU: the sums alone, and with the copies to and from the host."""
    from alight.gravity.polyhedron.field import Polyhedron

    if not setting.device.is_gpu:
        return
    vertices, count = SIZES[0][0], 1_000_000
    law = Polyhedron(lumpy_body(vertices), 1950.0)
    points = points_around(law.mesh, count)
    setting.say(f"polyhedron, {law.mesh.n_faces} facets, {setting.device.label}")
    error = series_error(law, setting.device)
    launch = on_device(law, points, setting.device)
    title = f"polyhedron, {law.mesh.n_faces} facets, 1e6 points, {setting.device.label}"
    per_point = 1e6 / count
    kernel = median_time(launch, 4 * setting.repeats) * per_point
    yield Row(title, kernel, "us/point", asked=0.05, error=error)
    whole = median_time(lambda: law.evaluate(points, setting.device.name), setting.repeats)
    yield Row(f"{title}, with copies", whole * per_point, "us/point", error=error)


def on_device(law: Polyhedron, points: np.ndarray, device: Device) -> Callable[[], None]:
    """A call that evaluates ``law`` with points and results that stay on the device."""
    import warp as wp

    from alight.core import devices
    from alight.core.types import mat33, scalar, vec3
    from alight.gravity.lanes import width_for
    from alight.gravity.polyhedron.field import lane_kernel

    n, width = len(points), width_for(device.is_gpu)
    x = wp.array(points, dtype=vec3, device=device.name)
    out = [wp.empty(n, dtype=kind, device=device.name) for kind in (scalar, vec3, mat33)]
    inputs, kernel, items = [law.data(device), x, n, *out], lane_kernel(width), -(-n // width)

    def launch() -> None:
        devices.launch(kernel, items, inputs, device)
        device.synchronize()

    return launch


def cached_field(setting: Setting) -> Iterable[Row]:
    """A table of the middle body: how long it takes to build, and what an acceleration costs."""
    from alight.gravity import CachedField, Polyhedron

    law = Polyhedron(lumpy_body(SIZES[1][0]), 1950.0)
    facets, unit = law.mesh.n_faces, "us/point"
    setting.say(f"cached field, {facets} facets: building")
    table = CachedField(law, store=False, device=setting.device.name)
    where = "1 core" if setting.device.is_cpu else setting.device.label
    size, error = table.report.nbytes / 1e6, table.report.max_error
    title = f"cached field, {facets} facets, {size:.0f} MB: built with every core"
    yield Row(title, table.report.seconds, "s", error=error, error_allowed=1e-5)
    count = 200_000 if setting.device.is_cpu else 2_000_000
    far = points_around(law.mesh, count) * 5.0 / 3.0
    near = law.mesh.vertices[law.mesh.faces].mean(axis=1) * (1.0 + 1e-4)
    sets = (("bounding sphere to 5 radii", far, 0.5), ("on the surface", near, None))
    for name, points, asked in sets:
        setting.say(f"cached field, {name}")
        some = points[:: max(1, len(points) // 64)]
        exact = law.acceleration(some, setting.device.name)
        found = table.acceleration(some, setting.device.name)
        error = float((_length(found - exact) / _length(exact)).max())
        mine, other, ratio = turn_by_turn(
            acceleration_call(table, points, setting.device),
            functools.partial(law.evaluate, some, setting.device.name, threads=1),
            setting.repeats,
            len(points) / len(some),
        )
        mine, other = mine / len(points) * 1e6, other / len(some) * 1e6
        title = f"the same, {name}, {where} (faster than the polyhedron)"
        yield Row(title, mine, unit, asked, other, ratio, error=error, error_allowed=1e-5)


def acceleration_call(law: Gravity, points: np.ndarray, device: Device) -> Callable[[], None]:
    """A call that finds accelerations on one thread, or on a GPU with all data staying there."""
    launch = law.prepared(points, device, threads=1)[0]

    def call() -> None:
        launch()
        device.synchronize()

    return call


#: The cases of ``alight bench gravity``, in the order of its table.
GRAVITY: list[Case] = [
    polyhedron_on_one_core,
    polyhedron_on_two_threads,
    polyhedron_on_gpu,
    cached_field,
]


# ---------------------------------------------------------------------------------------------
# The command
# ---------------------------------------------------------------------------------------------


def find_peer() -> tuple[Any, str]:
    """The package compared with, or None and a line that says how to get it."""
    from alight.core.extras import require

    try:
        return require("polyhedral_gravity", PEER_EXTRA), ""
    except MissingExtraError:
        return None, (
            'no comparison: "polyhedral-gravity" is not installed; '
            f'run pip install "alight[{PEER_EXTRA}]" to compare'
        )


def run_cases(cases: Iterable[Case], setting: Setting) -> list[Row]:
    """Every row of the cases, in order."""
    return [row for case in cases for row in case(setting)]


@app.command("gravity")
def gravity(
    device: DeviceOption = "auto",
    repeats: Annotated[int, typer.Option(min=1, help="Timings of which the median counts.")] = 5,
) -> None:
    """Potential, acceleration and gradient of polyhedra, against polyhedral-gravity if installed.

    The exit code is 1 when a field is wrong, whatever its speed.
    """
    from rich.text import Text

    from alight.core.devices import resolve

    console = screen.console()
    peer, line = find_peer()
    with console.status("") as status:
        setting = Setting(resolve(device), repeats, peer, lambda text: status.update(Text(text)))
        rows = run_cases(GRAVITY, setting)
    console.print(table_of("Gravity", rows))
    if line:
        console.print(Text(line), soft_wrap=True)
    raise typer.Exit(0 if all(row.right for row in rows) else 1)


COLUMNS = ("case", "unit", "Alight", "peer", "faster", "error", "asked")


def cells(row: Row) -> tuple[str, ...]:
    """The texts of a row's columns."""
    asked = [] if row.asked is None else [f"{row.asked:g}"]
    if row.ratio_asked is not None and row.ratio is not None:
        asked.append(f"{row.ratio_asked:g} x")
    verdict = "" if not asked else (": yes" if row.holds else ": no")
    return (
        row.what,
        row.unit,
        f"{row.value:.3g}",
        "" if row.peer is None else f"{row.peer:.3g}",
        "" if row.ratio is None else f"{row.ratio:.3g} x",
        "" if row.error is None else f"{row.error:.1e}" + ("" if row.right else " WRONG"),
        ", ".join(asked) + verdict,
    )


def table_of(title: str, rows: Iterable[Row]) -> Table:
    """The rows as a table for a terminal."""
    table = screen.table(COLUMNS, (cells(row) for row in rows), title=title)
    for name in ("unit", "Alight", "faster"):
        table.columns[COLUMNS.index(name)].no_wrap = True
    return table


def markdown_of(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"
