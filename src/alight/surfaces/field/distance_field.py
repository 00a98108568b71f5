"""DistanceField: the signed distance to a mesh from a table, in constant time, error measured.

Near the surface the distance is interpolated between nodes ``spacing`` apart; farther away,
nested coarser grids tell a distance that is a little too small, never too large, and beyond them
the distance to a ball around the body. See ``bricks`` for how it is read, ``build`` for how
it is filled and ``bounds`` for its slope and curvature.
"""

import dataclasses
import os
import time
from typing import Any

import numpy as np

from alight.core import devices
from alight.core.checks import Array, checked_number
from alight.core.errors import InputError, unknown_name
from alight.core.progress import Progress, progress
from alight.shapes.mesh import Mesh
from alight.surfaces.field import build
from alight.surfaces.field import store as field_store
from alight.surfaces.field.bounds import bounds_kernels, measure
from alight.surfaces.field.bricks import DEGREES, Bricks, bricks_point
from alight.surfaces.field.build_kernels import build_kernels
from alight.surfaces.law import Bounds, Surface, _point_kernel

#: Default half thickness of the layer in which the distance is exact, and the least, in spacings.
BAND = 4.0
LEAST_BAND = 4.0

_CHECK_POINTS = 20_000


@dataclasses.dataclass(frozen=True)
class FieldReport:
    """What a distance field achieves, measured against its mesh at random points of the surface."""

    rms_error: float
    """Root mean square of the distance there, which should be zero [m]."""
    max_error: float
    """Largest distance there [m]."""
    rms_normal_error: float
    """Root mean square angle between the field's normal and the facet's [rad]."""
    max_normal_error: float
    """Largest such angle [rad]; at sharp edges of the mesh any smooth normal differs."""
    points: int
    """Number of random points."""
    slope: float
    """Largest length of the gradient anywhere outside and down to the band's depth."""
    curvature: float
    """Largest second derivative there [1/m]; infinite for trilinear fields."""
    nbytes: int
    """Size of the field on a device [bytes]."""
    bricks: int
    """Bricks of 512 coefficients, on all levels."""
    levels: int
    """Nested grids."""
    seconds: float
    """Time the field took to build [s]; 0 when it was read from disk."""

    def __str__(self) -> str:
        angle = np.degrees([self.rms_normal_error, self.max_normal_error])
        return (
            f"surface within {self.max_error:.2g} m of the mesh (rms {self.rms_error:.2g} m), "
            f"normal rms {angle[0]:.2g} deg (max {angle[1]:.2g}); slope up to {self.slope:.3f}, "
            f"curvature up to {self.curvature:.3g} /m; {self.nbytes / 1e6:.0f} MB in "
            f"{self.levels} levels, built in {self.seconds:.1f} s"
        )


