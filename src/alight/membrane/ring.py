"""Where a membrane hangs: its suspension points, checked, in order, in axes of their own.

Axes ``M`` of a membrane: the origin is the mean of the suspension points, z stands on their plane
toward the side the body comes from, x points to the first of them. All geometry is done in these
axes: there every suspension point has z = 0 exactly, so that the sign of "below" and of every
volume with two suspension points loses no digits, however shallow the contact.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array, checked_vector
from alight.core.errors import InputError
from alight.core.types import mat33, scalar, vec3

#: Suspension points are moved by this part of their reach, along their plane. It breaks the ties
#: of bodies that are as regular as the membrane: four points of a hull are then never in one plane
#: by construction, and signs are far from rounding (1e-16). Areas are off by as little.
APART = 1e-11
#: A vertex is below the plane if it is deeper than this part of the reach.
SHALLOW = 1e-11
#: Bits of a whole number: suspension points that a facet can see are kept in one.
MOST = 30
#: How far from one plane, as a part of the reach, suspension points may be given.
FLAT = 1e-6


@wp.struct
class RingData:
    """Suspension points in M, and where M is in the axes of what carries them."""

    points: wp.array(dtype=vec3)  # counter-clockwise seen from above [m]
    inward: wp.array(dtype=vec3)  # unit, along the plane, into the polygon from edge i, i + 1
    shallow: scalar  # [m]
    area: scalar  # of the polygon [m^2]; in 2D the length between the points [m]
    beads: wp.array(dtype=vec3)  # of the hoop (see ``hoop``), none without one [m]
    tube: scalar  # their radius [m]
    hoop_stiffness: scalar  # [N/m]
    hoop_damping: scalar  # over the stiffness [s/m]
    origin: vec3  # of M in the carrier's axes [m]
    R: mat33  # from M to the carrier's axes


class Ring:
    """Three or more suspension points on a convex polygon, or two in 2D.

    ``suspension`` is (k, 3) in the axes of what carries the membrane [m], in any order, or (2, 2)
    for a membrane in the plane of x and z. ``up`` points to the side the body comes from.
    """

    def __init__(self, suspension: npt.ArrayLike, up: npt.ArrayLike = (0.0, 0.0, 1.0)) -> None:
        given = _checked(suspension)
        upward = checked_vector("up", up)
        if not np.linalg.norm(upward) > 0.0:
            raise InputError("up is zero; it must point to the side the body comes from.")
        self.planar = given.shape[1] == 2
        points = np.insert(given, 1, 0.0, axis=1) if self.planar else given
        self.origin = points.mean(axis=0)
        self.reach = float(np.linalg.norm(points - self.origin, axis=1).max())
        self.R = _axes_2d(points, upward) if self.planar else _axes(points, upward, self.reach)
        flat = (points - self.origin) @ self.R
        # A point opposite the first is at pi or -pi, as rounding has it: it is always the first.
        angle = np.arctan2(flat[:, 1], flat[:, 0])
        self.order = np.argsort(np.mod(angle + np.pi + FLAT, 2.0 * np.pi))
        if self.planar:
            self.order = np.argsort(flat[:, 0])
        flat = flat[self.order]
        flat[:, 2] = 0.0
        #: (k, 3) as given, in order, in the carrier's axes [m].
        self.suspension = points[self.order]
        self.points, self.inward = _spread(flat, self.reach, self.planar)
        self.area = _size(self.points, self.planar)

    @property
    def count(self) -> int:
        """Number of suspension points."""
        return len(self.points)

    def inside(self, points: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Which points (..., 3) in M lie within the polygon, seen from above."""
        p = np.asarray(points, dtype=np.float64)
        gaps = np.einsum("...ki,ki->...k", p[..., None, :] - self.points, self.inward)
        return np.asarray((gaps > 0.0).all(axis=-1))

    def bead_count(self, hoop: Any = None) -> int:
        """Beads of a ``Hoop`` along its sides."""
        return 0 if hoop is None else len(hoop.places(self.points))

    def data(self, device: devices.Device, hoop: Any = None) -> RingData:
        """The struct for kernels, with the ``Hoop`` along its sides if there is one."""
        data = RingData()
        beads = np.empty((0, 3)) if hoop is None else hoop.places(self.points)
        data.beads = wp.array(beads, dtype=vec3, device=device.name)
        if hoop is not None:
            data.tube, data.hoop_stiffness = hoop.radius, hoop.stiffness
            data.hoop_damping = hoop.damping
        data.points = wp.array(self.points, dtype=vec3, device=device.name)
        data.inward = wp.array(self.inward, dtype=vec3, device=device.name)
        data.shallow = SHALLOW * self.reach
        data.area = self.area
        data.origin = vec3(*self.origin)
        data.R = mat33(*self.R.ravel())
        return data


