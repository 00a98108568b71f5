"""Jacobi's elliptic and theta functions in kernels, for the exact rotation of a free body.

Everything follows from one descent by Landen's transformation: from the modulus k and its
complement k' to a modulus so small that elliptic functions are sine and cosine,

    k_1 = (1 - k') / (1 + k'),   k'_1 = 2 sqrt(k') / (1 + k'),   K = pi/2 (1 + k_1)(1 + k_2) ...

Two arguments go down with it: a real one, u0, given by its amplitude, becomes the phase
x0 = pi u0 / 2K; an imaginary one, i d, becomes exp(2 y), y = pi d / 2K. Each level is algebra and
one arc tangent. All forms are products or sums of positive terms, so no digits are lost as
k -> 0 or k' -> 0. Notation: Whittaker and Watson, chapters 21 and 22; the descent: Abramowitz and
Stegun 16.12 and 17.5.
"""

import math

import warp as wp

from alight.core.types import scalar, vec2

#: Levels of the descent at most; k' = 1e-24 takes 10.
LEVELS = 12

levels = wp.types.vector(LEVELS, scalar)

_PI = wp.constant(scalar(math.pi))
_HALF_PI = wp.constant(scalar(0.5 * math.pi))
#: Above this nome theta is a sum of Gaussians; between 0.05 and 0.5 either form is good.
_LARGE_NOME = wp.constant(scalar(0.25))


@wp.struct
class Descent:
    """What Landen's descent finds."""

    count: int
    """Levels used."""
    k: levels
    """Moduli k_1, k_2, ..."""
    rest: levels
    """1 - k_1, 1 - k_2, ..., not by subtraction."""
    mean: scalar
    """pi / 2K: turns an argument into a phase."""
    phase: scalar
    """x0 = pi u0 / 2K, from 0 to pi/2."""
    nome: scalar
    """q = exp(-pi K'/K)."""
    lift: scalar
    """q exp(2 y) of the imaginary argument, from q to sqrt(q)."""


@wp.func
def descend(
    k0: scalar, k0_c: scalar, cos0: scalar, sin0: scalar, lift0: scalar, decay0: scalar
) -> Descent:
    """Landen's descent from modulus ``k0`` and its complement ``k0_c``, both given in full digits.

    ``cos0`` and ``sin0``, not negative, are those of the amplitude of u0. The imaginary argument
    with sn(i d) = i sinh(X), d at most K'/2, enters as ``decay0`` = exp(-2 X) and ``lift0`` =
    k0^2 exp(2 X) / 16: the latter stays finite where k0 -> 0 and X grows without bound.
    """
    one = scalar(1.0)
    found = Descent()
    k_n = levels()
    rest_n = levels()
    k = k0
    kc = k0_c
    c = cos0
    s = sin0
    phase = wp.atan2(s, c)
    weight = scalar(0.5)
    lift = lift0
    decay = decay0
    mean = one
    n = int(0)
    while n < LEVELS and (k > scalar(1.0e-8) or lift > scalar(1.0e-17)):
        f = one / (one + kc)
        k1 = k * k * f * f
        # tan(am_1 - am) = k' tan(am); the phase am / 2^n moves by ever less and never winds.
        d = one / (c * c + kc * s * s)
        t = s * c * d
        phase -= weight * wp.atan(k1 * (one + kc) * t)
        c = (c * c - kc * s * s) * d
        s = t * (one + kc)
        weight *= scalar(0.5)
        # The same relation on the imaginary axis, for exp(2 X) and k^2 exp(2 X) / 16.
        grow = scalar(16.0) * lift * f * f
        ratio = (one + k1 * decay) / (one + grow)
        lift = lift * grow * f * f * ratio
        decay = decay * decay / ratio
        k_n[n] = k1
        rest_n[n] = scalar(2.0) * kc * f
        mean *= scalar(0.5) * (one + kc)
        kc = scalar(2.0) * wp.sqrt(kc) * f
        k = k1
        n += 1
    # At the foot q_n = k_n^2 / 16, and every level squares the nome and the lift.
    nome = k * k / scalar(16.0)
    for _level in range(n):
        nome = wp.sqrt(nome)
        lift = wp.sqrt(lift)
    found.count = n
    found.k = k_n
    found.rest = rest_n
    found.mean = mean
    found.phase = phase
    found.nome = nome
    found.lift = lift
    return found


