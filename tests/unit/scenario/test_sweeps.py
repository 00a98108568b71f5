"""Sweeps: every combination once, in an order of their own; runs that follow from them."""

import itertools

import numpy as np
import pytest

from alight import dispersions
from alight.campaign.dispersions.sampling import sample
from alight.scenario import ScenarioError, from_dict

FRICTION = {"kind": "sweep", "values": [0.2, 0.4, 0.8]}
HEIGHTS = {"kind": "sweep", "low": 0.3, "high": 0.6, "count": 4}
VELOCITY = {"kind": "normal", "sigma": "1 cm/s"}


@pytest.fixture
def swept(plane):
    def make(campaign=None, **spreads):
        plane["dispersions"] = {k.replace("__", "."): v for k, v in spreads.items()}
        if campaign is not None:
            plane["campaign"] = campaign
        return from_dict(plane)

    return make


def test_every_combination_is_run_once(swept):
    made = swept(contact__friction=FRICTION, contact__restitution=HEIGHTS)
    assert made.campaign.runs == made.combinations() == 12
    assert made.sweep_keys() == ["contact.friction", "contact.restitution"]
    values = sample(made, np.arange(12))
    pairs = list(zip(values["contact.friction"], values["contact.restitution"], strict=True))
    wanted = list(itertools.product([0.2, 0.4, 0.8], np.linspace(0.3, 0.6, 4)))
    assert pairs == wanted  # in the order of keys, the last fastest


def test_a_run_has_its_combination_alone_and_in_any_order(swept):
    made = swept(contact__restitution=HEIGHTS, contact__friction=FRICTION)
    whole = sample(made, np.arange(12))
    for order in ([7], [11, 0, 5]):
        some = sample(made, order)
        for key in whole:
            assert np.array_equal(some[key], whole[key][order])


def test_runs_that_differ_from_the_grid_are_refused(swept):
    with pytest.raises(ScenarioError, match=r"campaign.runs: is 10, .*3 combinations"):
        swept({"runs": 10}, contact__friction=FRICTION)
    with pytest.raises(ScenarioError, match="repeats = 2 makes 6"):
        swept({"runs": 6}, contact__friction=FRICTION)
    assert swept({"runs": 3}, contact__friction=FRICTION).campaign.runs == 3


def test_repeats_draw_other_random_values(swept):
    made = swept({"repeats": 5}, contact__friction=FRICTION, release__velocity=VELOCITY)
    assert made.campaign.runs == 15
    values = sample(made, np.arange(15))
    assert np.array_equal(values["contact.friction"], np.tile([0.2, 0.4, 0.8], 5))
    assert len(np.unique(values["release.velocity"][:, 0])) == 15


def test_random_values_do_not_depend_on_the_sweep(swept, plane):
    alone = swept(release__velocity=VELOCITY)
    both = swept(contact__friction=FRICTION, release__velocity=VELOCITY)
    one, other = (sample(s, np.arange(3))["release.velocity"] for s in (alone, both))
    assert np.array_equal(one, other)


def test_repeats_of_the_same_are_refused(swept):
    with pytest.raises(ScenarioError, match=r"campaign.repeats: .*nothing else is dispersed"):
        swept({"repeats": 2}, contact__friction=FRICTION)
    with pytest.raises(ScenarioError, match=r"campaign.repeats: goes with a sweep"):
        swept({"repeats": 2}, release__velocity=VELOCITY)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"kind": "sweep"}, "needs either values"),
        ({"kind": "sweep", "low": 0.1, "high": 0.2}, "needs either values"),
        ({"kind": "sweep", "values": [0.1], "count": 2}, "needs either values"),
        ({"kind": "sweep", "values": [0.1, 0.1]}, "has a value twice"),
        ({"kind": "sweep", "values": [-1.0]}, "at least 0"),
        ({"kind": "sweep", "low": 0.1, "high": 0.2, "count": 1}, "at least 2"),
    ],
)
def test_what_is_no_sweep_is_refused(swept, table, said):
    with pytest.raises(ScenarioError, match=said):
        swept(contact__friction=table)


def test_a_vector_takes_values_and_no_ends(swept):
    ends = {"kind": "sweep", "low": "0 m/s", "high": "1 m/s", "count": 3}
    with pytest.raises(ScenarioError, match="of a vector give values"):
        swept(release__velocity=ends)
    rows = [["0 m/s"] * 3, ["1 cm/s", "0 m/s", "0 m/s"]]
    made = swept(release__velocity={"kind": "sweep", "values": rows})
    assert sample(made, [1])["release.velocity"].tolist() == [[0.01, 0.0, 0.0]]


def test_it_reads_back_and_ends_are_exact(swept):
    made = swept(contact__restitution=HEIGHTS)
    assert from_dict(made.resolved()) == made
    assert made.dispersions["contact.restitution"].values[-1] == (0.6,)


def test_a_sweep_in_python():
    spread = dispersions.sweep(low=0.0, high=1.0, count=3)
    assert spread.parameters["values"].tolist() == [0.0, 0.5, 1.0]
    assert spread.dispersion("k", None).width == 1
    with pytest.raises(ValueError, match="low, high and count"):
        dispersions.sweep(low=0.0)
