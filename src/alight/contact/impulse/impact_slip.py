"""How the slip of a contact point continues while the ground pushes: paper 000, 5.4 and 5.5.

The clock is the normal impulse p. With the tangential block A of m* and its column b = (m13, m23),
a point that slips along the unit vector e with the speed s obeys (equation 27)

    dv_t/dp = b - mu A e,      dv_3/dp = m33 - mu b.e.

Everything here is scaled so that m33 = 1. Near s = 0 the direction turns ever faster, so the clock
is stretched: d tau = dp / s (the blow-up of equation 35, less the factor mu). Then

    dv/dtau = s b - mu A v,    s = |v|,    dp/dtau = s,

which is of degree one in v: a hodograph twice as small is gone through in the same tau, and s = 0
lies at tau = infinity. The only function in it is a square root, so its Taylor series is cheap.

A slip that runs straight into s = 0 at the rate g falls as exp(g tau), which a series follows for
a short while only. Series are therefore in xi, where d xi = (1 + a xi) d tau and a = g/4: such a
slip is the polynomial (1 + a xi)^4, and how much it turns decides how far a series goes.
"""

import warp as wp

from alight.core.types import mat22, scalar, vec2

#: Terms of the Taylor series. The work of a step grows as the square of it and the number of steps
#: falls as 10^(13/ORDER): 16 is the best of both.
ORDER = 16
_ORDER = wp.constant(ORDER)
_LAST = wp.constant(ORDER - 1)

#: Terms in the angle that is still to turn where slip dies.
TERMS = 12
_TERMS = wp.constant(TERMS)

terms = wp.types.vector(length=TERMS, dtype=scalar)
coefficients = wp.types.vector(length=ORDER, dtype=scalar)

#: Part of the speed scale that one step may get wrong, and below which slip counts as none.
_STEP_ERROR = wp.constant(scalar(2e-13))
_NO_SLIP = wp.constant(scalar(1e-14))

#: Part of the slip itself that a step may get wrong, however slow the slip.
_MOST_ERROR = wp.constant(scalar(1e-4))

#: Slip that runs straight into s = 0, or away from it, is a polynomial of this degree in xi, and
#: its square one of twice the degree.
_POWER = wp.constant(scalar(4.0))

_ROOT_LAST = wp.constant(scalar(1.0 / (ORDER - 1)))
_ROOT_BEFORE = wp.constant(scalar(1.0 / (ORDER - 2)))


@wp.struct
class ContactInertia:
    """What the ground feels of the body, over m33: dimensionless."""

    A: mat22  # tangential block of m*
    b: vec2  # (m13, m23)
    friction: scalar
    keep: scalar  # restitution squared
    rate: scalar  # of the fastest change of the direction, mu tr A + |b|, per tau
    size: scalar  # a slip that carries as much energy as the unit normal speed, about


@wp.struct
class Bearing:
    """The slip at one instant, split along its direction e and across it (equations 33, 34)."""

    e: vec2
    speed: scalar
    along: scalar  # g, the rate d ln s / dtau
    turn: scalar  # h, the rate d phi / dtau
    across: scalar  # mu e'.A e' with e' at right angles to e: equals -(g + dh/dphi)


@wp.struct
class Series:
    """Integrals over rate tau of a slip of unit speed, as series in xi.

    ``lag`` is that of s^2 - v(0).v: by how much friction works more than the same impulse would at
    the first velocity. Taken apart so that fast slip does not drown slow hits.
    """

    x: coefficients  # of the velocity
    y: coefficients
    r: coefficients  # of the speed
    lag: coefficients
    stretch: scalar  # a
    step: scalar  # xi up to which the series is good


@wp.struct
class Arc:
    """What happens along a piece of the slip."""

    drag: vec2  # tangential impulse
    push: scalar  # normal impulse
    lag: scalar  # mu times the integral of ``Series.lag``


@wp.struct
class SlipEnd:
    """The rest of a slip that dies."""

    push: scalar  # normal impulse
    slide: scalar  # integral of s dp
    error: scalar  # of the velocity, about


@wp.func
def bearing_of(body: ContactInertia, v: vec2, speed: scalar):
    """Direction and rates of the slip ``v``."""
    at = Bearing()
    course = v / speed
    n = vec2(-course[1], course[0])
    Ae = body.friction * (body.A * course)
    pull = wp.dot(body.b, course)
    side = wp.dot(body.b, n)
    stiff = wp.dot(course, Ae)
    shear = wp.dot(n, Ae)
    at.e = course
    at.speed = speed
    at.along = pull - stiff
    at.turn = side - shear
    at.across = body.friction * wp.trace(body.A) - stiff
    return at


@wp.func
def no_slip(body: ContactInertia, speed: scalar):
    """True where the slip is too small to tell from none.

    In the norm v.A^-1 v no two hodographs of a body move apart (friction is monotone), so an error
    made in v never grows, whatever follows.
    """
    return speed <= _NO_SLIP * body.size


