"""``[[requirement]]``: read, checked against the columns and outcomes there are, and kept."""

import numpy as np
import pytest

from alight.campaign.plan import make_plan
from alight.core.requirements import Requirement
from alight.scenario import ScenarioError, from_dict
from alight.scenario.schema.requirement import limit_in, requirements_of

FORCE = {"kind": "below", "column": "peak_force", "value": "50 N", "share": 0.99}
ESCAPE = {"kind": "outcome", "outcome": "escaped", "at_most": 0.01, "confidence": 0.9}
TARGET = {"kind": "rest-within", "latitude": "8 deg", "longitude": "120 deg", "radius": "0.1 km",
          "share": 0.95, "name": "crater"}  # fmt: skip


@pytest.fixture
def asking(plane, ryugu):
    def make(*entries, body=False):
        return from_dict({**(ryugu if body else plane), "requirement": list(entries)})

    return make


def test_what_is_asked_in_the_units_of_the_table(asking):
    force, escape, crater = requirements_of(asking(FORCE, ESCAPE, TARGET, body=True).resolved())
    assert (force.column, force.limit, force.share, force.at_least) == (
        "peak_force_N", 50.0, 0.99, True,
    )  # fmt: skip
    assert str(force) == force.name == "peak_force_N below 50 N in at least 99 % of runs"
    assert (escape.outcome, escape.share, escape.at_least) == ("escaped", 0.01, False)
    assert escape.confidence == 0.9
    assert (crater.name, crater.radius, crater.flat) == ("crater", 100.0, False)
    b, a = np.radians([8.0, 120.0])
    wanted = [np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)]
    assert crater.center == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize(
    ("value", "unit", "number"),
    [
        ("5 h", "s", 18000.0),
        ("0.1 rad", "deg", np.degrees(0.1)),
        ("1 kN*m", "N m", 1000.0),
        ("2 N*s", "N s", 2.0),
        ("6 rpm", "rad/s", 0.2 * np.pi),
        (3, "", 3.0),
    ],
)
def test_limits_become_the_units_of_columns(value, unit, number):
    assert limit_in(value, unit) == pytest.approx(number, rel=1e-14)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({**FORCE, "column": "peak_forse"}, r'requirement.1.column: .*Did you mean "peak_force"'),
        ({**FORCE, "value": "50 m"}, r'requirement.1.value: .*no unit of force.*is in N'),
        ({**FORCE, "value": 50}, r"requirement.1.value: found the bare number 50"),
        ({**FORCE, "share": 1.5}, r"requirement.1.share: found 1.5"),
        ({**FORCE, "share": None}, r"requirement.1.share: is missing"),
        ({**FORCE, "radius": "1 m"}, r"requirement.1.radius: does not go with kind"),
        ({**ESCAPE, "outcome": "escape"}, r'requirement.1.outcome: .*Did you mean "escaped"'),
        ({**ESCAPE, "at_least": 0.5}, r"requirement.1: needs either at_most or at_least"),
        (TARGET, r"requirement.1.latitude: goes with a body; on flat ground give center"),
        ({"kind": "rest"}, r'requirement.1.kind: .*Did you mean "rest-within"'),
        ({**FORCE, "shares": 0.1}, r"requirement.1.shares: unknown key"),
    ],
)  # fmt: skip
def test_mistakes_name_the_key_and_a_fix(asking, entry, said):
    given = {key: value for key, value in entry.items() if value is not None}
    with pytest.raises(ScenarioError, match=said):
        asking(given)


def test_columns_of_parts_and_of_captures(asking):
    made = asking({**FORCE, "column": "actuator_work_wheel", "value": "1 mJ"})
    (found,) = requirements_of(made.resolved())
    assert (found.column, found.limit) == ("actuator_work_wheel_J", 1e-3)


def test_they_are_kept_and_decide_no_number(asking, plane):
    made, none = asking(FORCE), from_dict(plane)
    assert from_dict(made.resolved()) == made
    plans = [make_plan(one, "cpu", {"alight": "1"}) for one in (made, none)]
    assert plans[0].hash == plans[1].hash
    assert requirements_of(plans[0].scenario)[0].limit == 50.0
    assert "requirement" not in plans[1].scenario


def test_those_of_a_study_are_kept_as_they_are():
    one = Requirement("f", "below", 0.9, column="peak_force_N", limit=5.0)
    from dataclasses import asdict

    assert requirements_of({"study": {}, "requirement": [asdict(one)]}) == (one,)


# -- light -----------------------------------------------------------------------------------------

NIGHT = {"kind": "below", "column": "longest_night", "value": "5 h", "share": 0.9}
DATED = {**NIGHT, "date": "2018-10-03"}


def test_light_is_asked_in_hours_with_a_date_or_that_of_the_scenario(asking, ryugu):
    (found,) = requirements_of(asking(DATED, body=True).resolved())
    assert (found.column, found.limit, found.date) == (
        "longest_night_s", 18000.0, "2018-10-03T00:00:00",
    )  # fmt: skip
    assert found.columns == ("rest_x_m", "rest_y_m", "rest_z_m")
    assert str(found) == "longest_night_s below 5 h on 2018-10-03 in at least 90 % of runs"
    sunny = {**ryugu, "environment": {"sun": {"date": "2018-10-03", "tide": False}}}
    (found,) = requirements_of(from_dict({**sunny, "requirement": [NIGHT]}).resolved())
    assert (found.date, found.of_light) == ("", True)


@pytest.mark.parametrize(
    ("entry", "body", "said"),
    [
        (
            NIGHT,
            {},
            r'requirement.1.date: is missing: .*date = "2018-10-03" here, or \[environment',
        ),
        ({**DATED, "value": "5 m"}, {}, r"requirement.1.value: .*is in s"),
        ({**DATED, "date": "then"}, {}, r"requirement.1.date: .*no date"),
        ({**FORCE, "date": "2018-10-03"}, {}, r"requirement.1.date: goes with light alone"),
        (DATED, {"rotation": {"kind": "none"}}, r"body.rotation: the body does not rotate"),
    ],
)
def test_what_light_lacks_is_named(asking, ryugu, entry, body, said):
    with pytest.raises(ScenarioError, match=said):
        from_dict({**ryugu, "body": {**ryugu["body"], **body}, "requirement": [entry]})


def test_light_takes_a_body_with_pole_and_orbit(asking, plane, ryugu):
    with pytest.raises(ScenarioError, match=r"requirement.1.column: .*flat ground has no day"):
        asking(DATED)
    turning = {"kind": "uniform", "period": "8 h"}
    own = {"gm": "30 m^3/s^2", "rotation": turning}
    ball = {**ryugu, "body": own, "ground": {"kind": "sphere", "radius": "400 m"},
            "gravity": {"law": "point-mass"}, "requirement": [DATED]}  # fmt: skip
    with pytest.raises(ScenarioError, match=r"body.rotation.pole: is missing: requirement.1 asks"):
        from_dict(ball)
    own["rotation"] = {**turning, "pole": ["96 deg", "-66 deg"]}
    with pytest.raises(ScenarioError, match=r"environment.sun: the orbit of this body"):
        from_dict(ball)
    still = {"sun": {"direction": [1.0, 0.0, 0.0], "distance": "1 AU", "tide": False}}
    ask = {key: value for key, value in DATED.items() if key != "date"}
    (found,) = requirements_of(
        from_dict({**ball, "environment": still, "requirement": [ask]}).resolved()
    )
    assert found.of_light
