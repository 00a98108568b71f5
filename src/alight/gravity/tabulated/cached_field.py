"""CachedField: a polyhedron's field from a table, in constant time, to a stated error.

Close to a facet its sharp share is added exactly (``near_facets``); what is left is smooth and
comes from a spline on nested grids (``spline``, filled by ``build``); a few radii out the multipole
series takes over across a shell (``multipole``). All three are gradients of one potential with
continuous second derivatives, so the acceleration has a continuous first derivative everywhere off
the surface and conserves energy as the polyhedron itself does.
"""

import dataclasses
import functools
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array, checked_number, checked_points
from alight.core.errors import InputError
from alight.core.store import Store
from alight.core.types import scalar, vec3
from alight.gravity import multipole
from alight.gravity.law import FieldValue, Gravity
from alight.gravity.polyhedron.field import Polyhedron
from alight.gravity.tabulated import build, near_lists
from alight.gravity.tabulated import store as cached_store
from alight.gravity.tabulated.near_facets import (
    NearLists,
    Patches,
    cut,
    near_field,
    patch_data,
    piece_sizes,
)
from alight.gravity.tabulated.spline import Levels, find_cell, spline_value

#: The table ends and the series begins across this shell, in bounding radii.
SHELL = (5.5, 6.5)
#: Largest piece of a facet, in median facet sizes, and the windows' reach in piece sizes.
PIECE = 1.25
REACH = 3.2
#: A table is taken when its worst check point errs by this share of the tolerance: points that
#: were not checked err by up to a fifth more.
ACCEPTED = 0.8
#: Grid nodes along a window's reach to try, coarsest first.
NODES = (6.0, 7.0, 8.0, 9.0, 10.0, 12.0, 14.0, 17.0, 20.0)


@wp.struct
class CachedData:
    """Near pieces, table and far series, with the shell in which one hands over to the other."""

    patches: Patches
    lists: NearLists
    levels: Levels
    far: multipole.Data
    shell_inner: scalar  # [m]
    shell_outer: scalar  # [m]


@wp.func
def blend(r: scalar, inner: scalar, outer: scalar):
    """Weight of the far series and its first two derivatives in r: 0 to 1 across the shell, C2."""
    width = outer - inner
    t = wp.clamp((r - inner) / width, scalar(0.0), scalar(1.0))
    u = scalar(1.0) - t
    b = t * t * t * (scalar(10.0) + t * (scalar(-15.0) + scalar(6.0) * t))
    slope = scalar(30.0) * t * t * u * u / width
    bend = scalar(60.0) * t * u * (u - t) / (width * width)
    return vec3(b, slope, bend)


@functools.cache
def cached_field(with_gradient: bool, sharp: bool = True) -> Any:
    """The law's kernel function ``(data, x) -> FieldValue``; not ``sharp``, the table alone."""
    near = near_field(with_gradient)
    table = spline_value(with_gradient)
    far_field = multipole.multipole_field(with_gradient)

    @wp.func
    def handed_over(inner: FieldValue, far: FieldValue, d: vec3, b: vec3):
        """The field in the shell: a blend of two potentials, differentiated as one."""
        r = wp.length(d)
        unit = d / r
        du = far.potential - inner.potential
        dg = far.acceleration - inner.acceleration
        value = FieldValue()
        value.potential = inner.potential + b[0] * du
        value.acceleration = inner.acceleration + b[0] * dg + (b[1] * du) * unit
        if wp.static(with_gradient):
            value.gradient = inner.gradient + b[0] * (far.gradient - inner.gradient)
            value.gradient += b[1] * (wp.outer(unit, dg) + wp.outer(dg, unit))
            value.gradient += (du * (b[2] - b[1] / r)) * wp.outer(unit, unit)
            value.gradient += (du * b[1] / r) * wp.identity(n=3, dtype=scalar)
        return value

    @wp.func
    def field(data: CachedData, x: vec3):
        d = x - data.far.center
        r = wp.length(d)
        value = FieldValue()
        if r < data.shell_outer:
            value = table(data.levels, find_cell(data.levels, x))
            if wp.static(sharp):
                close = near(data.patches, data.lists, x)
                value.potential += close.potential
                value.acceleration += close.acceleration
                value.gradient += close.gradient
            if r > data.shell_inner:
                far = far_field(data.far, x)
                b = blend(r, data.shell_inner, data.shell_outer)
                value = handed_over(value, far, d, b)
        else:
            value = far_field(data.far, x)
        return value

    return field


