"""Counter-based random numbers: the same run draws the same numbers alone, in any shard or order.

The generator is Philox4x32-10 of Random123 (Salmon, Moraes, Dror and Shaw 2011): a keyed
bijection of a 128-bit counter, so a number depends on what it is for and on nothing drawn
before it. Every draw is addressed by (campaign seed, run number, name of the draw, index):

- key (2 words): the 64-bit BLAKE2b hash of the seed (8 bytes, little-endian) followed by the
  name in UTF-8, personalised with ``alight.random.1``; low word first;
- counter (4 words): the block number, then the run number, each 64 bits, low word first.

The run number stands in the counter, not in the hash, so two runs can never share a number.
One block gives two doubles, index 2b and 2b + 1, each from 53 bits. Only integer arithmetic and
one exact scaling are involved: uniform numbers have the same bits in NumPy, in a CPU kernel and
on a GPU. Normal numbers are made on the host from one uniform each, by the inverse distribution
function written with operations that IEEE 754 rounds exactly (+ - * / sqrt), so that they too
are the same on every machine; library logarithms and cosines are not.
"""

from __future__ import annotations

import hashlib
import operator
from typing import TypeAlias

import numpy as np
import warp as wp
from numpy.typing import ArrayLike, NDArray

from alight.core.errors import InputError
from alight.core.types import real, scalar, vec2

vec2u: TypeAlias = wp.vec2ui
vec4u: TypeAlias = wp.vec4ui

_M0, _M1 = 0xD2511F53, 0xCD9E8D57  # multipliers of the rounds
_W0, _W1 = 0x9E3779B9, 0xBB67AE85  # increments of the key: golden ratio and sqrt(3) - 1
_ROUNDS = 10
_MASK = 0xFFFFFFFF


# ---------------------------------------------------------------------------------------------
# Host
# ---------------------------------------------------------------------------------------------


def key_of(seed: int, name: str) -> NDArray[np.uint32]:
    """The two key words of the draw ``name`` in the campaign ``seed`` (0 to 2^64 - 1)."""
    number = _checked_seed(seed)
    if not isinstance(name, str) or not name:
        raise InputError(f"a draw needs a name, a non-empty string; got {name!r}.")
    data = number.to_bytes(8, "little") + name.encode()
    digest = hashlib.blake2b(data, digest_size=8, person=b"alight.random.1").digest()
    return np.frombuffer(digest, dtype="<u4").astype(np.uint32)


def philox4x32_host(counter: ArrayLike, key: ArrayLike) -> NDArray[np.uint32]:
    """Philox4x32-10 of counters (..., 4) under keys (..., 2), as 32-bit words."""
    c0, c1, c2, c3 = np.moveaxis(np.asarray(counter, np.uint64), -1, 0)
    k0, k1 = np.moveaxis(np.asarray(key, np.uint64), -1, 0)
    low, shift = np.uint64(_MASK), np.uint64(32)
    for _ in range(_ROUNDS):
        p0, p1 = c0 * np.uint64(_M0), c2 * np.uint64(_M1)
        c0, c1, c2, c3 = (p1 >> shift) ^ c1 ^ k0, p1 & low, (p0 >> shift) ^ c3 ^ k1, p0 & low
        k0, k1 = (k0 + np.uint64(_W0)) & low, (k1 + np.uint64(_W1)) & low
    return np.stack([c0, c1, c2, c3], -1).astype(np.uint32)


def bits53(seed: int, runs: ArrayLike, name: str, n: int = 1, start: int = 0) -> NDArray[np.uint64]:
    """The 53 random bits behind draws ``start .. start + n - 1``: integers of shape (runs, n)."""
    number = np.atleast_1d(_checked_runs(runs))
    first, last = start // 2, (start + n + 1) // 2
    block = np.arange(first, last, dtype=np.uint64)
    low, shift = np.uint64(_MASK), np.uint64(32)
    counter = np.empty((number.size, block.size, 4), np.uint64)
    counter[..., 0], counter[..., 1] = block & low, block >> shift
    counter[..., 2], counter[..., 3] = (number & low)[:, None], (number >> shift)[:, None]
    words = philox4x32_host(counter, key_of(seed, name)).astype(np.uint64)
    pairs = words.reshape(number.size, -1, 2)
    integers = ((pairs[..., 0] >> np.uint64(5)) << np.uint64(26)) | (pairs[..., 1] >> np.uint64(6))
    skip = start - 2 * first
    return integers[:, skip : skip + n]


def uniform(
    seed: int, runs: ArrayLike, name: str, n: int = 1, start: int = 0
) -> NDArray[np.float64]:
    """Uniform numbers in [0, 1), of shape (runs, n): row i belongs to run number ``runs[i]``."""
    return bits53(seed, runs, name, n, start).astype(real) * 2.0**-53


def normal(
    seed: int, runs: ArrayLike, name: str, n: int = 1, start: int = 0
) -> NDArray[np.float64]:
    """Standard normal numbers, of shape (runs, n): number i comes from uniform number i."""
    return normal_from_bits(bits53(seed, runs, name, n, start))


