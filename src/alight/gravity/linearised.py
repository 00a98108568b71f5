"""Gravity reused from the last full evaluation while the lander stays close to it.

Paper 000, section 3.2, with the factor 1/2 that its equation 15 lacks (erratum 000-8):

    U(r) = U0 + g0.d + 1/2 d.Gamma0 d,    g(r) = g0 + Gamma0 d,    d = r - r0, |d| <= reach

The neglected term gives g a relative error of 3 (d/R)^2 along the radius and half that across
it, for a ball of radius R (erratum 000-9): 3e-4 at the paper's reach of R/100, 1e-5 near R/550.

A polyhedron errs more than a ball, as its gradient is rough near edges: at the end of a reach of
R/200 from places on or near the ground, R being the bounding radius, 1.1e-3 to 4.1e-3 at one place
of a hundred, 1e-4 to 7e-4 on average (fifteen meshes of eight bodies), and 1.5th powers of the
reach lie above what was found from R/50 to R/800. ``reach_for`` turns that round.
"""

from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.checks import Array, checked_number
from alight.core.errors import InputError
from alight.core.types import scalar, vec3
from alight.gravity.law import FieldValue, Gravity

#: Error at one place of a hundred at the end of a reach of this part of the bounding radius, and
#: the power of the reach with which it grows; see the module's text.
_ERROR, _PART, _POWER = 5e-3, 1.0 / 200.0, 1.5


def reach_for(error: float, radius: float) -> float:
    """The reach [m] that keeps the acceleration of a body of a bounding radius [m] to a relative
    error at 99 of 100 places near its ground; the mean is about a fifth of it."""
    return radius * _PART * float((error / _ERROR) ** (1.0 / _POWER))


@wp.func
def extrapolate(anchor: FieldValue, d: vec3):
    """The field at a displacement ``d`` from where ``anchor`` was evaluated."""
    bend = anchor.gradient * d
    value = FieldValue()
    value.potential = (
        anchor.potential + wp.dot(anchor.acceleration, d) + scalar(0.5) * wp.dot(d, bend)
    )
    value.acceleration = anchor.acceleration + bend
    value.gradient = anchor.gradient
    return value


@wp.kernel(enable_backward=False)
def _extrapolate_all(
    offset: int,
    anchors: wp.array(dtype=FieldValue),
    anchor_of: wp.array(dtype=int),
    displacement: wp.array(dtype=vec3),
    value_out: wp.array(dtype=FieldValue),
) -> None:
    i = wp.tid() + offset
    value_out[i] = extrapolate(anchors[anchor_of[i]], displacement[i])


class Linearised(Gravity):
    """A field evaluated in full only after the lander has moved by ``reach`` [m].

    ``evaluate`` takes its points as successive places of one path, in the order given: the first
    is evaluated in full, and each later one that lies farther than ``reach`` from the last full
    evaluation becomes the next. ``anchors`` returns which would be.
    """

    def __init__(self, field: Gravity, reach: float) -> None:
        if not isinstance(field, Gravity):
            raise InputError(f"field is {field!r}; it must be a gravity law, such as Polyhedron")
        self.full = field
        self.reach = checked_number("reach [m]", reach)

    def __repr__(self) -> str:
        return f"Linearised({self.full!r}, {self.reach:g})"

    def anchors(self, points: Array) -> np.ndarray:
        """For each point of a path, the index of the point whose full evaluation serves it."""
        anchor = np.zeros(len(points), dtype=np.int64)
        start = stop = 0
        look = 16
        while stop < len(points):
            # Look ahead by blocks that grow: never over all of a long path for each anchor.
            block = points[stop : stop + look]
            far = np.linalg.norm(block - points[start], axis=1) > self.reach
            count = int(np.argmax(far)) if far.any() else len(block)
            anchor[stop : stop + count] = start
            stop += count
            if count < len(block):
                start, look = stop, 16
            else:
                look *= 2
        return anchor

    def _evaluate(
        self, points: Array, device: devices.Device, threads: int | None
    ) -> tuple[Array, Array, Array]:
        chosen, anchor_of = np.unique(self.anchors(points), return_inverse=True)
        u, g, gradient = self.full.evaluate(points[chosen], device.name, threads)
        record: Any = FieldValue
        table: Any = np.zeros(len(chosen), dtype=record.numpy_dtype())
        table["potential"], table["acceleration"], table["gradient"] = u, g, gradient
        inputs: list[Any] = [
            wp.array(table, dtype=FieldValue, device=device.name),
            devices.array(anchor_of, int, device),
            devices.array(points - points[chosen][anchor_of], vec3, device),
        ]
        kinds = [FieldValue]
        (value,) = devices.computed(_extrapolate_all, len(points), inputs, kinds, device, threads)
        return value["potential"], value["acceleration"], value["gradient"]
