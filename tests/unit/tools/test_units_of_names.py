"""Public classes and functions that take numbers say in what unit."""

from dataclasses import dataclass

from tools import units_of_names

#: Those whose numbers have no unit, and why.
NONE = {
    "alight.campaign.sample": "numbers of runs",
    "alight.contact.damping_ratio": "two ratios",
    "alight.contact.restitution_of": "two ratios",
    "alight.engine.Fleet": "numbers of runs",
    "alight.engine.scenes": "fields of Scene, which states theirs",
    "alight.flight.ecliptic_to_equatorial": "vectors of any unit",
    "alight.scenario.Group": "numbers of runs",
}


def test_each_that_takes_numbers_states_a_unit():
    assert set(units_of_names.without_unit()) == set(NONE)


@dataclass
class Bare:
    """Says nothing of a list[float]."""

    length: float


@dataclass
class Stated:
    """A rod."""

    length: float
    """Of it all [m]."""


@dataclass
class Counted:
    """Takes no numbers with a unit."""

    parts: int


def test_a_unit_is_found_where_a_reader_finds_it():
    assert [units_of_names.takes_numbers(one) for one in (Bare, Stated, Counted)] == [1, 1, 0]
    assert [units_of_names.states_a_unit(one) for one in (Bare, Stated)] == [False, True]


def test_what_is_in_brackets_must_be_a_unit():
    def indexed(x: float) -> float:
        """Returns x[s] of rows [m, n], list[h]."""
        return x

    def squared(x: float) -> float:
        """The area [m^2] of a square of side x [cm], 3 [kg m^2/s] of spin."""
        return x

    assert not units_of_names.states_a_unit(indexed)
    assert units_of_names.states_a_unit(squared)