def _checked_seed(seed: int) -> int:
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if not 0 <= number < 2**64:
        raise InputError(f"the seed must be a whole number from 0 to 2^64 - 1; got {seed!r}.")
    return number


def _checked_runs(runs: ArrayLike) -> NDArray[np.uint64]:
    given = np.asarray(runs)
    if given.dtype.kind not in "iu" or (given.size and given.min() < 0):
        raise InputError(f"run numbers must be whole numbers from 0 up; got {runs!r}.")
    if given.ndim > 1:
        raise InputError(f"run numbers must be one number or a list; got shape {given.shape}.")
    return given.astype(np.uint64)


# ---------------------------------------------------------------------------------------------
# Normal numbers: algorithm AS 241 (Wichura 1988), relative accuracy about 1e-16
# ---------------------------------------------------------------------------------------------

# Coefficients of rational functions, highest power first: numerator, denominator.
_CENTRE = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
     4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
     1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
     2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
     4.2313330701600911252e1, 1.0),
)  # fmt: skip
_TAIL = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
     1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
     4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
     1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
     2.05319162663775882187e0, 1.0),
)  # fmt: skip
_FAR_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
     2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
     5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
     7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
     5.99832206555887937690e-1, 1.0),
)  # fmt: skip


def normal_from_bits(k: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Quantiles of the normal distribution at ``(k + 1/2) / 2^53``; exactly odd about 1/2."""
    signed = k.astype(np.int64)
    twice = 2 * signed + 1 - 2**53  # fits a double without rounding
    q = twice.astype(real) * 2.0**-54  # p - 1/2
    centre = q * _ratio(_CENTRE, 0.180625 - q * q)
    # p or 1 - p, whichever is smaller, from integers: no digits are lost near 1.
    small = (np.minimum(signed, 2**53 - 1 - signed).astype(real) + 0.5) * 2.0**-53
    r = np.sqrt(-_log(small))
    tail = np.where(r <= 5.0, _ratio(_TAIL, r - 1.6), _ratio(_FAR_TAIL, r - 5.0))
    return np.where(np.abs(q) <= 0.425, centre, np.where(q < 0.0, -tail, tail))


def _ratio(
    coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A rational function by Horner's rule."""
    above, below = coefficients
    return _horner(above, x) / _horner(below, x)


def _horner(coefficients: tuple[float, ...], x: NDArray[np.float64]) -> NDArray[np.float64]:
    total = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        total = total * x + c
    return total


def _log(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Natural logarithm of positive numbers by exactly rounded operations alone (2 ulp)."""
    mantissa, exponent = np.frexp(x)
    low = mantissa < np.sqrt(0.5)
    mantissa = np.where(low, 2.0 * mantissa, mantissa)  # in [sqrt(1/2), sqrt(2))
    exponent = exponent - low
    # ln m = 2 atanh(s), s = (m - 1)/(m + 1), |s| < 0.172: 11 terms reach 1e-18.
    s = (mantissa - 1.0) / (mantissa + 1.0)
    series = _horner(tuple(2.0 / (2 * i + 1) for i in range(11, -1, -1)), s * s)
    return exponent * 0.6931471805599453 + s * series


# ---------------------------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------------------------


@wp.func
def _round(c: vec4u, k: vec2u) -> vec4u:
    p0 = wp.uint64(c[0]) * wp.static(wp.uint64(_M0))
    p1 = wp.uint64(c[2]) * wp.static(wp.uint64(_M1))
    high = wp.uint64(32)
    return vec4u(
        wp.uint32(p1 >> high) ^ c[1] ^ k[0],
        wp.uint32(p1),
        wp.uint32(p0 >> high) ^ c[3] ^ k[1],
        wp.uint32(p0),
    )


@wp.func
def philox4x32(counter: vec4u, key: vec2u) -> vec4u:
    """Philox4x32-10 of one counter."""
    c = counter
    k = key
    for _i in range(wp.static(_ROUNDS)):
        c = _round(c, k)
        k = vec2u(k[0] + wp.static(wp.uint32(_W0)), k[1] + wp.static(wp.uint32(_W1)))
    return c


@wp.func
def uniform01(high: wp.uint32, low: wp.uint32) -> scalar:
    """A number in [0, 1) from 53 of the bits of two words."""
    bits = (wp.uint64(high >> wp.uint32(5)) << wp.uint64(26)) | wp.uint64(low >> wp.uint32(6))
    return scalar(bits) * wp.static(scalar(2.0**-53))


@wp.func
def uniform_pair(key: vec2u, run: wp.uint64, block: wp.uint64) -> vec2:
    """Uniform numbers ``2 block`` and ``2 block + 1`` of a run, as ``uniform`` on the host."""
    half = wp.uint64(32)
    counter = vec4u(
        wp.uint32(block), wp.uint32(block >> half), wp.uint32(run), wp.uint32(run >> half)
    )
    words = philox4x32(counter, key)
    return vec2(uniform01(words[0], words[1]), uniform01(words[2], words[3]))