def hexagon(side: float) -> Array:
    """(6, 3) corners of a regular hexagon about the origin in the plane z = 0 [m]."""
    angle = np.arange(6) * np.pi / 3.0
    return side * np.stack([np.cos(angle), np.sin(angle), np.zeros(6)], axis=1)


def _checked(suspension: npt.ArrayLike) -> Array:
    """Finite points (k >= 3, 3) or (2, 2), none repeated."""
    try:
        given = np.array(suspension, dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise InputError(f"suspension points must be numbers [m]: {cause}") from None
    if given.ndim != 2 or given.shape[1] not in (2, 3) or not np.isfinite(given).all():
        raise InputError(
            f"suspension points have shape {given.shape}; give (k, 3) finite coordinates [m], or "
            "(2, 2) for a membrane in the plane of x and z"
        )
    if given.shape[1] == 2 and len(given) != 2:
        raise InputError(
            f"{len(given)} suspension points were given in 2D; a membrane in a plane hangs from 2"
        )
    if given.shape[1] == 3 and not 3 <= len(given) <= MOST:
        raise InputError(
            f"{len(given)} suspension points were given; a membrane hangs from 3 to {MOST} points "
            "that are not on one line (two points carry a membrane only in 2D: give a pair of x "
            "and z for each)"
        )
    gaps = np.linalg.norm(given[:, None] - given[None], axis=-1) + np.eye(len(given)) * 1e300
    if gaps.min() <= 1e-6 * np.ptp(given, axis=0).max():
        one, other = np.unravel_index(int(gaps.argmin()), gaps.shape)
        raise InputError(f"suspension points {one} and {other} are the same: {given[one]}")
    return given


def _axes(points: Array, up: Array, reach: float) -> Array:
    """M's axes as columns."""
    centred = points - points.mean(axis=0)
    _, sizes, rows = np.linalg.svd(centred)
    if sizes[1] <= 1e-6 * sizes[0]:
        raise InputError(
            f"the {len(points)} suspension points lie on one line, so that they span no membrane; "
            "move one of them off it"
        )
    z = rows[2]
    off = np.abs(centred @ z).max()
    if off > FLAT * reach:
        raise InputError(
            f"the suspension points are up to {off:.3g} m off one plane; a membrane at rest is flat"
        )
    along = float(z @ up) / float(np.linalg.norm(up))
    if abs(along) < 1e-3:
        raise InputError(
            f"up, {up}, lies in the plane of the suspension points; it must point to the side the "
            "body comes from"
        )
    z = z * np.sign(along)
    x = centred[0] - (centred[0] @ z) * z
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _axes_2d(points: Array, up: Array) -> Array:
    """M's axes in the plane of x and z, y across it as the world's."""
    x = (points[1] - points[0]) / np.linalg.norm(points[1] - points[0])
    z = np.cross(x, (0.0, 1.0, 0.0))
    along = float(z @ up)
    if abs(along) < 1e-3 * np.linalg.norm(up):
        raise InputError(
            f"up, {up}, is along the line of the suspension points; it must point to the side the "
            "body comes from"
        )
    sign = np.sign(along)
    return np.stack([sign * x, np.array([0.0, 1.0, 0.0]), sign * z], axis=1)


def _spread(flat: Array, reach: float, planar: bool) -> tuple[Array, Array]:
    """Points with ties broken, and the directions inward; an error unless they are convex."""
    count = len(flat)
    if planar:
        shift = APART * reach * np.array([0.37, -0.61])
        moved = flat + np.stack([shift, np.zeros(2), np.zeros(2)], axis=1)
        return moved, np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    phase = 2.0 * np.pi * np.sqrt(2.0) * np.arange(1, count + 1) ** 2
    shift = np.stack([np.cos(phase), np.sin(phase), np.zeros(count)], axis=1)
    moved = flat + APART * reach * shift
    along = np.roll(moved, -1, axis=0) - moved
    inward = np.cross((0.0, 0.0, 1.0), along)
    inward = inward / np.linalg.norm(inward, axis=1)[:, None]
    gaps = np.einsum("ji,kji->kj", inward, moved[:, None] - moved[None])
    others = ~(np.eye(count, dtype=bool) | np.roll(np.eye(count, dtype=bool), 1, axis=0))
    if not (gaps[others] > 1e-6 * reach).all():
        raise InputError(
            "the suspension points are not the corners of a convex polygon: one of them lies "
            "inside, or on a side; leave it out"
        )
    return moved, inward


def _size(points: Array, planar: bool) -> float:
    """Area of the polygon [m^2], or the length between two points [m]."""
    if planar:
        return float(np.linalg.norm(points[1] - points[0]))
    following = np.roll(points, -1, axis=0)
    return float(0.5 * np.cross(points, following)[:, 2].sum())
