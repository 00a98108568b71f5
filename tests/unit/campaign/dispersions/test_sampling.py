"""Values by run number: the same alone, in any shard, in any order; even where they should be."""

import numpy as np
import pytest

from alight.campaign.dispersions.sampling import SAMPLINGS, sample, uniform_numbers
from alight.core.errors import InputError

DIMS = {"b": 2, "a": 3}


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_run_has_the_same_bits_wherever_it_is_asked_for(scenario, sampling):
    given = scenario(runs=64, sampling=sampling)
    whole = sample(given, np.arange(64))
    assert whole["release.velocity"].shape == (64, 3)
    assert whole["release.attitude"].shape == (64, 4)
    assert whole["contact.restitution"].shape == (64,)
    for runs in ([17], [3, 2, 60, 5], np.arange(40, 55), [5, 5]):
        part = sample(given, runs)
        assert all(np.array_equal(part[key], whole[key][runs]) for key in whole)


def test_random_runs_do_not_depend_on_the_total_nor_on_other_dispersions(scenario):
    few, many = scenario(runs=10), scenario(runs=1000)
    assert np.array_equal(
        sample(few, np.arange(10))["release.velocity"],
        sample(many, np.arange(10))["release.velocity"],
    )
    alone = scenario(
        dispersions="""[dispersions]\n"release.velocity" = { kind = "normal", sigma = "2 cm/s" }"""
    )
    assert np.array_equal(
        sample(alone, [4])["release.velocity"], sample(few, [4])["release.velocity"]
    )


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_seeds_and_keys_differ(sampling):
    one = uniform_numbers(1, np.arange(64), DIMS, sampling, 64)
    other = uniform_numbers(2, np.arange(64), DIMS, sampling, 64)
    columns = [c for part in (one, other) for key in DIMS for c in part[key].T]
    assert len({c.tobytes() for c in columns}) == 10


@pytest.mark.parametrize("total", [1, 7, 64, 1000])
def test_latin_hypercube_has_one_run_in_each_interval(total):
    u = uniform_numbers(3, np.arange(total), DIMS, "latin-hypercube", total)
    columns = np.concatenate([u["a"], u["b"]], axis=1)
    assert np.array_equal(
        np.sort(np.floor(columns * total), axis=0),
        np.repeat(np.arange(total)[:, None], 5, axis=1),
    )
    if total > 100:
        # Permutations of different dimensions have nothing to do with each other.
        off = np.corrcoef(columns.T) - np.eye(5)
        assert np.abs(off).max() < 5 / np.sqrt(total)
    random = uniform_numbers(3, np.arange(total), DIMS, "random", total)["a"]
    if total > 1:
        assert len(set(np.floor(random[:, 0] * total))) < total, "the check cannot fail"


def test_sobol_is_even_in_every_dimension_and_pair():
    u = uniform_numbers(3, np.arange(256), DIMS, "sobol", 256)
    columns = np.concatenate([u["a"], u["b"]], axis=1)
    for column in columns.T:
        assert np.array_equal(np.sort(np.floor(column * 256)), np.arange(256))
    # The first two dimensions make a net: 16 x 16 boxes hold one point each.
    boxes = np.floor(columns[:, :2] * 16)
    assert len(np.unique(boxes, axis=0)) == 256
    assert ((columns > 0.0) & (columns < 1.0)).all()


def test_place_and_state_are_drawn_together(scenario):
    state = """[dispersions]
"release.state" = { kind = "covariance", sigma = ["1 m", "1 m", "1 m", "1 m/s", "1 m/s", "1 m/s"] }
"""
    assert sample(scenario(dispersions=state), np.arange(50))["release.state"].shape == (50, 6)


def test_what_the_scenario_lets_through_is_still_checked(scenario):
    """An empty interval far out cannot be drawn from; the message names the key."""
    far = """[dispersions]
"contact.friction" = { kind = "truncated", sigma = 0.001, low = 10.0, high = 11.0 }
"""
    with pytest.raises(InputError, match=r'dispersions."contact.friction": .*never reaches'):
        sample(scenario(dispersions=far), [0])


def test_runs_beyond_the_total_and_unknown_samplings(scenario):
    with pytest.raises(InputError, match="there are no more"):
        sample(scenario(runs=8, sampling="sobol"), [8])
    with pytest.raises(InputError, match="Did you mean"):
        uniform_numbers(1, np.arange(3), DIMS, "soboll", 3)


def test_nothing_dispersed(scenario):
    assert sample(scenario(dispersions=""), [0, 1]) == {}
