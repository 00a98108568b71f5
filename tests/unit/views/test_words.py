"""Numbers and units as people read them."""

import math

import pytest

from alight.views import words


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (0.0, 3, "0"),
        (1010.4, 3, "1010"),
        (447.83, 4, "447.8"),
        (0.05921, 3, "0.0592"),
        (9.996, 3, "10.0"),
        (-39.153, 3, "-39.2"),
        (4.4951e11, 4, "4.495e11"),
        (3.3e-7, 2, "3.3e-7"),
        (math.inf, 3, "∞"),
    ],
)
def test_number(value, digits, shown):
    assert words.number(value, digits) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(30.0, "30"), (0.287, "0.287"), (446310.0, "446310"), (1.5e9, "1.5e9")]
)
def test_quoted(value, shown):
    assert words.quoted(value) == shown


def test_row_hides_rounding_and_keeps_small_values():
    assert words.row([-39.2, 6.9e-14, 33.6]) == ["-39.2", "0", "33.6"]
    assert words.row([4.4, 144.2, 270.8]) == ["4.4", "144", "271"]
    assert words.row([0.0592, 11.41]) == ["0.06", "11.4"]
    assert words.row([0.0, 0.0]) == ["0", "0"]


@pytest.mark.parametrize(
    ("choose", "largest", "shown"),
    [
        (words.acceleration, 1.5e-4, "150 µm/s²"),
        (words.acceleration, 5.6e-3, "5.60 mm/s²"),
        (words.acceleration, 9.8, "9.80 m/s²"),
        (words.speed, 0.366, "36.6 cm/s"),
        (words.speed, 17.2, "17.2 m/s"),
        (words.speed, 0.004, "4.00 mm/s"),
        (words.length, 1010.0, "1010 m"),
        (words.length, 32500.0, "32.5 km"),
        (words.volume, 3.762e8, "0.376 km³"),
        (words.volume, 1.76e6, "1.76e6 m³"),
        (words.time, 27477.0, "7.63 h"),
        (words.time, 467424.0, "5.41 d"),
    ],
)
def test_units_suit_the_size(choose, largest, shown):
    assert choose(largest)(largest) == shown


@pytest.mark.parametrize(
    ("part", "shown"), [(0.0, "0 %"), (0.011, "1.1 %"), (0.69, "69 %"), (1e-6, "below 0.01 %")]
)
def test_percent(part, shown):
    assert words.percent(part) == shown
