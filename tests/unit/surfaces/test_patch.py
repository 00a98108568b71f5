"""A finite plane: distances against brute force, and the surface's own promises."""

import numpy as np
import pytest

from alight.core import devices
from alight.core.errors import InputError
from alight.surfaces.patch import Patch

DEVICES = [device.name for device in devices.available()]


@pytest.mark.parametrize("device", DEVICES)
def test_distance_is_that_of_the_block(device):
    patch = Patch((1.0, 2.0, 3.0), (0.1, 0.2, 1.0), (1.0, 1.0, 0.0), 4.0, 2.0, 1.5)
    rng = np.random.default_rng(3)
    x = rng.uniform(-4.0, 6.0, (500, 3))
    distance, normal = patch.query(x, device=device)
    middle = patch.center - 0.75 * patch.axes[2]
    p = (x - middle) @ patch.axes.T
    near = np.clip(p, -0.5 * patch.sizes, 0.5 * patch.sizes)
    outside = np.linalg.norm(p - near, axis=1)
    inside = (np.abs(p) - 0.5 * patch.sizes).max(axis=1)
    expected = np.where(outside > 0.0, outside, inside)
    np.testing.assert_allclose(distance, expected, rtol=0.0, atol=1e-14)
    step = 1e-6
    ahead, _ = patch.query(x + step * normal, device=device)
    np.testing.assert_allclose((ahead - distance) / step, 1.0, atol=1e-8)


def test_above_the_middle_it_is_a_plane_and_beyond_the_edge_it_is_not():
    patch = Patch(length=2.0, width=4.0)
    distance, normal = patch.query([[0.9, 1.9, 0.1], [1.5, 0.0, -0.2], [0.0, 0.0, -0.1]])
    np.testing.assert_allclose(distance, [0.1, 0.5, -0.1], atol=1e-15)
    np.testing.assert_allclose(normal, [[0, 0, 1], [1, 0, 0], [0, 0, 1]], atol=1e-15)


@pytest.mark.parametrize(
    "wrong", [{"normal": (0, 0, 0)}, {"along": (0, 0, 2)}, {"length": -1.0}, {"thickness": 0.0}]
)
def test_bad_patches_are_refused(wrong):
    with pytest.raises(InputError):
        Patch(**wrong)
