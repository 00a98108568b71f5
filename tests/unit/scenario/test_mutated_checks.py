"""Broken scenarios through all that comes before a run: read, checked, built; never a traceback.

Each is a scenario of ``SEEDS`` with a few keys renamed, taken away, moved, or with other values.
What is refused names a key and says what to do; what is accepted can be drawn, built and, in the
slow study, run.
"""

import copy
import pathlib
import random
import re
import sys
import tomllib

import numpy as np
import pytest

from alight.campaign.dispersions.sampling import sample
from alight.core.errors import AlightError
from alight.scenario import ScenarioError, from_dict, prepare
from alight.scenario.beginnings import MISSIONS, text_for
from alight.scenario.building.foresight import checked
from alight.scenario.schema.requirement import requirements_of

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

from test_mutations import VALUES, holder, misspelt, paths

COMMON = """
seed = 3
[lander]
shape = "cube"
side = "0.2 m"
mass = "1 kg"
[contact]
restitution = 0.6
friction = 0.5
[stop]
max_time = "20 s"
max_steps = 2000
"""
PLANE = """
[gravity]
law = "uniform"
acceleration = ["0 m/s^2", "0 m/s^2", "-5.7e-3 m/s^2"]
[ground]
kind = "plane"
"""
BALL = """
[body]
gm = "30 m^3/s^2"
[body.rotation]
period = "7.6 h"
pole = ["96 deg", "-66 deg"]
[gravity]
law = "point-mass"
[ground]
kind = "sphere"
radius = "450 m"
"""
TAILS = [
    PLANE + """
[release]
position = ["0 m", "0 m", "0.4 m"]
velocity = ["10 cm/s", "3 cm/s", "-5 cm/s"]
[dispersions]
"release.velocity.z" = { kind = "normal", sigma = "1 cm/s" }
"contact.restitution" = { kind = "sweep", low = 0.3, high = 0.6, count = 4 }
[campaign]
repeats = 2
[[requirement]]
kind = "below"
column = "peak_force"
value = "50 N"
share = 0.95
""",
    PLANE + """
[release]
kind = "ground"
position = ["0 m", "0 m", "0 m"]
[[dispersions.group]]
keys = ["contact.friction", "release.rate"]
sigma = [0.05, "0.01 rad/s", "0.01 rad/s", "0.01 rad/s"]
correlation = [[1, 0.5, 0, 0], [0.5, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
[[requirement]]
kind = "rest-within"
center = ["0 m", "0 m", "0 m"]
radius = "1 m"
share = 0.5
""",
    BALL + """
[release]
kind = "ground"
latitude = "20 deg"
longitude = "40 deg"
vertical = "plumb line"
attitude_axes = "local"
speed = "5 cm/s"
azimuth = "0 deg"
elevation = "45 deg"
[dispersions]
"release.azimuth" = { kind = "sweep", low = "0 deg", high = "315 deg", count = 8 }
[[requirement]]
kind = "outcome"
outcome = "escaped"
at_most = 0.01
""",
    BALL + """
[release]
kind = "orbit"
semi_major_axis = "600 m"
eccentricity = 0.1
inclination = "20 deg"
true_anomaly = "30 deg"
[dispersions]
"release.inclination" = { kind = "normal", sigma = "1 deg" }
[[requirement]]
kind = "rest-within"
latitude = "8 deg"
longitude = "120 deg"
radius = "100 m"
share = 0.9
""",
    BALL + """
[release]
kind = "inertial"
position = ["600 m", "0 m", "0 m"]
velocity = ["0 m/s", "5 cm/s", "0 m/s"]
[dispersions."release.state"]
kind = "covariance"
sigma = ["1 m", "1 m", "1 m", "1 cm/s", "1 cm/s", "1 cm/s"]
""",
]  # fmt: skip
SEEDS = [tomllib.loads(COMMON + tail) for tail in TAILS]
#: What a message says of how to mend a mistake.
FIX = re.compile(
    r"must|[Dd]id you mean|Known|[Gg]ive|[Tt]ake|goes? with|missing|needs?|[Kk]eep|[Ll]eave|"
    r"keys are|belongs|which has no keys|Raise|components of|stands in its section|"
    r"is not a number of"
)
WORDS = ["rigid", "gauss", "constant", "grid", "ground", "orbit", "sweep", "plumb", "legs", "north"]
#: Names of Python that files do not have.
PYTHON = re.compile(r"\b(alight|motions|engine|numpy)\.\w|\bself\b|\bNone\b|<class|Traceback")