@wp.func
def series_of(body: ContactInertia, at: Bearing):
    """The Taylor series of the slip from ``at`` on, and how far it is good."""
    A = (body.friction / body.rate) * body.A
    b1 = body.b[0] / body.rate
    b2 = body.b[1] / body.rate
    stretch = at.along / (_POWER * body.rate)
    # Vectors of their own, not fields: a field is copied whole when one component is set.
    x = coefficients()
    y = coefficients()
    r = coefficients()
    lag = coefficients()
    xk = at.e[0]
    yk = at.e[1]
    rk = scalar(1.0)
    x[0] = xk
    y[0] = yk
    r[0] = rk
    count = scalar(0.0)
    for k in range(1, _ORDER):
        # (1 + a xi) v' = s b - mu A v, of degree k - 1.
        back = count * stretch
        count += scalar(1.0)
        part = scalar(1.0) / count  # known to the compiler: no division is left
        x_next = (b1 * rk - (A[0, 0] + back) * xk - A[0, 1] * yk) * part
        yk = (b2 * rk - A[0, 1] * xk - (A[1, 1] + back) * yk) * part
        xk = x_next
        # s^2 = v.v, of degree k.
        first = at.e[0] * xk + at.e[1] * yk
        squares = scalar(0.0)
        known = scalar(0.0)
        for i in range(1, k):
            squares += x[i] * x[k - i] + y[i] * y[k - i]
            known += r[i] * r[k - i]
        rk = first + scalar(0.5) * (squares - known)
        x[k] = xk
        y[k] = yk
        r[k] = rk
        lag[k] = first + squares
    last = size_of(x[_LAST], y[_LAST], r[_LAST], lag[_LAST])
    before = size_of(x[_LAST - 1], y[_LAST - 1], r[_LAST - 1], lag[_LAST - 1])
    s = Series()
    s.x = integrated(x, stretch)
    s.y = integrated(y, stretch)
    s.r = integrated(r, stretch)
    s.lag = integrated(lag, stretch)
    s.stretch = stretch
    s.step = good_to(last, before, wp.min(_STEP_ERROR * body.size / at.speed, _MOST_ERROR))
    if stretch < scalar(0.0):
        s.step = wp.min(s.step, scalar(-0.9) / stretch)
    return s


@wp.func
def integrated(f: coefficients, stretch: scalar):
    """The integral I of a series over tau, less a factor xi: (1 + a xi) dI/dxi = f."""
    total = coefficients()
    sum = scalar(0.0)
    count = scalar(0.0)
    for k in range(_ORDER):
        back = count * stretch
        count += scalar(1.0)
        part = scalar(1.0) / count
        sum = (f[k] - back * sum) * part
        total[k] = sum
    return total


@wp.func
def size_of(x: scalar, y: scalar, r: scalar, lag: scalar):
    """Of the terms of one degree."""
    return wp.abs(x) + wp.abs(y) + wp.abs(r) + wp.abs(lag)


@wp.func
def good_to(last: scalar, before: scalar, error: scalar):
    """How far a series may be followed if its last two terms are to stay below ``error``."""
    tiny = scalar(1e-200)
    step = wp.min(
        wp.log(error / (last + tiny)) * _ROOT_LAST, wp.log(error / (before + tiny)) * _ROOT_BEFORE
    )
    return wp.min(wp.exp(step), scalar(32.0))


@wp.func
def arc_to(body: ContactInertia, at: Bearing, s: Series, xi: scalar):
    """Impulses from the start of the series to ``xi``."""
    x = scalar(0.0)
    y = scalar(0.0)
    r = scalar(0.0)
    lag = scalar(0.0)
    for i in range(_ORDER):
        k = _LAST - i
        x = x * xi + s.x[k]
        y = y * xi + s.y[k]
        r = r * xi + s.r[k]
        lag = lag * xi + s.lag[k]
    reach = xi * at.speed / body.rate
    arc = Arc()
    arc.push = reach * r
    arc.drag = (-body.friction * reach) * vec2(x, y)
    arc.lag = body.friction * reach * at.speed * lag
    return arc


@wp.func
def pace(body: ContactInertia, s: Series, xi: scalar):
    """dtau / dxi."""
    return scalar(1.0) / (body.rate * (scalar(1.0) + s.stretch * xi))


@wp.func
def settling(body: ContactInertia, at: Bearing):
    """The direction near ``at`` that slip turns into and in which it dies: the root of h.

    Newton's rule; see ``found``.
    """
    near = at
    i = int(0)
    while i < 8:
        angle = near.turn / (near.across + near.along)
        course = vec2(near.e[0] - angle * near.e[1], near.e[1] + angle * near.e[0])
        near = bearing_of(body, course, wp.length(course))
        i += 1
        if wp.abs(angle) < scalar(1e-9):
            i = 8
    near.speed = at.speed
    return near


