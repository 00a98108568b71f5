"""Torque-free rotation of a rigid body in closed form (Jacobi's elliptic functions).

In principal axes a, b, c with moments A, B, C, of which B is the middle one and C belongs to the
axis the body turns about (the shortest axis of the body, largest C, or the longest, smallest C):

    Omega = (a0 cn u, b0 sn u, c0 dn u),   u = p t + u0,   period 4 K(k) / p

    p   = c0 sqrt((C - B)(C - A) / (A B))
    b0  = +-a0 sqrt(A (C - A) / (B (C - B)))
    k^2 = A (B - A) a0^2 / (C (C - B) c0^2)

Axis c is pointed so that c0 > 0; Omega never crosses the plane of a and b, nor does the angular
momentum H, so the rotation that takes H to axis c the shortest way is smooth at all times. The
attitude is that rotation followed by a turn psi about H, with (h the unit vector of H, 2E/H its
product with Omega)

    psi' = (2E/H + Omega_c) / (1 + C Omega_c / H).

Proof: the shortest rotation has no rate along h + c, and Omega = psi' h + (rate of the shortest
rotation) taken along h + c gives the formula.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from alight.core.checks import Array, checked_vector
from alight.core.errors import InputError

#: Moments that agree to this share are taken as equal: eigenvalues are not better than this.
EQUAL = 1e-14

#: Least 1 - k^2. At this distance from the separatrix the last digit of the inertia shifts the
#: quarter period by 1e-8 of itself, and the rest of the table's digits mean nothing.
LEAST_COMPLEMENT = 1e-8


@dataclass(frozen=True)
class FreeBody:
    """One torque-free motion; see the module's text."""

    R_TP: Array
    """Columns: axes a, b, c in T axes."""
    moments: Array
    """A, B, C; only their ratios matter."""
    amplitude: Array
    """a0, b0, c0 [rad/s]."""
    parameter: float
    """k^2, in [0, 1)."""
    argument_rate: float
    """p [1/s]; 0 where Omega is constant."""
    argument: float
    """u0, the argument at t = 0."""
    period: float
    """After which Omega returns [s]; a turn about the axis where it is constant."""

    @property
    def about_shortest(self) -> bool:
        """True where the body turns about its axis of largest moment."""
        return bool(self.moments[2] >= self.moments[0])

    def rate(self, phase: npt.ArrayLike) -> Array:
        """Omega [rad/s] in axes a, b, c at phases [periods since t = 0]."""
        share = np.asarray(phase, np.float64)
        if self.argument_rate == 0.0:
            return np.broadcast_to(self.amplitude, (*share.shape, 3)).copy()
        quarter = scipy.special.ellipkm1(1.0 - self.parameter)
        u = self.argument + 4.0 * quarter * share
        # One turn about zero: the elliptic functions lose digits in proportion to the argument.
        u -= 4.0 * quarter * np.round(u / (4.0 * quarter))
        sn, cn, _, _ = scipy.special.ellipj(u, self.parameter)
        dn = np.sqrt((1.0 - self.parameter) + self.parameter * cn * cn)
        return self.amplitude * np.stack([cn, sn, dn], -1)

    def acceleration(self, rate: Array) -> Array:
        """dOmega/dt [rad/s^2] in axes a, b, c: Euler's equations."""
        return self._euler * rate[..., [1, 2, 0]] * rate[..., [2, 0, 1]]

    def jerk(self, rate: Array) -> Array:
        """Second derivative of Omega [rad/s^3] in axes a, b, c."""
        a = self.acceleration(rate)
        next_, last = [1, 2, 0], [2, 0, 1]
        return self._euler * (a[..., next_] * rate[..., last] + rate[..., next_] * a[..., last])

    def momentum(self, rate: Array) -> Array:
        """Unit vector along the angular momentum, in axes a, b, c."""
        h = self.moments * rate
        return np.asarray(h / np.linalg.norm(h, axis=-1, keepdims=True))

    def turn_rate(self, rate: Array) -> tuple[Array, Array]:
        """psi' [rad/s] and psi'' [rad/s^2]."""
        H = np.linalg.norm(self.moments * rate, axis=-1)
        along = np.sum(self.moments * rate * rate, -1) / H  # 2E/H
        c, share = rate[..., 2], self.moments[2] / H
        below = 1.0 + share * c
        slope = (1.0 - share * along) / below**2
        return (along + c) / below, slope * self.acceleration(rate)[..., 2]

    @property
    def _euler(self) -> Array:
        A, B, C = self.moments
        return np.array([(B - C) / A, (C - A) / B, (A - B) / C])


def solve(inertia: npt.ArrayLike, rate: npt.ArrayLike) -> FreeBody:
    """The motion of a body with ``inertia`` (3, 3) and Omega(0) = ``rate`` [rad/s], in T axes."""
    tensor = checked_inertia(inertia)
    omega = checked_vector("rate [rad/s]", rate)
    if not omega.any():
        raise InputError(
            "rate is zero: a body that does not rotate cannot tumble; use UniformRotation(0.0)"
        )
    moments, axes = np.linalg.eigh(tensor)
    momentum = tensor @ omega
    torque = np.linalg.norm(np.cross(omega, momentum))
    if torque <= EQUAL * np.linalg.norm(omega) * np.linalg.norm(momentum):
        return _steady(moments, omega, float(omega @ momentum / (omega @ omega)))
    return _periodic(_merged(moments), axes, omega)