@dataclasses.dataclass(frozen=True)
class CacheReport:
    """What a table achieves, measured against the full polyhedron."""

    max_error: float
    """Largest relative error of the acceleration at the check points."""
    mean_error: float
    """Mean relative error there."""
    points: int
    """Check points: half of them within three facet sizes of the surface."""
    tolerance: float
    """What was asked for."""
    nbytes: int
    """Size of all tables [bytes]."""
    levels: int
    """Nested grids."""
    spacing: float
    """Spacing of the finest grid [m]."""
    reach: float
    """Reach of a facet's exact share [m]."""
    seconds: float
    """Time the tables took to build [s]; 0 when they were read from disk."""

    def __str__(self) -> str:
        return (
            f"acceleration within {self.max_error:.1e} of the polyhedron's (mean "
            f"{self.mean_error:.1e}, at {self.points} points; asked for {self.tolerance:.0e}); "
            f"{self.nbytes / 1e6:.0f} MB in {self.levels} grids, the finest {self.spacing:.3g} m; "
            + (f"built in {self.seconds:.0f} s" if self.seconds else "read from the cache")
        )


class CachedField(Gravity):
    """A polyhedron's gravity from tables: constant time, stated error, smooth.

    Parameters
    ----------
    field:
        The polyhedron law to tabulate.
    tolerance:
        Largest relative error of the acceleration outside the body. It is measured at random
        points from the surface to five radii before the field is handed out; if the finest
        tables within ``memory`` miss it, that is an error.
    memory:
        Most memory the tables may take [bytes].
    store:
        Keep the tables in this folder, or read them from there: a path, True for the user's
        cache folder, False for neither.
    progress:
        "auto", "rich", "text" or "silent".

    ``report`` holds what was achieved. On the surface the gradient of the polyhedron itself
    jumps and has logarithmic poles; the table's follows it there.
    """

    Data = CachedData
    field = cached_field(True)
    flight = cached_field(False)

    def __init__(
        self,
        field: Polyhedron,
        *,
        tolerance: float = 1e-5,
        memory: float = 256e6,
        store: Store = True,
        device: str = "auto",
        progress: str = "silent",
    ) -> None:
        if not isinstance(field, Polyhedron):
            raise InputError(
                f"CachedField tabulates a gravity.Polyhedron; got {type(field).__name__}. "
                "Other laws are quick enough as they are."
            )
        memory = checked_number("memory [bytes]", memory)
        if not (isinstance(tolerance, float) and 1e-7 <= tolerance <= 1e-2):
            raise InputError(
                f"tolerance is {tolerance!r}; a table is made to a relative error between 1e-7 "
                "and 1e-2. For less error use gravity.Polyhedron itself."
            )
        self.full = field
        self.series = field.series
        self.tolerance = tolerance
        self.shell = tuple(s * self.series.radius for s in SHELL)
        self._devices: dict[str, Any] = {}
        target = devices.resolve(device)
        key = cached_store.key(field, self.tolerance)
        tables = cached_store.load(key, store)
        if tables is not None and tables["nbytes"] <= memory:
            self._adopt(tables)
            return
        self._build(target, memory, progress)
        cached_store.save(key, store, self._tables())

    def acceleration(
        self, points: npt.ArrayLike, device: str = "auto", threads: int | None = None
    ) -> Array:
        """Acceleration alone [m/s^2] at points ``(..., 3)`` [m]: cheaper than ``evaluate``."""
        x = checked_points(points, "gravity")
        flat = np.ascontiguousarray(x.reshape(-1, 3))
        launch, g = self.prepared(flat, devices.resolve(device), threads)
        launch()
        return np.asarray(g.numpy()).reshape(x.shape)

    def __repr__(self) -> str:
        return f"CachedField({self.full!r}, max_error={self.report.max_error:.1e})"

    def _build(self, device: devices.Device, memory: float, progress: str) -> None:
        started = time.perf_counter()
        corner = self.full.mesh.vertices[self.full.mesh.faces]
        size = PIECE * float(np.median(piece_sizes(corner)))
        pieces = cut(corner, size)
        self.reach = REACH * size
        cells = near_lists.sort_into_cells(pieces.mean(axis=1), self.reach / 2.0)
        self.pieces = pieces[cells.order]
        patches = patch_data(self.pieces, self._strength, device)
        self.lists = near_lists.near_lists(patches, cells, self.reach, device)
        builder = build.Builder(
            self.pieces, self._strength, self.series, self.reach, self.shell[1], device
        )
        missed: list[str] = []
        for nodes in NODES[self._first_try() :]:
            builder.set_spacing(self.reach / nodes)
            need = builder.bytes_needed() + self._fixed_bytes()
            if need > memory:
                missed.append(f"{nodes:.0f} nodes: would take {need / 1e6:.0f} MB")
                break
            self.spacing, self.origin = builder.spacing, builder.origin
            self.grids = builder.build(progress)
            self._devices.clear()
            worst, mean, count = self._check(device)
            if worst <= ACCEPTED * self.tolerance:
                seconds = time.perf_counter() - started
                self.report = self._report(worst, mean, count, seconds)
                return
            missed.append(f"{nodes:.0f} nodes: error {worst:.1e}")
        raise InputError(
            f"no table of {self.full!r} within {memory / 1e6:.0f} MB keeps a tolerance of "
            f"{self.tolerance:.0e} with a margin (nodes along a window's reach: "
            f"{'; '.join(missed)}). Allow more memory or a larger tolerance, or use the "
            "Polyhedron itself or a simplified mesh."
        )

    def _first_try(self) -> int:
        """Index of the first spacing worth trying: the error falls as nodes^-6 and facet size."""
        expected = 3e-5 * np.sqrt(3072.0 / self.full.mesh.n_faces)
        wanted = 8.0 * (expected / (0.55 * self.tolerance)) ** (1.0 / 6.0)
        return int(np.searchsorted(NODES[:-1], wanted))

    def _check(self, device: devices.Device) -> tuple[float, float, int]:
        """Relative error of the acceleration at random points outside the body."""
        points = check_points(self.full, seed=1)
        g = self.full.evaluate(points, device.name)[1]
        error = np.linalg.norm(self.acceleration(points, device.name) - g, axis=1)
        error /= np.linalg.norm(g, axis=1)
        return float(error.max()), float(error.mean()), len(points)

    def _report(self, worst: float, mean: float, count: int, seconds: float) -> CacheReport:
        return CacheReport(
            max_error=worst,
            mean_error=mean,
            points=count,
            tolerance=self.tolerance,
            nbytes=self._fixed_bytes() + sum(g.nbytes for g in self.grids),
            levels=len(self.grids),
            spacing=self.spacing,
            reach=self.reach,
            seconds=seconds,
        )

    @property
    def _strength(self) -> float:
        return self.full.G * self.full.density

    def _fixed_bytes(self) -> int:
        """Size of the pieces (20 numbers each, one to spare) and of their lists [bytes]."""
        return len(self.pieces) * 20 * 8 + self.lists.start.nbytes + self.lists.piece.nbytes

    def _tables(self) -> dict[str, Any]:
        """All that the disk must keep."""
        return {
            "pieces": self.pieces,
            "reach": self.reach,
            "spacing": self.spacing,
            "origin": self.origin,
            "lists": self.lists,
            "grids": self.grids,
            "report": dataclasses.asdict(self.report),
            "nbytes": self.report.nbytes,
        }

    def _adopt(self, tables: dict[str, Any]) -> None:
        """Take over tables read from disk."""
        for name in ("pieces", "reach", "spacing", "origin", "lists", "grids"):
            setattr(self, name, tables[name])
        self.report = CacheReport(**{**tables["report"], "seconds": 0.0})

    def data(self, device: devices.Device) -> Any:
        """Tables on ``device``, copied there once."""
        if device.name not in self._devices:
            data = CachedData()
            data.patches = patch_data(self.pieces, self._strength, device)
            data.lists = near_lists.lists_data(self.lists, self.reach, device)
            data.levels = build.levels_data(self.grids, self.origin, self.spacing, device)
            data.far = self.series.data(device)
            data.shell_inner, data.shell_outer = self.shell
            self._devices[device.name] = data
        return self._devices[device.name]


