"""Tumbling: torque-free rotation of a body of any inertia, from a table of one period.

``free_body`` gives the motion in closed form. A kernel reads it from a table: quintic polynomials
through Omega and psi with their exact first and second derivatives at even steps of one period.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices, frames
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.types import mat33, quat, scalar, vec3, vec4
from alight.flight.clock import ClockData, clock_from_period, clock_from_rate, clock_turn
from alight.flight.free_body import FreeBody, solve
from alight.flight.rotation import Rotation, Spin, unit_quaternion

#: Largest error of the table, of Omega as a share of its size, of psi in radians.
TOLERANCE = 1e-13

_LEAST_CELLS, _MOST_CELLS = 32, 8192


@wp.struct
class TumblingData:
    """One period of Omega and psi, and what turns them into an attitude."""

    table: wp.array2d(dtype=vec4)  # (cells, 6): coefficients of Omega (axes a, b, c) and psi
    moments: vec3  # A, B, C
    R_TP: mat33  # axes a, b, c in T axes
    principal: quat  # q_PT
    momentum: quat  # q_NL; L: third axis along the angular momentum, psi = 0 at t = 0
    phase: ClockData  # one turn a period
    turn: ClockData  # the mean of psi, a turn in 4 pi


@wp.func
def tumbling_sample(data: TumblingData, t: scalar) -> vec4:
    """Omega [rad/s] in axes a, b, c, and the periodic part of psi [rad]."""
    cells = data.table.shape[0]
    place = clock_turn(data.phase, t) * scalar(cells)
    i = wp.min(int(place), cells - 1)
    s = place - scalar(i)
    value = data.table[i, 5]
    for k in range(5):
        value = value * s + data.table[i, 4 - k]
    return value


@wp.func
def tumbling_spin(data: TumblingData, t: scalar):
    """Omega from the table; its derivative from Euler's equations."""
    sample = tumbling_sample(data, t)
    w = vec3(sample[0], sample[1], sample[2])
    h = wp.cw_mul(data.moments, w)
    spin = Spin()
    spin.rate = data.R_TP * w
    spin.acceleration = data.R_TP * wp.cw_div(wp.cross(h, w), data.moments)
    return spin


@wp.func
def tumbling_attitude(data: TumblingData, t: scalar) -> quat:
    """q_NL, the turn psi about H, the shortest rotation from H to axis c, principal axes to T."""
    sample = tumbling_sample(data, t)
    w = vec3(sample[0], sample[1], sample[2])
    h = wp.normalize(wp.cw_mul(data.moments, w))
    shortest = wp.normalize(quat(h[1], -h[0], scalar(0.0), scalar(1.0) + h[2]))
    half = wp.static(scalar(2.0 * np.pi)) * clock_turn(data.turn, t) + scalar(0.5) * sample[3]
    turn = quat(scalar(0.0), scalar(0.0), wp.sin(half), wp.cos(half))
    return data.momentum * turn * shortest * data.principal


class Tumbling(Rotation):
    """Free rotation about no fixed axis.

    Parameters
    ----------
    inertia:
        Tensor in T axes (3, 3), or three moments about x, y, z, in any unit: only ratios matter.
    rate:
        Omega at t = 0 in T axes [rad/s].
    q_NT:
        Attitude at t = 0, ``xyzw``, of any length.

    Symmetric and spherical bodies, and rotation along a stable principal axis, are included.
    Rotation (almost) about the axis of middle inertia is refused, with the reason.
    """

    Data = TumblingData
    spin = tumbling_spin
    attitude = tumbling_attitude
    uniform = False

    def __init__(
        self,
        inertia: npt.ArrayLike,
        rate: npt.ArrayLike,
        q_NT: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0),
    ) -> None:
        self.body = solve(inertia, rate)
        self.q_NT = unit_quaternion("q_NT", q_NT)
        self.table, self.mean_turn_rate, self.table_error = _fill(self.body)

    @property
    def period(self) -> float:
        """After which Omega returns in T axes [s]: one turn about axis c relative to H."""
        return self.body.period

    @property
    def precession_rate(self) -> float:
        """Mean rate at which axis c circles the angular momentum [rad/s]."""
        if self.body.argument_rate == 0.0:
            return 0.0
        sense = 1.0 if self.body.about_shortest else -1.0
        return self.mean_turn_rate + sense * 2.0 * np.pi / self.period

    @property
    def momentum_direction(self) -> Array:
        """Unit vector along the angular momentum in N axes: constant."""
        return frames.quat_rotate(self._q_NL, [0.0, 0.0, 1.0])

    @property
    def _q_PT(self) -> Array:
        return frames.quat_from_matrix(self.body.R_TP.T)

    @property
    def _q_NL(self) -> Array:
        """From q_NT(0) = q_NL * shortest * q_PT."""
        h = self.body.momentum(self.body.rate(0.0))
        shortest = frames.quat_normalize([h[1], -h[0], 0.0, 1.0 + h[2]])
        q_LT = frames.quat_multiply(shortest, self._q_PT)
        return frames.quat_multiply(self.q_NT, frames.quat_conjugate(q_LT))

    def data(self, device: devices.Device) -> Any:
        """The table on ``device``."""
        data = TumblingData()
        data.table = wp.array(self.table, dtype=vec4, device=device.name)
        data.moments, data.R_TP = vec3(*self.body.moments), mat33(*self.body.R_TP.ravel())
        data.principal, data.momentum = quat(*self._q_PT), quat(*self._q_NL)
        data.phase = clock_from_period(self.period)
        data.turn = clock_from_rate(self.mean_turn_rate, per_turn=4)
        return data

    def __repr__(self) -> str:
        about = "shortest" if self.body.about_shortest else "longest"
        return f"Tumbling(about the {about} axis, period {self.period:.6g} s)"


