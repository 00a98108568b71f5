"""The law of sizes: its numbers and covers are integrals; a cap bends it; bad laws are refused."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from alight.core.errors import InputError
from alight.surfaces.rocks.size_law import BENT, COUNTS, SizeLaw, counted


def density_of(law, size):
    """n(D) as the head of the module has it, with the cap."""
    straight = law.slope * law.amount * size ** (-law.slope - 1.0)
    if size >= law.bend:
        return straight
    return straight * (size / law.bend) ** (law.slope - BENT)


LAWS = [
    SizeLaw(3.1, 1e-3, 5.0, 0.8, 30.0),
    SizeLaw(2.0, 2e-3, 1.0, 0.1, 8.0, share=0.7),
    SizeLaw(1.3, 1e-3, 1.0, 0.2, 20.0),
    SizeLaw(2.65, 1.6e-3, 5.0, 0.05, 40.0, cover=0.4, share=0.7),
    SizeLaw(0.5, 1e-3, 1.0, 0.2, 10.0, cover=0.9),
]


@pytest.mark.parametrize("law", LAWS)
def test_number_and_cover_are_integrals_of_the_law(law):
    edges = np.geomspace(law.smallest, law.largest, 5)
    for low in (edges[0], edges[2], edges[3]):
        pieces = sorted({low, max(low, min(law.bend, law.largest)), law.largest})
        number, area = 0.0, 0.0
        for a, b in itertools.pairwise(pieces):
            number += quad(lambda d: density_of(law, d), a, b, epsrel=1e-12)[0]
            area += quad(lambda d: d * d * density_of(law, d), a, b, epsrel=1e-12)[0]
        assert law.number(low) == pytest.approx(number, rel=1e-9)
        if low == law.smallest:
            assert law.cover == pytest.approx(0.25 * math.pi * law.share * area, rel=1e-9)
    assert law.number(0.0) == law.number(law.smallest)
    assert law.number(law.largest) == 0.0
    if law.bend < law.reference:
        assert law.number(law.reference) == pytest.approx(law.density, rel=1e-12)


def test_cover_is_smooth_through_a_slope_of_two():
    covers = [SizeLaw(s, 2e-3, 1.0, 0.1, 8.0).cover for s in (2.0 - 1e-9, 2.0, 2.0 + 1e-9)]
    assert covers[0] == pytest.approx(covers[1], rel=1e-8)
    assert covers[2] == pytest.approx(covers[1], rel=1e-8)


def test_a_cap_is_kept_and_leaves_large_rocks_alone():
    free = SizeLaw(3.1, 9.5e-4, 5.0, 1.0, 20.0)
    capped = SizeLaw(3.1, 9.5e-4, 5.0, 0.1, 20.0, cover=0.3)
    assert capped.cover == pytest.approx(0.3, rel=1e-10)
    assert 0.1 < capped.bend < 5.0
    above = 1.01 * capped.bend
    assert capped.number(above) == pytest.approx(free.number(max(above, 1.0)), rel=1e-12)
    assert SizeLaw(3.1, 9.5e-4, 5.0, 1.0, 20.0, cover=0.9).bend == 0.0  # nothing to cap


def test_too_much_cover_says_how_much_and_how_to_mend_it():
    with pytest.raises(InputError, match=r"times the ground.*cover=") as error:
        SizeLaw(3.1, 9.5e-4, 5.0, 0.1, 20.0)
    words = str(error.value)
    # What it suggests works: the smallest size and the density that it names.
    size = float(words.split("raise the smallest size from 0.1 m to ")[1].split(" m")[0])
    assert SizeLaw(3.1, 9.5e-4, 5.0, 1.01 * size, 20.0).cover < 1.0
    density = float(words.split("less than ")[1].split(" per")[0])
    assert SizeLaw(3.1, 0.99 * density, 5.0, 0.1, 20.0).cover < 1.0
    # Itokawa's count, carried on, covers all ground at a few decimetres.
    assert 0.2 < size < 0.6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slope": 0.0}, "slope"),
        ({"slope": -3.0}, "slope"),
        ({"slope": math.nan}, "slope"),
        ({"slope": 1e5}, "beyond what numbers can hold"),
        ({"density": -1e-3}, "density"),
        ({"density": math.nan}, "density"),
        ({"reference": 0.0}, "reference"),
        ({"smallest": 30.0}, "smallest"),
        ({"smallest": math.inf}, "smallest"),
        ({"smallest": 20.0}, "below the largest"),
        ({"largest": "20 m"}, "largest"),
        ({"reference": 20.0}, "reference"),
        ({"cover": 1.5}, "at most 1"),
        ({"cover": 0.0}, "cover"),
        ({"cover": math.nan}, "cover"),
        ({"cover": 1e-4}, "lower the density"),
    ],
)
def test_bad_laws_are_refused(change, message):
    good = {"slope": 3.0, "density": 1e-3, "reference": 5.0, "smallest": 1.0, "largest": 20.0}
    SizeLaw(**good)
    with pytest.raises(InputError, match=message):
        SizeLaw(**{**good, **change})


def test_counts_of_bodies():
    assert counted(" Itokawa").slope == 3.1
    assert all(c.density * 2.7e6 < 10_000 for c in COUNTS.values())
    with pytest.raises(InputError, match="ryugu"):
        counted("ryuguu")
