"""Words that people try are understood, and a number without a unit gets the usual one."""

import pytest

from alight.scenario import ScenarioError, from_dict
from alight.scenario.suggestions import WORDS, meant


@pytest.mark.parametrize(
    ("section", "key", "word", "right"),
    [
        ("contact", "law", "rigid", "impulse"),
        ("contact", "law", "springs", "compliant"),
        ("gravity", "law", "constant", "uniform"),
        ("ground", "kind", "flat", "plane"),
        ("ground", "kind", "SDF", "distance-field"),
        ("lander", "shape", "cuboid", "box"),
        ("lander", "shape", "articulated", "tree"),
        ("release", "kind", "at rest", None),
        ("release", "kind", "rest", "ground"),
        ("campaign", "sampling", "LHS", "latin-hypercube"),
        ("campaign", "sampling", "monte-carlo", "random"),
    ],
)
def test_words_of_laws(plane, changed, section, key, word, right):
    with pytest.raises(ScenarioError) as wrong:
        from_dict(changed(plane, **{f"{section}__{key}": word}))
    said = str(wrong.value)
    assert f"{section}.{key}" in said
    assert (f'Did you mean "{right}"?' in said) == (right is not None)


@pytest.mark.parametrize(
    ("word", "right"),
    [("gauss", "normal"), ("Gaussian", "normal"), ("lognormal", "log-normal"),
     ("multivariate", "covariance"), ("grid", "sweep"), ("discrete", "choice")],
)  # fmt: skip
def test_words_of_dispersions(plane, word, right):
    plane["dispersions"] = {"release.velocity": {"kind": word, "sigma": "1 cm/s"}}
    with pytest.raises(ScenarioError, match=f'Did you mean "{right}"'):
        from_dict(plane)


def test_a_constant_is_no_dispersion(plane):
    plane["dispersions"] = {"contact.friction": {"kind": "constant", "value": 0.5}}
    with pytest.raises(ScenarioError, match=r"take contact.friction out"):
        from_dict(plane)


@pytest.mark.parametrize(
    ("key", "right"), [("lat", "latitude"), ("altitude", "height"), ("vel", "velocity"),
                       ("omega", "rate"), ("quat", "attitude")],
)  # fmt: skip
def test_words_of_keys(plane, changed, key, right):
    with pytest.raises(ScenarioError, match=f'release.{key}: .*Did you mean "{right}"'):
        from_dict(changed(plane, **{f"release__{key}": 1}))


def test_a_latitude_without_a_unit_is_in_degrees(ryugu, changed):
    for given in (20, 20.0, "20"):
        with pytest.raises(ScenarioError, match=r'did you mean "20(.0)? deg"'):
            from_dict(changed(ryugu, release__latitude=given))
    with pytest.raises(ScenarioError, match='did you mean "60 m"'):
        from_dict(changed(ryugu, release__height=60))


def test_every_word_is_plain_and_means_something_else():
    for word, names in WORDS.items():
        assert word == word.lower().replace("-", "").replace("_", "").replace(" ", "")
        assert names
    assert meant("rigid", ("compliant", "impulse")) == ' Did you mean "impulse"?'
    assert meant(3, ("a",)) == ""
