"""Files to begin with pass the check, for every mission and body, and say what their keys are."""

import pytest

from alight.core.errors import InputError
from alight.scenario import bodies, landers, loads
from alight.scenario.beginnings import MISSIONS, text_for
from alight.scenario.building.foresight import checked


@pytest.mark.parametrize("mission", MISSIONS)
def test_each_passes_the_check_and_is_commented(mission):
    text = text_for(mission)
    made = loads(text)
    found = checked(made)
    assert not found.problems
    assert made.title
    assert text.count("#") > 8
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("mission", ["landing", "legs", "hop"])
def test_for_every_body_of_the_catalogue(mission):
    for body in bodies.names():
        made = loads(text_for(mission, body))
        assert made.body.name == bodies.find(body).name
        assert made.stop.escape_radius > 0.0


def test_for_every_rigid_lander():
    for name in landers.names():
        assert loads(text_for("hop", "bennu", name)).lander.name == landers.find(name).name


def test_a_hop_is_a_sweep_from_the_ground():
    made = loads(text_for("hop"))
    assert made.release.form == "ground"
    assert made.campaign.runs == 16


def test_what_does_not_go_together_is_refused():
    with pytest.raises(InputError, match='Did you mean "landing"'):
        text_for("landig")
    with pytest.raises(InputError, match="has no legs"):
        text_for("legs", "ryugu", "mascot")
    with pytest.raises(InputError, match="--body goes with landing"):
        text_for("capture", "ryugu")
    with pytest.raises(InputError, match="Ryugu"):
        text_for("landing", "ryugoo")