class DistanceField(Surface):
    """The surface of a mesh as a field of signed distances; made by ``from_mesh``.

    The touched surface is where the field is zero; ``report`` has how far it is from the mesh.
    """

    Data = Bricks
    report: FieldReport

    def __init__(self, tables: build.Tables, interpolation: str, band: float) -> None:
        self.tables = tables
        self.interpolation = interpolation
        self.band = band
        self.point = bricks_point(DEGREES[interpolation])
        self._devices: dict[str, Any] = {}

    @classmethod
    def from_mesh(
        cls,
        mesh: Mesh,
        spacing: float = 2.0,
        *,
        band: float | None = None,
        interpolation: str = "smooth",
        store: bool | str | os.PathLike[str] = True,
        device: str = "auto",
        memory: float = 4e9,
        progress: str | Progress = "silent",
    ) -> "DistanceField":
        """Build the field of a closed mesh, or read it from disk if it was built before.

        Parameters
        ----------
        spacing:
            Distance of nodes next to the surface [m].
        band:
            The distance is interpolated up to this far from the surface [m]; default and least:
            four spacings. Over two more it fades into coarser grids, which hold a lower bound.
        interpolation:
            ``"smooth"``: quadratic splines, whose normal is continuous. ``"trilinear"``: linear
            between nodes, whose normal jumps between cells (paper 004).
        store:
            Keep the field on disk: True in the user's cache folder, a path elsewhere, False not.
        device:
            Where to build it.
        memory:
            Most that the field may take while it is built [bytes].
        progress:
            How to report: "silent", "auto", "text", "rich", or a ``Progress``.
        """
        plan = _checked_plan(mesh, spacing, band, interpolation, memory)
        place = field_store.folder(store)
        name = field_store.key(plan)
        stored = field_store.load(name, place)
        if stored is not None:
            field = cls(stored[0], interpolation, plan.band)
            field._adopt(FieldReport(**{**stored[1], "seconds": 0.0}))
            return field
        field = cls._built(plan, interpolation, devices.resolve(device), progress)
        field_store.save(name, place, field.tables, dataclasses.asdict(field.report))
        return field

    @classmethod
    def _built(
        cls,
        plan: build.BuildPlan,
        interpolation: str,
        device: devices.Device,
        kind: str | Progress,
    ) -> "DistanceField":
        began = time.perf_counter()
        point = _point_kernel(bricks_point(plan.degree), cls.Data)
        wanted = [*build_kernels(plan.degree), *bounds_kernels(plan.degree), point]
        devices.compile_together([(kernel, device, 256) for kernel in wanted])
        with progress(kind) as bar:
            tables = build.build(plan, device, bar)
            field = cls(tables, interpolation, plan.band)
            data = field.data(device)
            bounds = measure(tables, data, plan.degree, plan.band, device, bar)
        error, angle = field._errors(plan.mesh, device)
        field._adopt(
            FieldReport(
                rms_error=float(np.sqrt(np.mean(error**2))),
                max_error=float(np.abs(error).max()),
                rms_normal_error=float(np.sqrt(np.mean(angle**2))),
                max_normal_error=float(angle.max()),
                points=len(error),
                slope=bounds.slope,
                curvature=bounds.curvature,
                nbytes=tables.nbytes,
                bricks=sum(len(level.bricks) for level in tables.levels),
                levels=len(tables.levels),
                seconds=time.perf_counter() - began,
            )
        )
        return field

    def _adopt(self, report: FieldReport) -> None:
        self.report = report

    def bounds_to(self, depth: float) -> Bounds:
        """Measured, down to the depth of the band."""
        if depth > self.band:
            raise InputError(
                f"the slope and curvature of {self!r} are known down to its band, {self.band:g} m, "
                f"not to a depth of {depth:g} m. Build it with band={depth:.3g} or more, or make "
                "the hills on it lower."
            )
        return Bounds(self.report.slope, self.report.curvature)

    def _errors(self, mesh: Mesh, device: devices.Device) -> tuple[Array, Array]:
        """Distance and angle of the normal at points spread evenly over the mesh."""
        points, face = surface_points(mesh, _CHECK_POINTS, seed=1)
        distance, normal = self.query(points, device.name)
        facet = mesh.face_normals[face]
        across = np.linalg.norm(np.cross(normal, facet), axis=1)
        return distance, np.arctan2(across, np.einsum("ij,ij->i", normal, facet))

    @property
    def spacing(self) -> float:
        """Distance of nodes next to the surface [m]."""
        return self.tables.spacing

    def data(self, device: devices.Device) -> Any:
        """Tables on ``device``, copied there once."""
        if device.name not in self._devices:
            self._devices[device.name] = build.bricks_data(self.tables, device)
        return self._devices[device.name]

    def __repr__(self) -> str:
        return (
            f"DistanceField({self.interpolation}, spacing {self.spacing:g} m, band "
            f"{self.band:g} m, {self.tables.nbytes / 1e6:.1f} MB)"
        )


def surface_points(mesh: Mesh, count: int, seed: int) -> tuple[Array, Any]:
    """Random points spread evenly over a mesh's surface [m], and the facets they are on."""
    rng = np.random.default_rng(seed)
    face = rng.choice(mesh.n_faces, count, p=mesh.face_areas / mesh.face_areas.sum())
    weight = rng.dirichlet([1.0, 1.0, 1.0], count)
    return np.einsum("ij,ijk->ik", weight, mesh.vertices[mesh.faces[face]]), face


def _checked_plan(
    mesh: Mesh, spacing: float, band: float | None, interpolation: str, memory: float
) -> build.BuildPlan:
    """What is to be built, or an error that says what cannot be."""
    if not isinstance(mesh, Mesh):
        raise InputError(f"mesh is {type(mesh).__name__}; a distance field is built from a Mesh.")
    if interpolation not in DEGREES:
        raise unknown_name("interpolation", interpolation, DEGREES)
    h = checked_number("spacing [m]", spacing)
    thinnest = float(mesh.extent.min())
    if h > thinnest / 2.0:
        raise InputError(
            f"spacing is {h:g} m, but the body is only {thinnest:g} m across at its thinnest: a "
            f"grid that coarse does not see it. Use at most {thinnest / 2.0:.3g} m; a hundredth "
            f"of the body, {float(mesh.extent.max()) / 100.0:.2g} m, is a good start."
        )
    width = BAND * h if band is None else checked_number("band [m]", band)
    if width < LEAST_BAND * h:
        raise InputError(
            f"band is {width:g} m; it must be at least {LEAST_BAND:g} spacings, "
            f"{LEAST_BAND * h:g} m, for coarser grids to take over."
        )
    limit = checked_number("memory [bytes]", memory)
    return build.BuildPlan(mesh, h, width, DEGREES[interpolation], limit)
