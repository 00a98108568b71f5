"""Quantities with units: what they are in SI, and what is said of those that are none."""

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.scenario import quantities
from alight.scenario.quantities import DIMENSIONS, Quantity, in_si, read


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("60 m", "length", 60.0),
        ("60m", "length", 60.0),
        ("  -3 mm ", "length", -0.003),
        ("1.2 AU", "length", 1.2 * 149597870700.0),
        ("7.63262 h", "time", 7.63262 * 3600.0),
        ("30 min", "time", 1800.0),
        ("20 deg", "angle", math.radians(20.0)),
        ("20°", "angle", math.radians(20.0)),
        ("5 cm/s", "speed", 0.05),
        ("1.7 cm/s", "speed", 0.017),
        ("36 km/h", "speed", 10.0),
        ("0.5 rpm", "angular rate", math.pi / 60.0),
        ("1.19 g/cm^3", "density", 1190.0),
        ("666.2 m**3/s**2", "gravitational parameter", 666.2),
        ("7.0875e-4 km^3/s^2", "gravitational parameter", 7.0875e5),
        ("162 N*s/m", "damping", 162.0),
        ("0.09 kg m²", "moment of inertia", 0.09),
        ("2e4 cm^2/kg", "area over mass", 2.0),
        ("1e-5 m/s^2", "acceleration", 1e-5),
        (".5 kg", "mass", 0.5),
        ("inf m", "length", math.inf),
    ],
)
def test_values_in_si(text, dimension, value):
    found = read(text, dimension)
    assert found == pytest.approx(value, rel=4e-16)
    assert found.text == text.strip()


def test_decimal_prefixes_round_once():
    """5.85 cm/s is the double nearest to 0.0585: a hundredth is no double, a hundred is."""
    for text, value in (("5.85 cm/s", 0.0585), ("1.7 cm/s", 0.017), ("9.3 cm/s", 0.093)):
        assert float(read(text, "speed")) == value
    assert float(read("7.5 mm", "length")) == 0.0075
    assert float(read("1 mrad/s", "angular rate")) == 1e-3


def test_every_dimension_reads_its_own_example_and_units():
    for name, kind in DIMENSIONS.items():
        assert read(kind.example, name) > 0.0
        for unit in (kind.si, *kind.units):
            assert read(f"1 {unit}", name) > 0.0, (name, unit)
        assert read(f"1 {kind.si}", name) == 1.0


@pytest.mark.parametrize("bad", [60, 60.0, float("nan"), 10**400])
def test_a_bare_number_shows_the_right_form(bad):
    with pytest.raises(InputError, match=r'bare number .* a length with its unit, such as "60 m"'):
        read(bad, "length")


def test_the_hint_repeats_the_number_with_its_unit():
    with pytest.raises(InputError, match=r'did you mean "12 s"\?'):
        read(12, "time")


@pytest.mark.parametrize(
    ("text", "dimension", "said"),
    [
        ("60", "length", "without a unit"),
        ("sixty m", "length", "does not start with a number"),
        ("", "length", "does not start with a number"),
        ("60 metrs", "length", 'did you mean "metre"'),
        ("60 s", "length", '"s" is no unit of length'),
        ("5 cm/z", "speed", "is not a unit"),
        ("20 dge", "angle", 'did you mean "deg"'),
        ("1 + 2 m", "length", "is not a unit"),
        ("1 m; import os", "length", "is not a unit"),
        ("1 m^99999999", "length", "is not a unit"),
        ("1 m**10**10**10", "length", "is not a unit"),
        ("1 " + "m*" * 200, "length", "does not start with a number"),
        ("2 degC", "length", "is no unit of length"),
        ("1 m/0", "length", "is not a unit"),
        (True, "length", "found true"),
        (["1 m"], "length", r'found \["1 m"\]'),
        ({"a": 1}, "length", "a table with a"),
        (None, "length", "found None"),
    ],
)
def test_what_is_wrong(text, dimension, said):
    with pytest.raises(InputError, match=said) as caught:
        read(text, dimension)
    assert DIMENSIONS[dimension].example in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_number_in_si_reads_back_to_the_same_bits():
    rng = np.random.default_rng(1)
    for value in (rng.normal(size=200) * 10.0 ** rng.integers(-12, 12, 200)).tolist():
        for dimension in DIMENSIONS:
            assert float(read(in_si(value, dimension).text, dimension)) == value


def test_a_quantity_is_a_float_that_survives_pickling():
    one = read("20 deg", "angle")
    other = pickle.loads(pickle.dumps(one))
    assert isinstance(other, Quantity)
    assert (float(other), other.text) == (float(one), "20 deg")
    assert one + 1.0 == float(one) + 1.0


def test_pint_and_pydantic_wait_until_they_are_needed():
    script = (
        "import sys, alight, alight.cli.main\n"
        "assert not {'pint', 'pydantic', 'warp'} & set(sys.modules)\n"
        "import alight.scenario\n"
        "assert not {'pint', 'pydantic'} & set(sys.modules)\n"
        "import alight.scenario.schema.landing\n"
        "assert 'pint' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_units_that_are_listed_have_the_sizes_that_pint_gives():
    ours = quantities._registry()
    for name, kind in DIMENSIONS.items():
        for unit, size in kind.units.items():
            found = ours.Quantity(1.0, ours.parse_units(quantities._SPELT.get(unit, unit)))
            # To the last bit with pint 0.25; another version may round otherwise.
            assert size == pytest.approx(found.to(kind.si).magnitude, rel=4e-16), (name, unit)


def test_units_are_told_apart_by_kind_as_pint_does():
    ours = quantities._registry()
    measured = {name: ours.parse_units(kind.si).dimensionality for name, kind in DIMENSIONS.items()}
    for one in DIMENSIONS:
        for other in DIMENSIONS:
            alike = one == other or any({one, other} <= kinds for kinds in quantities.ALIKE)
            assert alike == (measured[one] == measured[other]), (one, other)


def test_listed_units_do_without_pint_and_others_ask_it():
    script = (
        "import sys\n"
        "from alight.scenario.quantities import read\n"
        "assert read('20°', 'angle') == 0.3490658503988659\n"
        "assert read('2 AU', 'length') == 299195741400.0\n"
        "try: read('2 AU', 'time')\n"
        "except ValueError as error: assert '\"AU\" is no unit of time' in str(error), error\n"
        "else: raise AssertionError\n"
        "assert 'pint' not in sys.modules\n"
        "assert read('2 furlong', 'length') > 402.3\n"
        "assert 'pint' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_one_registry_serves_all():
    read("1 furlong", "length")
    assert quantities._registry() is quantities._registry()
