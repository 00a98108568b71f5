"""Numbers that users give: what passes, and what an error says."""

import numpy as np
import pytest

from alight.core.checks import checked_number, checked_points, checked_vector
from alight.core.errors import InputError


def test_points_keep_their_shape_and_become_float64():
    assert checked_points([1, 2, 3]).shape == (3,)
    assert checked_points(np.zeros((4, 5, 3), np.float32)).dtype == np.float64


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ([1.0, 2.0], r"shape \(2,\)"),
        (3.0, r"shape \(\)"),
        ("far away", "numbers of shape"),
        ([[0.0, 0.0, 0.0], [np.nan, 0.0, 0.0]], r"1 of 2 points .*index \(1,\).*a field"),
    ],
)
def test_points_that_cannot_be_used(points, says):
    with pytest.raises(InputError, match=says):
        checked_points(points)


@pytest.mark.parametrize(
    ("value", "least", "above", "says"),
    [
        (0.0, 0.0, True, "positive, finite"),
        (-1.0, 0.0, False, "finite number of at least 0"),
        (2.0, 2.0, True, "finite number above 2"),
        (1.0, 2.0, False, "finite number of at least 2"),
        (np.inf, 0.0, True, "inf"),
        (True, 0.0, True, "True"),
        ("5 m", 0.0, True, "'5 m'"),
    ],
)
def test_numbers_that_cannot_be_used(value, least, above, says):
    with pytest.raises(InputError, match=f"spacing.*{says}"):
        checked_number("spacing", value, least, above=above)


def test_numbers_at_the_bound():
    assert checked_number("friction", 0, above=False) == 0.0
    assert checked_number("order", 3, 2.0) == 3.0


@pytest.mark.parametrize("value", [[1, 2], [1, 2, np.nan], "up", None, [[1, 2, 3]]])
def test_vectors_that_cannot_be_used(value):
    with pytest.raises(InputError, match=r"normal is .* three finite numbers"):
        checked_vector("normal", value)
