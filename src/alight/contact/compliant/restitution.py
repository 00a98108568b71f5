"""How stiffness, damping, restitution, depth and duration of a contact are related.

Two springs are used. The *viscous* one is paper 004's: stiffness k, and a damper c that acts only
while the ground is being compressed. For one degree of freedom of mass m, with
zeta = c / (2 sqrt(k m)), its restitution depends on zeta alone (derived in
docs/explanation/contact.md):

    e = exp(-zeta arccos(zeta) / sqrt(1 - zeta^2)),  e = exp(-1) at zeta = 1,
    e = exp(-zeta arcosh(zeta) / sqrt(zeta^2 - 1))   for zeta > 1.

The *energetic* one gives back a stated share of the work that compressed it: it pushes with k d
going in and with e^2 k d coming out. Its restitution is e whatever the mass behind the contact,
the number of points that touch, and the friction beside it: e^2 = -W_out / W_in, which is the
energetic coefficient of paper 000 (equation 22, corrected).
"""

from __future__ import annotations

import math

from alight.core.checks import checked_number
from alight.core.errors import InputError

#: Smallest restitution that is taken: below it dampers are so strong that no step is short enough,
#: and nobody can tell the difference from 1e-6.
SMALLEST = 1e-12

#: Steps of Newton's method that are never needed, and what is left of it at the end.
_STEPS, _ROUNDING = 100, 4e-16


def checked_restitution(value: float, name: str = "restitution") -> float:
    """``value`` as a coefficient from ``SMALLEST`` to 1."""
    e = checked_number(name, value)
    if e < SMALLEST:
        raise InputError(
            f"{name} is {value!r}; it must be at least {SMALLEST:g}: the damper would "
            "need steps that are too short. Use 1e-6 for ground that does not bounce."
        )
    if e > 1.0:
        raise InputError(
            f"{name} is {value!r}; it must lie above 0 and not above 1: a contact cannot return "
            "more energy than it took. Use a value near 0 for ground that hardly bounces."
        )
    return e


def _turn(zeta: float) -> float:
    """Time from touch to deepest point, in units of 1/omega_0."""
    if abs(zeta - 1.0) < 1e-6:  # the two closed forms meet: their common series
        return 1.0 - (zeta - 1.0) / 3.0
    if zeta < 1.0:
        return math.acos(zeta) / math.sqrt((1.0 - zeta) * (1.0 + zeta))
    return math.acosh(zeta) / math.sqrt((zeta - 1.0) * (zeta + 1.0))


def _turn_slope(zeta: float, turn: float) -> float:
    """Its derivative, by T' = (zeta T - 1) / (1 - zeta^2) on both sides of 1."""
    if abs(zeta - 1.0) < 1e-4:
        return -1.0 / 3.0 + 4.0 / 15.0 * (zeta - 1.0)
    return (zeta * turn - 1.0) / ((1.0 - zeta) * (1.0 + zeta))


def restitution_of(zeta: float) -> float:
    """Restitution of a spring whose damper, of ratio ``zeta``, acts only in compression."""
    ratio = checked_number("damping ratio", zeta, above=False)
    return math.exp(-ratio * _turn(ratio))


def damping_ratio(restitution: float) -> float:
    """Damping ratio that gives ``restitution``: the inverse of ``restitution_of``.

    Campaigns ask this for each run, so it is Newton's method on zeta T(zeta) = -ln e. That is
    concave, and T falls from pi/2: a start at -2 ln(e) / pi is below the root, and so is each step.
    """
    loss = -math.log(checked_restitution(restitution))
    zeta = 2.0 * loss / math.pi
    for _ in range(_STEPS):
        turn = _turn(zeta)
        missing = loss - zeta * turn
        if missing <= _ROUNDING * loss:
            break
        zeta += missing / (turn + zeta * _turn_slope(zeta, turn))
    return zeta


def viscous_time(restitution: float, omega: float) -> float:
    """Duration of a hit [s] on the viscous spring with ``omega`` = sqrt(k/m) [rad/s]."""
    return (_turn(damping_ratio(restitution)) + 0.5 * math.pi) / omega


def viscous_spring(
    restitution: float, depth: float, speed: float, mass: float
) -> tuple[float, float]:
    """Stiffness [N/m] and damping [N s/m] for a hit of ``mass`` [kg] at ``speed`` [m/s].

    The hit reaches ``depth`` [m] and leaves with ``restitution``: delta = e v / omega_0.
    """
    e = checked_restitution(restitution)
    omega = e * checked_number("speed [m/s]", speed) / checked_number("depth [m]", depth)
    stiffness = checked_number("mass [kg]", mass) * omega * omega
    return stiffness, 2.0 * damping_ratio(e) * math.sqrt(stiffness * mass)
