"""How long nothing can touch: the bound that lets flight take long steps and never miss the ground.

Along a path of speed at most s and acceleration at most a, a distance function phi of slope at most
L and curvature at most kappa obeys

    phi(t) >= phi - L (s t + a t^2 / 2)                  (slope alone)
    phi(t) >= phi + phi' t - (L a + kappa s^2) t^2 / 2   (slope and curvature)

Distance over speed alone is no bound: at the top of an arc the speed vanishes and gravity moves
the lander. The first form serves grids whose gradient jumps, the second closes in on a touch.
"""

import warp as wp

from alight.core.types import scalar, vec3

_FOREVER = wp.constant(scalar(1e30))


@wp.func
def time_to_travel(path: scalar, speed: scalar, acceleration: scalar):
    """The least time [s] in which ``path`` [m] can be covered."""
    if path <= scalar(0.0):
        return scalar(0.0)
    root = wp.sqrt(speed * speed + scalar(2.0) * acceleration * path)
    # 2 path / (s + root): as exact as (root - s)/a and finite for a = 0.
    total = speed + root
    if total * _FOREVER <= scalar(2.0) * path:
        return _FOREVER
    return scalar(2.0) * path / total


@wp.func
def free_time(
    gap: scalar,
    rate: scalar,
    speed: scalar,
    acceleration: scalar,
    slope: scalar,
    curvature: scalar,
):
    """A time [s] within which a point ``gap`` [m] from the ground cannot touch it.

    ``rate`` is the derivative of its distance, ``speed`` bounds its speed now and
    ``acceleration`` its acceleration throughout.
    """
    if gap <= scalar(0.0):
        return scalar(0.0)
    by_slope = time_to_travel(gap / slope, speed, acceleration)
    # While the step lasts, the speed grows by a t at most: allow for eight times the slope's time.
    most = scalar(8.0) * by_slope
    faster = speed + acceleration * most
    bend = slope * acceleration + curvature * faster * faster
    if bend * scalar(1e-12) >= _FOREVER or bend <= scalar(0.0):
        if bend <= scalar(0.0) and rate >= scalar(0.0):
            return _FOREVER
        return by_slope
    root = wp.sqrt(rate * rate + scalar(2.0) * bend * gap)
    by_bend = (rate + root) / bend
    if rate < scalar(0.0):
        by_bend = scalar(2.0) * gap / (root - rate)  # the same without cancellation
    return wp.max(by_slope, wp.min(by_bend, most))


@wp.func
def path_length(u: vec3, v: vec3, h: scalar):
    """Way [m] gone in ``h`` [s] while the velocity changes evenly from ``u`` to ``v``: Simpson's
    rule on both halves, exact also where the path turns back."""
    quarter = wp.length(scalar(0.75) * u + scalar(0.25) * v)
    middle = wp.length(scalar(0.5) * (u + v))
    last = wp.length(scalar(0.25) * u + scalar(0.75) * v)
    ends = wp.length(u) + wp.length(v)
    return h * (ends + scalar(4.0) * (quarter + last) + scalar(2.0) * middle) / scalar(12.0)