def broken(number):
    """Scenario ``number``: a table."""
    rng = random.Random(f"check {number}")
    table = copy.deepcopy(rng.choice(SEEDS))
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        path = rng.choice(list(paths(table)))
        place, key = holder(table, path), path[-1]
        change = rng.randrange(7)
        if change == 0:
            place[misspelt(rng, key)] = place.pop(key)
        elif change == 1:
            del place[key]
        elif change == 2:
            table[key] = copy.deepcopy(place[key])
        elif change == 3 and isinstance(place[key], list) and place[key]:
            place[key][rng.randrange(len(place[key]))] = copy.deepcopy(rng.choice(VALUES))
        elif change == 4 and isinstance(place[key], str):
            place[key] = misspelt(rng, place[key])
        elif change == 5:
            place[key] = rng.choice(WORDS)
        else:
            place[key] = copy.deepcopy(rng.choice(VALUES))
        if not table:
            break
    return table


def built(scenario):
    """Drawn, and made into models and releases; of few runs."""
    runs = np.arange(min(2, scenario.campaign.runs))
    return prepare(scenario, "cpu").groups(sample(scenario, runs))


def said(number, run):
    """What is wrong with a scenario, a fault each; nothing where it can be run."""
    try:
        scenario = from_dict(broken(number), "case.toml")
        checked(scenario)
        requirements_of(scenario.resolved())
        groups = built(scenario)
        if run:
            from alight.engine import simulate

            with groups[0].blamed():
                simulate(groups[0].model, groups[0].release[0])
    except ScenarioError as wrong:
        return list(wrong.problems)
    except AlightError as wrong:
        return [wrong]
    return []


def judged(numbers, run=False):
    """How many were refused; each refusal names a key and a fix, in the words of files."""
    refused = 0
    for number in numbers:
        faults = said(number, run)
        refused += bool(faults)
        for fault in faults:
            text = str(fault)
            assert getattr(fault, "key", "release"), (number, text)
            assert FIX.search(text), (number, text)
            assert not PYTHON.search(text), (number, text)
    return refused


def test_broken_scenarios_are_told_with_key_and_fix():
    refused = judged(range(500))
    assert 250 < refused < 490


@pytest.mark.validate
@pytest.mark.parametrize("part", range(4))
def test_ten_thousand_broken_scenarios_checked_and_run(part):
    refused = judged(range(part, 10_000, 4), run=True)
    assert 1250 < refused < 2450


@pytest.mark.parametrize("mission", MISSIONS)
def test_files_to_begin_with_broken_in_one_key(mission):
    for number in range(20):
        rng = random.Random(f"{mission} {number}")
        table = tomllib.loads(text_for(mission))
        path = rng.choice(list(paths(table)))
        holder(table, path)[misspelt(rng, path[-1])] = holder(table, path).pop(path[-1])
        for fault in faults_of(table):
            assert fault.key and FIX.search(fault.text), str(fault)  # noqa: PT018


def faults_of(table):
    """What is wrong with a table."""
    try:
        from_dict(table, "case.toml")
    except ScenarioError as wrong:
        return wrong.problems
    return []


# -- two mistakes at once --------------------------------------------------------------------------


def changed_at(rng, table, path):
    """Another name, no value, or another value under one key."""
    place, key = holder(table, path), path[-1]
    change = rng.randrange(4)
    if change == 0:
        place[misspelt(rng, key)] = place.pop(key)
    elif change == 1:
        del place[key]
    elif change == 2:
        place[key] = rng.choice(WORDS)
    else:
        place[key] = copy.deepcopy(rng.choice(VALUES))


def wrong_keys(number):
    """Keys that are reported of two changes in two tables: of each alone, and of both."""
    rng = random.Random(f"pair {number}")
    base = rng.choice(SEEDS)
    every = list(paths(base))
    first = rng.choice(every)
    second = rng.choice([path for path in every if path[0] != first[0]])
    draws = [rng.random(), rng.random()]
    found = []
    for chosen in ((0,), (1,), (0, 1)):
        table = copy.deepcopy(base)
        for which in chosen:
            changed_at(random.Random(draws[which]), table, (first, second)[which])
        found.append({fault.key for fault in faults_of(table)})
    return found


def test_mistakes_in_two_tables_are_reported_at_once_and_no_others():
    pairs = [wrong_keys(number) for number in range(160)]
    pairs = [(one, other, both) for one, other, both in pairs if one and other]
    assert len(pairs) > 100
    for number, (one, other, both) in enumerate(pairs):
        assert both <= one | other, number
    assert sum(one | other <= both for one, other, both in pairs) > 0.82 * len(pairs)