def check_points(field: Polyhedron, seed: int, count: int = 4096) -> Array:
    """Points outside a body: half from its surface up to three facet sizes, half out to 5 radii.

    Fewer for large meshes, whose full evaluation takes long.
    """
    mesh = field.mesh
    count = int(np.clip(2e8 / mesh.n_faces, 1024, count)) // 2
    rng = np.random.default_rng(seed)
    face = rng.integers(0, mesh.n_faces, count)
    corner = mesh.vertices[mesh.faces[face]]
    start = np.einsum("ij,ijk->ik", rng.dirichlet([1.0, 1.0, 1.0], count), corner)
    size = float(np.median(piece_sizes(mesh.vertices[mesh.faces])))
    height = 5.0 * size * rng.uniform(0.0, 1.0, (count, 1)) ** 2
    close = start + height * mesh.face_normals[face]
    direction = rng.normal(size=(count, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    radius = 5.0 * field.series.radius * rng.uniform(0.0, 1.0, (count, 1)) ** (1.0 / 3.0)
    points = np.concatenate([close, field.series.center + radius * direction])
    # The trace of the gradient tells inside from outside: -4 pi G rho or 0.
    trace = np.trace(field.evaluate(points)[2], axis1=1, axis2=2)
    return np.asarray(points[trace > -2.5 * np.pi * field.G * field.density])