# ---------------------------------------------------------------------------------------------
# The table
# ---------------------------------------------------------------------------------------------


def _fill(body: FreeBody) -> tuple[Array, float, float]:
    """Coefficients (cells, 6, 4), mean of psi' [rad/s] and the error measured between nodes.

    The error of a quintic through three derivatives at both ends is largest in the middle of a
    cell, where the closed form is known as well: cells are halved until it is small there.
    """
    cells = _LEAST_CELLS
    while cells <= _MOST_CELLS:
        exact, mean = _nodes(body, 2 * cells)
        nodes = exact[:, ::2] * np.array([1.0, 2.0, 4.0])[:, None, None]
        table = _coefficients(nodes)
        middle = np.einsum("cki,k->ci", table, 0.5 ** np.arange(6))
        off = np.abs(middle - exact[0, 1::2])
        share = off / [*[np.linalg.norm(body.amplitude)] * 3, 1.0]
        error = float(share.max())
        if error <= TOLERANCE:
            return table, mean, error
        cells *= 2
    raise InputError(
        f"no table of {_MOST_CELLS} cells holds one period of this rotation (error {error:.1e}, "
        f"wanted {TOLERANCE:g}): it is too close to rotation about the axis of middle inertia, "
        "where the body stands nearly still between short flips. Tilt the rate a little"
    )


def _nodes(body: FreeBody, count: int) -> tuple[Array, float]:
    """Value, first and second derivative per step (3, count, 4) of Omega and psi; mean of psi'."""
    rate = body.rate(np.arange(count) / count)
    turn, turn_slope = body.turn_rate(rate)
    step = body.period / count
    # psi' is smooth and periodic: its mean and its integral are exact to rounding by Fourier.
    spectrum = np.fft.rfft(turn)
    order = np.arange(len(spectrum))
    spectrum[0], mean = 0.0, float(spectrum[0].real / count)
    with np.errstate(divide="ignore", invalid="ignore"):
        integral = np.where(order > 0, spectrum / (2j * np.pi * order / body.period), 0.0)
    psi = np.fft.irfft(integral, count)
    values = np.column_stack([rate, psi - psi[0]])
    first = np.column_stack([body.acceleration(rate), turn - mean]) * step
    second = np.column_stack([body.jerk(rate), turn_slope]) * step**2
    return np.stack([values, first, second]), mean


def _coefficients(nodes: Array) -> Array:
    """Quintics in s = 0..1 (cells, 6, 4) between periodic nodes (3, cells, 4)."""
    value, first, second = nodes
    value1, first1, second1 = np.roll(nodes, -1, axis=1)
    rest = value1 - value - first - 0.5 * second
    slope = first1 - first - second
    bend = second1 - second
    return np.stack(
        [
            value,
            first,
            0.5 * second,
            10.0 * rest - 4.0 * slope + 0.5 * bend,
            -15.0 * rest + 7.0 * slope - bend,
            6.0 * rest - 3.0 * slope + 0.5 * bend,
        ],
        1,
    )