def checked_inertia(inertia: npt.ArrayLike) -> Array:
    """``inertia`` as a tensor that a body can have, scaled to trace 1."""
    what = "inertia must be a 3x3 matrix (or three moments about x, y, z) of finite numbers"
    try:
        tensor = np.asarray(inertia, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"inertia is {inertia!r}; {what}") from None
    tensor = np.diag(tensor) if tensor.shape == (3,) else tensor
    if tensor.shape != (3, 3) or not np.isfinite(tensor).all():
        raise InputError(f"inertia has shape {tensor.shape}; {what}")
    scale = np.abs(tensor).max()
    if scale == 0.0 or np.abs(tensor - tensor.T).max() > 1e-10 * scale:
        raise InputError(f"inertia is {tensor.tolist()}; it must be symmetric and not zero")
    tensor = 0.5 * (tensor + tensor.T) / scale
    low, middle, high = np.linalg.eigvalsh(tensor)
    if low <= 0.0:
        raise InputError(
            f"inertia has principal moments {scale * np.array([low, middle, high])}; "
            "all must be positive"
        )
    if low + middle < high * (1.0 - 1e-10):
        raise InputError(
            f"inertia has principal moments {scale * np.array([low, middle, high])}; no body has "
            "one larger than the sum of the other two"
        )
    return np.asarray(tensor / np.trace(tensor))


def _merged(moments: Array) -> Array:
    """Moments with those that differ by rounding alone made equal."""
    low, middle, high = (float(m) for m in moments)
    if middle - low <= EQUAL * high:
        low = middle = 0.5 * (low + middle)
    elif high - middle <= EQUAL * high:
        middle = high = 0.5 * (middle + high)
    return np.array([low, middle, high])


def _steady(moments: Array, omega: Array, moment: float) -> FreeBody:
    """Omega along a principal axis: constant, if that axis is a stable one."""
    near = EQUAL * 10.0 * moments[2]
    if moments[0] + near < moment < moments[2] - near:
        raise InputError(
            "rate is along the axis of middle inertia, where rotation is unstable: the least "
            "disturbance makes the body flip over, after a time that depends on it. Tilt the "
            "rate, or use UniformRotation to hold the axis"
        )
    size = float(np.linalg.norm(omega))
    c = omega / size
    a = np.cross(c, np.eye(3)[np.argmin(np.abs(c))])
    a /= np.linalg.norm(a)
    return FreeBody(
        R_TP=np.stack([a, np.cross(c, a), c], -1),
        moments=np.ones(3),
        amplitude=np.array([0.0, 0.0, size]),
        parameter=0.0,
        argument_rate=0.0,
        argument=0.0,
        period=2.0 * np.pi / size,
    )


def _periodic(moments: Array, axes: Array, omega: Array) -> FreeBody:
    """Omega that varies: the module's solution, about whichever axis the body turns."""
    w = axes.T @ omega
    low, middle, high = moments
    # H^2 - 2 E B: positive, the body turns about its axis of largest moment.
    about_high = high * (high - middle) * w[2] ** 2
    about_low = low * (middle - low) * w[0] ** 2
    order = [0, 1, 2] if about_high >= about_low else [2, 1, 0]
    R_TP = axes[:, order].copy()
    if w[order[2]] < 0.0:
        R_TP[:, 2] *= -1.0
    R_TP[:, 0] = np.cross(R_TP[:, 1], R_TP[:, 2])
    A, B, C = (float(m) for m in moments[order])
    wa, wb, wc = (float(v) for v in R_TP.T @ omega)
    if max(about_high, about_low) == 0.0:
        raise _too_near(0.0)
    # Sums of squares of one sign: no digits are lost in the amplitudes.
    c0 = np.sqrt(wc**2 + B * (B - A) / (C * (C - A)) * wb**2)
    a0 = np.sqrt(wa**2 + B * (C - B) / (A * (C - A)) * wb**2)
    b0 = np.sign(C - A) * np.sqrt(wb**2 + A * (C - A) / (B * (C - B)) * wa**2)
    complement = abs(about_high - about_low) / (abs(C * (C - B)) * c0**2)
    if complement < LEAST_COMPLEMENT:
        raise _too_near(complement)
    # Whichever of k^2 and 1 - k^2 is small is the one to compute.
    small = abs(A * (B - A) * a0**2 / (C * (C - B) * c0**2))
    parameter = float(1.0 - complement if complement < 0.5 else small)
    p = float(c0 * np.sqrt((C - B) * (C - A) / (A * B)))
    return FreeBody(
        R_TP=R_TP,
        moments=np.array([A, B, C]),
        amplitude=np.array([a0, b0, c0]),
        parameter=parameter,
        argument_rate=p,
        argument=float(scipy.special.ellipkinc(np.arctan2(wb / b0, wa / a0), parameter)),
        period=float(4.0 * scipy.special.ellipkm1(1.0 - parameter) / p),
    )


def _too_near(complement: float) -> InputError:
    return InputError(
        f"the rotation is too close to the separatrix (1 - k^2 = {complement:.1e}, at least "
        f"{LEAST_COMPLEMENT:g} is needed): rate is so nearly along the axis of middle inertia that "
        "the body lingers there and flips over at times that depend on the last digits given, so "
        "no table of one period can be trusted. Tilt the rate a little, or change the inertia"
    )
