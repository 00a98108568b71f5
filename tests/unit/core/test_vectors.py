"""Vectors divided with one division: as good as three, to the last places."""

import numpy as np
import warp as wp

from alight.core.types import scalar, vec3
from alight.core.vectors import over, unit


@wp.kernel
def _divide(a: wp.array[vec3], s: wp.array[scalar], o: wp.array[vec3], u: wp.array[vec3]) -> None:
    i = wp.tid()
    o[i] = over(a[i], s[i])
    u[i] = unit(a[i])


def divided(a, s):
    given = [wp.array(a, dtype=vec3, device="cpu"), wp.array(s, dtype=scalar, device="cpu")]
    out = [wp.zeros(len(a), dtype=vec3, device="cpu") for _ in range(2)]
    wp.launch(_divide, dim=len(a), inputs=[*given, *out], device="cpu")
    return [array.numpy() for array in out]


def test_quotients_and_unit_vectors_to_two_units_in_the_last_place():
    rng = np.random.default_rng(1)
    a = rng.normal(size=(1000, 3)) * 10.0 ** rng.uniform(-20, 20, (1000, 1))
    s = rng.normal(size=1000) * 10.0 ** rng.uniform(-20, 20, 1000)
    quotient, direction = divided(a, s)
    np.testing.assert_allclose(quotient, a / s[:, None], rtol=4.5e-16)
    np.testing.assert_allclose(np.linalg.norm(direction, axis=1), 1.0, rtol=1e-15)
    lengths = np.linalg.norm(a, axis=1)[:, None]
    np.testing.assert_allclose(direction, a / lengths, rtol=1e-15)


def test_nothing_has_no_direction():
    _, direction = divided(np.zeros((1, 3)), np.ones(1))
    assert not direction.any()
