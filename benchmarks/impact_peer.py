"""The impulse law of paper 000 in plain SciPy, as its section 5 tells it: a peer and a reference.

Nothing is shared with Alight's kernels: angles instead of vectors, the speed's logarithm, the
stretched clock of equation 35 with an adaptive Runge-Kutta method of order 8, events found by root
search, the direction of resumed slip from a scan for sign changes of h. Errata 000-11 to 000-22.
"""

import dataclasses

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

#: Slip below this part of the closing speed counts as none (the paper's epsilon, but relative).
EPSILON = 1e-13


@dataclasses.dataclass
class Collision:
    """A collision under way; works as the paper has them, W_c < 0 < W_r."""

    v: np.ndarray
    impulse: np.ndarray
    work_c: float = 0.0
    work_r: float = 0.0
    friction: float = 0.0
    compression: float = 0.0
    closing: bool = True
    done: bool = False
    story: tuple = ()


def plain_impact(m, v, restitution, friction, rtol=1e-12, turn=np.inf):
    """Impulse, velocity after, work of the normal force and of friction, normal impulse of
    compression, and the story: "slip", "halt", "stick", "resume", "recompress".

    ``turn`` bounds the steps, in units of the fastest turning of the slip [rad]: events are found
    on an interpolant that is of lower order than the steps.
    """
    m, v = np.asarray(m, float), np.asarray(v, float)
    hit = Collision(v.copy(), np.zeros(3))
    if v[2] >= 0.0:
        return hit
    small = EPSILON * abs(v[2])
    if friction == 0.0:
        _straight(hit, m, np.array([0.0, 0.0, 1.0]), restitution)
        return hit
    while not hit.done:
        if np.hypot(hit.v[0], hit.v[1]) <= small:
            _from_rest(hit, m, restitution, friction)
        else:
            _slip(hit, m, restitution, friction, small, rtol, turn)
    return hit


def _slip(hit, m, e, mu, small, rtol, turn):
    """Integrate equations 36 and 37 to the next event."""
    if "slip" not in hit.story:
        hit.story += ("slip",)

    def rates(tau, y):
        s, c, n = np.exp(y[0]), np.cos(y[1]), np.sin(y[1])
        f = m @ np.array([-mu * c, -mu * n, 1.0])
        return [c * f[0] + n * f[1], c * f[1] - n * f[0], s * f[2], -s * mu * c, -s * mu * n, s,
                s * y[2], -s * s * mu]  # fmt: skip

    def turns(tau, y):
        return y[2] if hit.closing or tau > 0.0 else 1.0

    def ends(tau, y):
        return -1.0 if hit.closing else hit.work_r + y[6] + e * e * hit.work_c

    def halts(tau, y):
        return y[0] - np.log(small)

    turns.terminal = ends.terminal = halts.terminal = True
    turns.direction = 1.0 if hit.closing else -1.0
    start = [np.log(np.hypot(hit.v[0], hit.v[1])), np.arctan2(hit.v[1], hit.v[0]), hit.v[2],
             0.0, 0.0, 0.0, 0.0, 0.0]  # fmt: skip
    size = np.array([1.0, 1.0, abs(hit.v).max(), *[abs(hit.v).max() / m[2, 2]] * 3, *[1.0] * 2])
    pace = mu * (m[0, 0] + m[1, 1]) + np.hypot(m[0, 2], m[1, 2])
    out = solve_ivp(
        rates,
        (0.0, 1e9),
        start,
        "DOP853",
        events=(turns, ends, halts),
        rtol=rtol,
        atol=rtol * 1e-2 * size,
        first_step=1e-3 / pace,
        max_step=turn / pace,
    )
    y = out.y[:, -1]
    s = np.exp(y[0])
    hit.v = np.array([s * np.cos(y[1]), s * np.sin(y[1]), y[2]])
    _add(hit, y[3:6], y[6], y[7])
    if len(out.t_events[0]):
        _turn(hit, e)
    elif len(out.t_events[1]):
        hit.done = True
    else:
        hit.story += ("halt",)
        hit.v[:2] = 0.0


def _add(hit, impulse, work, friction):
    hit.impulse = hit.impulse + impulse
    hit.friction += friction
    if hit.closing:
        hit.work_c += work
        hit.compression += impulse[2]
    else:
        hit.work_r += work


def _turn(hit, e):
    """At v3 = 0."""
    hit.v[2] = 0.0
    if hit.closing:
        hit.done = hit.work_r >= -e * e * hit.work_c
    else:
        hit.story += ("recompress",)
    hit.closing = not hit.closing


def _straight(hit, m, direction, e):
    """To the end with dP/dp = ``direction`` (equations 30 and 32, or a constant slip)."""
    f = m @ direction
    while not hit.done:
        if hit.closing:
            p = -hit.v[2] / f[2]
        else:
            need = -e * e * hit.work_c - hit.work_r
            p = (np.sqrt(hit.v[2] ** 2 + 2.0 * f[2] * need) - hit.v[2]) / f[2]
            hit.done = True
        mean = hit.v + 0.5 * p * f
        hit.v = hit.v + p * f
        _add(hit, p * direction, p * mean[2], p * (mean[:2] @ direction[:2]))
        if not hit.done:
            _turn(hit, e)


def _from_rest(hit, m, e, mu):
    """Sections 5.4.2 and 5.4.3 (errata 000-16, 000-17)."""
    alpha = m[0, 0] * m[1, 2] - m[0, 1] * m[0, 2]
    beta = m[1, 1] * m[0, 2] - m[0, 1] * m[1, 2]
    gamma = m[0, 0] * m[1, 1] - m[0, 1] ** 2
    critical = np.hypot(alpha, beta) / gamma
    if mu >= critical:
        hit.story += ("stick",)
        phi = np.arctan2(alpha, beta)
        _straight(hit, m, np.array([-critical * np.cos(phi), -critical * np.sin(phi), 1.0]), e)
        hit.v[:2] = 0.0
        return
    hit.story += ("resume",)

    def push(phi):
        return np.array([-mu * np.cos(phi), -mu * np.sin(phi), 1.0])

    def h(phi):
        f = m @ push(phi)
        return np.cos(phi) * f[1] - np.sin(phi) * f[0]

    angles = np.linspace(0.1, 0.1 + 2.0 * np.pi, 1441)
    values = np.array([h(a) for a in angles])
    for i in np.nonzero(values[:-1] * values[1:] <= 0.0)[0]:
        phi = brentq(h, angles[i], angles[i + 1], xtol=1e-15)
        f = m @ push(phi)
        if np.cos(phi) * f[0] + np.sin(phi) * f[1] > 0.0:
            return _straight(hit, m, push(phi), e)
    raise AssertionError("no direction in which slip resumes")
