"""How long the next step should be: one law, for Python floats and for Warp's ``scalar``.

``step_factor`` is written without literals, so that the same source serves both; callers pass the
constants below.
"""

from alight.core.types import scalar

#: The next step aims at this share of the step whose error would just be allowed.
SAFETY = 0.9
#: A step never shrinks below this share of the last; one whose error is not a number does.
SHRINK = 0.2
#: A step never grows beyond this many times the last, and not at all just after a rejection.
GROWTH = 5.0
#: Stands in for an error, or a tolerance, of zero.
TINY = 1e-200
#: An error estimate from here up, infinity included, is not taken at its word.
HUGE = 1e200


def step_factor(
    error_norm: scalar,
    exponent: scalar,
    growth: scalar,
    safety: scalar,
    shrink: scalar,
    tiny: scalar,
    huge: scalar,
) -> scalar:
    """By what to multiply a step whose error was ``error_norm`` times the error allowed.

    The elementary law safety * norm^(-1/(q + 1)), within limits (Hairer, Norsett and Wanner,
    Solving ODEs I, Eq. II.4.13). Every comparison with NaN is false, so NaN shrinks the step.
    """
    factor = shrink
    if error_norm < huge:
        factor = min(growth, max(shrink, safety * max(error_norm, tiny) ** (-exponent)))
    return factor
