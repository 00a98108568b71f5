"""Runge-Kutta methods as data: exact fractions, so that tests can check the theory exactly.

A step from (t, y) by h takes s stages k_i = f(t + c_i h, y + h sum_j a_ij k_j), and ends at
y1 = y + h sum b_i k_i. Every method here then evaluates the slope f(t + h, y1), which is stage
s + 1 and the first stage of the next step ("first same as last"): it costs nothing that the next
step would not pay, and the error estimate may use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta method with s stages."""

    name: str
    """What a reader calls it."""
    a: tuple[Row, ...]
    """Row i has the i weights of the earlier stages; row 0 is empty."""
    b: Row
    """Weights of the new state, one a stage; also the row of stage s + 1."""
    c: Row
    """Where in the step each stage is, as a fraction; stage s + 1 is at 1."""
    error: Row
    """Weights of the error estimate over the s + 1 stages (the new state less the embedded one);
    empty where a method has none."""
    order: int
    """The global error falls as step^order."""
    error_order: int
    """Order of the embedded solution, so that the estimate falls as step^(error_order + 1); 0
    where there is none."""

    @property
    def stages(self) -> int:
        """Number of stages s, not counting the slope at the new state."""
        return len(self.b)


def _row(text: str) -> Row:
    return tuple(Fraction(entry) for entry in text.split())


#: The classical method of order 4 (Kutta 1901): no error estimate, fixed steps.
RK4 = Tableau(
    name="rk4",
    a=(_row(""), _row("1/2"), _row("0 1/2"), _row("0 0 1")),
    b=_row("1/6 1/3 1/3 1/6"),
    c=_row("0 1/2 1/2 1"),
    error=(),
    order=4,
    error_order=0,
)

#: Order 5 with an embedded solution of order 4 (Dormand and Prince 1980, method 5(4)7M).
RK54 = Tableau(
    name="rk45",
    a=(
        _row(""),
        _row("1/5"),
        _row("3/40 9/40"),
        _row("44/45 -56/15 32/9"),
        _row("19372/6561 -25360/2187 64448/6561 -212/729"),
        _row("9017/3168 -355/33 46732/5247 49/176 -5103/18656"),
    ),
    b=_row("35/384 0 500/1113 125/192 -2187/6784 11/84"),
    c=_row("0 1/5 3/10 4/5 8/9 1"),
    error=_row("71/57600 0 -71/16695 71/1920 -17253/339200 22/525 -1/40"),
    order=5,
    error_order=4,
)