@wp.func
def found(body: ContactInertia, at: Bearing, end: Bearing):
    """True where ``settling`` led to a root, one that attracts, and not far away.

    Where h comes close to 0 without reaching it, it does not.
    """
    near = wp.dot(at.e, end.e) > scalar(0.9)
    root = wp.abs(end.turn) <= scalar(1e-14) * body.rate
    return near and root and end.across + end.along > scalar(0.0)


@wp.func
def ending(body: ContactInertia, at: Bearing, end: Bearing):
    """Normal impulse and integral of s dp from ``at`` until s = 0, along the direction ``end``.

    By degree they are s F(phi) and s^2 G(phi), where d(s F)/dtau = -s and d(s^2 G)/dtau = -s^2:

        g F + h F' = -1,    2 g G + h G' = -1.

    F and G are regular at the root of h: their power series in the angle from it follow term by
    term from those of g and h. No step towards s = 0, which is infinitely far in tau, is needed.
    """
    n = vec2(-end.e[1], end.e[0])
    b1 = wp.dot(body.b, end.e)
    b2 = wp.dot(body.b, n)
    Ae = body.friction * (body.A * end.e)
    d = scalar(0.5) * (wp.dot(end.e, Ae) - end.across)
    o = wp.dot(n, Ae)
    angle = wp.atan2(wp.dot(at.e, n), wp.dot(at.e, end.e))
    g = terms()
    h = terms()
    f = terms()
    q = terms()
    f[0] = -scalar(1.0) / end.along
    q[0] = scalar(0.5) * f[0]
    part = scalar(1.0)
    double = scalar(1.0)
    count = scalar(0.0)
    power = scalar(1.0)
    before = scalar(1.0)
    total = SlipEnd()
    total.push = f[0]
    total.slide = q[0]
    for k in range(1, _TERMS):
        # Derivatives of g and h of order k, over k!.
        count += scalar(1.0)
        part /= count
        double *= scalar(2.0)
        even = (b1 - d * double) * part
        odd = (b2 - o * double) * part
        if k % 4 == 0:
            g[k] = even
            h[k] = odd
        elif k % 4 == 1:
            g[k] = odd
            h[k] = -even
        elif k % 4 == 2:
            g[k] = -even
            h[k] = -odd
        else:
            g[k] = -odd
            h[k] = even
        fk = f[0] * g[k]
        qk = scalar(2.0) * q[0] * g[k]
        order = scalar(0.0)
        for j in range(1, k):
            order += scalar(1.0)
            fk += f[j] * (g[k - j] + order * h[k + 1 - j])
            qk += q[j] * (scalar(2.0) * g[k - j] + order * h[k + 1 - j])
        f[k] = -fk / (end.along + count * h[1])
        q[k] = -qk / (scalar(2.0) * end.along + count * h[1])
        before = power
        power *= angle
        total.push += f[k] * power
        total.slide += q[k] * power
    last = wp.abs(f[_TERMS - 1] * power) + wp.abs(f[_TERMS - 2] * before)
    total.error = body.rate * at.speed * last
    total.push *= at.speed
    total.slide *= at.speed * at.speed
    return total


@wp.func
def solve_tangential(body: ContactInertia, a: vec2):
    """A^-1 a."""
    A = body.A
    det = A[0, 0] * A[1, 1] - A[0, 1] * A[0, 1]
    return vec2(A[1, 1] * a[0] - A[0, 1] * a[1], A[0, 0] * a[1] - A[0, 1] * a[0]) / det


@wp.func
def resumed(body: ContactInertia):
    """The direction in which slip leaves s = 0 where friction cannot hold (mu below mu-bar).

    b - mu A e = g e with g > 0 (the root of h with g > 0, section 5.4.3) says e = x(g), where
    x(g) = (mu A + g)^-1 b. Its length falls with g from mu-bar/mu > 1 to 0: one root, which
    Newton's rule on 1/|x| finds from the left without overshooting.
    """
    a11 = body.friction * body.A[0, 0]
    a12 = body.friction * body.A[0, 1]
    a22 = body.friction * body.A[1, 1]
    g = scalar(0.0)
    x = vec2(scalar(0.0), scalar(0.0))
    i = int(0)
    while i < 60:
        m11 = a11 + g
        m22 = a22 + g
        det = m11 * m22 - a12 * a12
        x = vec2(m22 * body.b[0] - a12 * body.b[1], m11 * body.b[1] - a12 * body.b[0]) / det
        y = (m22 * x[0] * x[0] - scalar(2.0) * a12 * x[0] * x[1] + m11 * x[1] * x[1]) / det
        size2 = wp.dot(x, x)
        more = (wp.sqrt(size2) - scalar(1.0)) * size2 / y
        g += more
        i += 1
        if more <= scalar(1e-15) * g:
            i = 60
    return wp.normalize(x)