@wp.func
def sn_cn(descent: Descent, cos_x: scalar, sin_x: scalar) -> vec2:
    """The elliptic functions sn and cn at the phase x, level by level upwards (A&S 16.12)."""
    one = scalar(1.0)
    s = sin_x
    c = cos_x
    d = one
    n = descent.count
    while n > 0:
        n -= 1
        k = descent.k[n]
        f = one / (one + k * s * s)
        d1 = (descent.rest[n] + k * c * c) * f
        s = (one + k) * s * f
        c = c * d * f
        d = d1
    return wp.normalize(vec2(s, c))


@wp.struct
class Phase:
    """A phase with its cosine and sine."""

    x: scalar
    cos: scalar
    sin: scalar


@wp.func
def phase_at(x: scalar) -> Phase:
    """The phase ``x`` [rad]."""
    p = Phase()
    p.x = x
    p.cos = wp.cos(x)
    p.sin = wp.sin(x)
    return p


@wp.struct
class Thetas:
    """theta_4(x + i y) at two phases, each up to a positive factor, as (real, imaginary)."""

    first: vec2
    second: vec2
    slope: scalar
    """-d arg theta_4(x + i y) / dx at x = pi/2."""


@wp.func
def thetas(nome: scalar, lift: scalar, first: Phase, second: Phase) -> Thetas:
    """theta_4(x + i y) at two phases x, for ``lift`` = q exp(2 y) at most sqrt(q).

    theta_4 = 1 + sum (-1)^n q^(n^2) [exp(2 n y - 2 n i x) + exp(-2 n y + 2 n i x)]. The factors
    of either exponential are products of powers of q and the lift, and cannot overflow.
    """
    one = scalar(1.0)
    zero = scalar(0.0)
    value = Thetas()
    up = lift
    down = zero
    if lift > zero:
        down = nome * (nome / lift)
    a = up
    b = down
    step1 = _minus_twice(first)
    step2 = _minus_twice(second)
    power1 = step1
    power2 = step2
    theta1 = vec2(one, zero)
    theta2 = vec2(one, zero)
    total = one
    moment = zero
    n = one
    while a > scalar(1.0e-18):
        theta1 += vec2((a + b) * power1[0], (b - a) * power1[1])
        theta2 += vec2((a + b) * power2[0], (b - a) * power2[1])
        total += a + b
        moment += n * (a - b)
        power1 = times(power1, step1)
        power2 = times(power2, step2)
        up *= nome * nome
        down *= nome * nome
        a *= up
        b *= down
        n += one
    if nome > _LARGE_NOME:
        spread = -wp.log(nome)
        lean = one + wp.log(lift) / spread
        theta1 = _gaussians(spread, lean, first.x)
        theta2 = _gaussians(spread, lean, second.x)
    value.first = theta1
    value.second = theta2
    value.slope = scalar(2.0) * moment / total
    return value


@wp.func
def times(a: vec2, b: vec2) -> vec2:
    """The product of complex numbers."""
    return vec2(a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0])


@wp.func
def _minus_twice(p: Phase) -> vec2:
    """-exp(2 i x): its powers carry the signs of the series."""
    two = scalar(2.0)
    return vec2(two * p.sin * p.sin - scalar(1.0), -two * p.sin * p.cos)


@wp.func
def _gaussians(spread: scalar, lean: scalar, x: scalar) -> vec2:
    """theta_4(x + i y) up to a positive factor, for a nome near 1, where its series cancels.

    By Poisson's sum it is sum exp(-(x_n + i y)^2 / spread), x_n = x + (n + 1/2) pi, with
    ``spread`` = -ln q. Neighbours differ in argument by pi times ``lean`` = 2 y / spread, at most
    a right angle, so they do not cancel.
    """
    near = x - _PI * wp.round(x / _PI)
    top = wp.abs(near) - _HALF_PI
    value = vec2()
    for n in range(6):
        at = near + _PI * (scalar(n) - scalar(2.5))
        size = wp.exp((top * top - at * at) / spread)
        value += size * vec2(wp.cos(lean * at), -wp.sin(lean * at))
    return value
