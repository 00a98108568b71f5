"""What a scenario that says nothing of gravity gets: no table, an error that is stated and kept."""

import tomllib

import pytest

from alight import gravity
from alight.gravity.linearised import reach_for
from alight.scenario import ScenarioError, from_dict, prepare
from alight.scenario.schema.target import GRAVITY_ERROR
from alight.scenario.shipped_scenarios import find


@pytest.fixture
def bare(ryugu):
    """A landing on Ryugu without a word about gravity."""
    return {key: value for key, value in ryugu.items() if key != "gravity"}


def test_the_error_is_filled_in_kept_and_stated(bare):
    made = from_dict(bare)
    assert made.resolved()["gravity"] == {"law": "polyhedron", "error": GRAVITY_ERROR}
    (remark,) = made.remarks()
    assert f"within {100 * GRAVITY_ERROR:g} %" in remark
    assert 'law = "polyhedron"' in remark
    again = from_dict(made.resolved())
    assert again.gravity == made.gravity
    assert again.remarks() == made.remarks()


def test_it_is_the_polyhedron_over_a_reach_made_for_that_error(bare):
    law = prepare(from_dict(bare), "cpu").nominal().model.gravity
    assert isinstance(law, gravity.Linearised)
    assert type(law.full) is gravity.Polyhedron
    assert law.reach == reach_for(GRAVITY_ERROR, law.full.mesh.bounding_radius)


def test_a_law_that_is_named_is_that_law_and_nothing_is_said(bare):
    made = from_dict({**bare, "gravity": {"law": "polyhedron"}})
    assert made.resolved()["gravity"] == {"law": "polyhedron"}
    assert made.remarks() == []
    reach = from_dict({**bare, "gravity": {"linearise": "5 m"}})
    assert reach.resolved()["gravity"] == {"law": "polyhedron", "linearise": "5 m"}


def test_another_error_may_be_asked_for(bare):
    made = from_dict({**bare, "gravity": {"error": 1e-3}})
    assert made.resolved()["gravity"] == {"law": "polyhedron", "error": 1e-3}
    assert "within 0.1 %" in made.remarks()[0]


@pytest.mark.parametrize(
    ("key", "value", "law"),
    [
        ("spacing", "20 m", "smooth"),
        ("vertices", 42, "reduced"),
        ("tolerance", 1e-3, "cached"),
        ("acceleration", ["0 m/s^2", "0 m/s^2", "-1e-4 m/s^2"], "uniform"),
    ],
)
def test_a_key_that_goes_with_one_law_names_it(bare, key, value, law):
    made = from_dict({**bare, "gravity": {key: value}})
    assert made.gravity.law == law
    assert made.gravity.error is None


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"error": 1e-3, "linearise": "5 m"}, "gravity.error: does not go with linearise"),
        ({"law": "smooth", "error": 1e-3}, 'gravity.error: does not go with law = "smooth"'),
        ({"error": 0.5}, "gravity.error: found 0.5; it must be at least 1e-05 and at most 0.05"),
    ],
)
def test_what_does_not_go_together_is_told(bare, section, said):
    with pytest.raises(ScenarioError) as found:
        from_dict({**bare, "gravity": section})
    assert said in str(found.value)


def test_captures_take_no_error():
    table = tomllib.loads(find("paper003_drop").path.read_text("utf-8"))
    with pytest.raises(ScenarioError, match=r"gravity.error: linearised gravity is for landers"):
        from_dict({**table, "gravity": {"law": "polyhedron", "error": 1e-3}})
