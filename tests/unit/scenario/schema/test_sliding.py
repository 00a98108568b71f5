"""The sliding law, parametric ground and points in scenarios."""

import re

import numpy as np
import pytest

from alight import surfaces
from alight.contact import Sliding
from alight.engine import run_batch
from alight.scenario import from_dict, load, loads, prepare, shipped_scenarios
from alight.scenario.errors import ScenarioError


@pytest.fixture
def drop():
    """A table: a point over a sphere, that slides."""
    return {
        "body": {"gm": "30 m^3/s^2"},
        "gravity": {"law": "point-mass"},
        "ground": {"kind": "sphere", "radius": "400 m"},
        "lander": {"shape": "point", "mass": "2 kg"},
        "release": {"latitude": "10 deg", "longitude": "20 deg", "height": "5 m"},
        "contact": {"law": "sliding", "restitution": 0.5},
    }


def numbers(law):
    """All that a law is; not how it was written down."""
    return {name: value for name, value in vars(law).items() if name != "_made_with"}


def told(table):
    with pytest.raises(ScenarioError) as caught:
        from_dict(table, "case.toml")
    return str(caught.value)


def test_defaults_are_those_of_the_class(drop):
    model = prepare(from_dict(drop), "cpu").nominal().model
    assert isinstance(model.contact, Sliding)
    assert numbers(model.contact) == numbers(Sliding(0.5))
    assert model.lander.n_points == 1
    assert model.lander.mass == 2.0


def test_every_key_reaches_the_model(drop):
    drop["contact"] |= {
        "friction": 0.3,
        "static_friction": 0.4,
        "tangential_restitution": 0.7,
        "hop": "3 cm",
    }
    scenario = from_dict(drop)
    law = prepare(scenario, "cpu").nominal().model.contact
    own = Sliding(0.5, 0.3, static_friction=0.4, tangential_restitution=0.7, hop=0.03)
    assert numbers(law) == numbers(own)
    assert loads(scenario.to_toml()) == scenario


def test_values_vary_within_one_model(drop):
    keys = ("restitution", "friction", "static_friction", "tangential_restitution")
    values = {f"contact.{k}": np.linspace(0.4 + (k[0] == "s"), 0.5, 3)[:, None] for k in keys}
    groups = prepare(from_dict(drop), "cpu").groups(values)
    assert len(groups) == 1
    assert groups[0].model.contact.count == 3
    assert len(run_batch(groups[0].model, groups[0].release, device="cpu")) == 3


@pytest.mark.parametrize(
    ("section", "changes", "message"),
    [
        ("contact", {"rolling_resistance": "1 mm"}, "a point does not roll"),
        ("contact", {"stride": 0.1}, 'stride.*does not go with law = "sliding"'),
        ("contact", {"restitution": None}, "contact.restitution.*is missing"),
        ("contact", {"tangential_restitution": 1.5}, "tangential_restitution"),
        ("lander", {"shape": "cube", "side": "10 cm"}, 'follows a point: give .*shape = "point"'),
        ("ground", {"noise": {"amplitude": "1 m", "wavelength": "9 m"}}, "not ground with hills"),
        ("ground", {"degree": 8}, 'degree.*does not go with kind = "sphere"'),
    ],
)
def test_what_does_not_fit_is_told(drop, section, changes, message):
    table = {**drop, section: {**drop[section], **changes}}
    table[section] = {k: v for k, v in table[section].items() if v is not None}
    assert re.search(message, told(table), re.DOTALL)


def test_ground_with_kinks_is_told(drop):
    drop["body"], drop["ground"] = {"name": "ryugu"}, {"kind": "facets"}
    drop["gravity"] = {"law": "point-mass"}
    assert 'not ground of kind "facets"' in told(drop)
    drop["ground"] = {"kind": "parametric", "degree": 30}
    assert "series of degree 22" in told(drop)
    drop["body"] = {"gm": "30 m^3/s^2"}
    drop["ground"] = {"kind": "parametric"}
    assert "needs a shape" in told(drop)


def test_parametric_ground_of_a_body_and_of_a_mesh(drop, tmp_path):
    drop["body"] = {"name": "ryugu", "facets": 1280}
    drop["ground"] = {"kind": "parametric"}
    whole = prepare(from_dict(drop), "cpu").nominal().model.surface
    assert isinstance(whole, surfaces.Parametric)
    assert whole.series.degree == 22
    drop["ground"]["degree"] = 6
    part = prepare(from_dict(drop), "cpu").nominal().model.surface
    assert part.series.degree == 6
    assert (part.series.coefficients == whole.series.coefficients[:49]).all()
    mesh = whole.series.to_mesh(subdivisions=3)
    mesh.save(tmp_path / "own.obj", "m")
    drop["body"] = {"mesh": str(tmp_path / "own.obj"), "unit": "m", "density": "1190 kg/m^3"}
    own = prepare(from_dict(drop), "cpu").nominal().model.surface
    assert own.series.degree == 6
    assert own.series.coefficients[0] == pytest.approx(part.series.coefficients[0], rel=5e-3)


def test_the_shipped_drop_is_that_of_the_paper():
    given = load(shipped_scenarios.find("paper001_ryugu_drop").path)
    for key, value in {
        "contact.restitution": 0.8,
        "contact.tangential_restitution": 0.8,
        "contact.friction": 5.0,
        "contact.static_friction": 6.0,
        "body.density": 1190.0,
        "body.rotation.period": 7.627 * 3600.0,
        "ground.degree": 22,
        "release.height": 60.0,
    }.items():
        assert given.number(key) == pytest.approx(value, rel=1e-12)
    wide = load(shipped_scenarios.find("paper001_ryugu_wide").path)
    throw = load(shipped_scenarios.find("paper001_ryugu_throw").path)
    printed = load(shipped_scenarios.find("paper001_ryugu_printed").path)
    assert wide.replaced({"title": given.title}).contact == given.contact
    assert throw.contact == printed.contact == given.contact
    assert throw.number("release.velocity").tolist() == [0.0, 0.0, -0.1]
    assert printed.number("release.velocity").tolist() == [0.0, 0.0, -1.0]
