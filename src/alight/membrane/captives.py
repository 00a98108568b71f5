"""Bodies of one shape, each of a size of its own: what a membrane meets in many runs at once.

Each has the numbers that it would have alone (``Captive.from_mesh``), to the last bit. What is a
few sums is found for all at once; a convex hull is found for each, and what follows from its facets
for all that have the same facets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.types import scalar, vec3
from alight.membrane.captive import Captive, checked_tensors
from alight.membrane.geometry import CaptiveData
from alight.membrane.hulls import BodyHulls, Index, body_hulls
from alight.shapes import Mesh
from alight.shapes.mass import in_principal_axes, properties_of_each


@dataclass(frozen=True, eq=False)
class Captives:
    """Bodies of uniform density with the same facets; see ``Captive``."""

    mass: Array
    """(n,) [kg]"""
    inertia: Array
    """(n, 3, 3) about the centre of mass [kg m^2]."""
    points: Array
    """(n, V, 3) vertices, from the centre of mass [m]."""
    faces: Index
    """(m, 3) facets."""
    volume: Array
    """(n,) [m^3]"""

    planar = False

    @classmethod
    def of_density(
        cls, vertices: Array, faces: Index, mass: Any, density: Any, most: Any
    ) -> Captives:
        """Bodies with vertices (n, V, 3) [m], of a ``mass`` [kg], or of a ``density`` [kg/m^3]
        where that is None, and then of at most so much mass [kg] if ``most`` is given."""
        volume, center, _ = properties_of_each(vertices, faces)
        if mass is None:
            mass = float(density) * volume
            mass = mass if most is None else np.minimum(mass, float(most))
        mass = np.array(np.broadcast_to(np.asarray(mass, dtype=np.float64), len(vertices)))
        if not (np.isfinite(mass) & (mass > 0.0)).all():
            raise InputError("the mass of the body [kg] must be a positive, finite number")
        points = vertices + -center[:, None]
        own, _, inertia = properties_of_each(points, faces)
        tensors = checked_tensors((mass / volume)[:, None, None] * inertia)
        return cls(mass, tensors, points, faces, own)

    def __len__(self) -> int:
        return len(self.mass)

    @property
    def count(self) -> int:
        """Of bodies, one for each run."""
        return len(self.mass)

    def body(self, run: int) -> Captive:
        """One of them, alone."""
        mesh = Mesh(self.points[run], self.faces, check=False)
        return Captive(float(self.mass[run]), self.inertia[run], self.points[run], mesh)

    @cached_property
    def reach(self) -> Array:
        """(n,) largest distance of a vertex from the centre of mass [m]."""
        return np.asarray(np.linalg.norm(self.points, axis=-1).max(axis=-1))

    @cached_property
    def hulls(self) -> BodyHulls:
        """Vertices, facets and edges of the convex hulls."""
        return body_hulls(self.points)

    @property
    def corners(self) -> Array:
        """(n, V, 3) vertices of the hulls [m]; for those that one lacks its first stands."""
        return self.hulls.corners

    @property
    def room(self) -> tuple[int, int]:
        """Most vertices and facets of a hull."""
        return self.hulls.most("vertices"), self.hulls.most("facets")

    @property
    def lengths(self) -> Array:
        """(n,) extent along the principal axis of the least moment [m]."""
        turned = in_principal_axes(self.points, self.faces)[:, :, 0]
        return np.asarray(turned.max(axis=1) - turned.min(axis=1))

    # -- in kernels ----------------------------------------------------------------------------

    def kernel_data(self, device: devices.Device) -> CaptiveData:
        """The struct for kernels of the first."""
        return self.body(0).kernel_data(device)

    def kernel_rows(self, first: Any, device: devices.Device) -> tuple[Any, Any]:
        """(n,) structs for kernels, as rows like ``first``, and what they point to."""
        rows: Any = np.repeat(first, self.count)
        behind = {name: _placed(rows[name], self.hulls, name, device) for name in _KINDS}
        rows["center"], rows["reach"] = self.hulls.flat["center"], self.reach
        return rows, behind


_KINDS: dict[str, Any] = {
    "vertices": vec3,
    "facets": wp.vec3i,
    "normals": vec3,
    "offsets": scalar,
    "edges": wp.vec4i,
    "shares": scalar,
}


def _placed(rows: Any, hulls: BodyHulls, name: str, device: devices.Device) -> Any:
    """Bring an array of all hulls to a device and let each row point to its part of it."""
    whole = wp.array(hulls.flat[name], dtype=_KINDS[name], device=device.name)
    size = whole.strides[0]
    rows["data"] = (whole.ptr or 0) + size * hulls.first[name].astype(np.uint64)
    rows["shape"][:, 0] = hulls.counts[name]
    return whole
