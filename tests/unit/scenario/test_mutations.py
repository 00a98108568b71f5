"""2 000 broken scenario files: each is refused in words, or is still a scenario; never a traceback.

A defect of the reader would show as an exception that is not an ``AlightError``. What is refused
names the file on every line; what is accepted reads back to itself.
"""

import copy
import pathlib
import random
import sys
import tomllib

import pytest

from alight.core.errors import AlightError
from alight.scenario import ScenarioError, load, loads
from alight.scenario.toml_text import dumps

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

import tree_case

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "scenarios"
SEEDS = [file.read_text("utf-8") for file in sorted(FOLDER.glob("*.toml"))]
COUNT = 2000

HUGE, TINY = "9" * 30, "1e-320"
VALUES = [
    "", " ", "m", "60", "60 m", "-60 m", "0 m", "nan m", "inf m", "-inf m", "1e400 m", "60 parsecs",
    "60 m/s", "5 cm/s", "-1 deg", "1e9 deg", "1 m^^2", "1 m/0", "1 m**9**9**9", "(((((", "1 \x7f",
    f"{HUGE} m", f"{TINY} kg", "60 m ; rm", "ryugu", "Ω m", "60 °", "٣ m", "\u0000", "x" * 5000,
    0, 1, -1, 2**31, 2**63, 2**64, 10**300, 0.0, -0.0, 0.5, -0.5, 1e308, -1e308, 5e-324,
    float("nan"), float("inf"), float("-inf"), True, False, [], {}, [[]], [1], ["1 m"], [1, 2, 3],
    ["1 m", "2 m", "3 m"], ["1 m/s"] * 4, [[1, 2], [3]], [{}], {"kind": "normal"}, {"a": {"b": 1}},
    {"kind": "normal", "sigma": "1 m"}, {"kind": 3}, {"kind": "choice", "values": [1, "a", []]},
]  # fmt: skip


def paths(table, before=()):
    """Every key of a table, with the tables themselves."""
    for key, value in table.items():
        yield (*before, key)
        if isinstance(value, dict):
            yield from paths(value, (*before, key))


def holder(table, path):
    for key in path[:-1]:
        table = table[key]
    return table


def misspelt(rng, word):
    place = rng.randrange(len(word) + 1)
    letter = rng.choice("abcdefgxyz_-. 0é")
    return rng.choice(
        [
            word[:place] + letter + word[place:],
            word[:place] + word[place + 1 :],
            word[::-1],
            word.upper(),
        ]
    )


def mutated_table(rng, table):
    """One change to the tree: a key renamed, removed, moved, or a value replaced."""
    path = rng.choice(list(paths(table)))
    place, key = holder(table, path), path[-1]
    change = rng.randrange(6)
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
    else:
        place[key] = copy.deepcopy(rng.choice(VALUES))


def mutated_bytes(rng, text):
    """A few bytes changed, cut out or doubled."""
    data = bytearray(text.encode())
    for _ in range(rng.randrange(1, 4)):
        start = rng.randrange(len(data))
        change = rng.randrange(4)
        if change == 0:
            data[start] = rng.randrange(256)
        elif change == 1:
            del data[start : start + rng.randrange(1, 80)]
        elif change == 2:
            data[start:start] = data[start : start + rng.randrange(1, 80)]
        else:
            data[start:start] = rng.choice(
                [b"[", b"]", b'"', b"=", b"{", b"\n", b"[[a]]\n", b"'''"]
            )
        if not data:
            data = bytearray(b"#")
    return bytes(data)


def mutation(number):
    """Scenario ``number``: the bytes of a file."""
    rng = random.Random(f"mutation {number}")
    text = rng.choice(SEEDS)
    if number % 4 == 3:
        return mutated_bytes(rng, text)
    table = tomllib.loads(text)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        mutated_table(rng, table)
    try:
        return dumps(table).encode()
    except UnicodeEncodeError:
        return b""


def outcome(file):
    """The scenario in a file, or why it was refused."""
    try:
        return load(file), None
    except AlightError as error:
        return None, error


@pytest.mark.parametrize("part", range(4))
def test_broken_scenarios_are_refused_in_words(tmp_path, part):
    file = tmp_path / "case.toml"
    refused = 0
    for number in range(part, COUNT, 4):
        file.write_bytes(mutation(number))
        scenario, why = outcome(file)
        if why is None:
            assert loads(scenario.to_toml()) == scenario, number
            continue
        refused += 1
        assert isinstance(why, ScenarioError), number
        assert all(line.startswith(str(file)) for line in str(why).splitlines()), number
        assert all(problem.text for problem in why.problems), number
    # A test whose mutations did no harm would be none; some, such as a new title, do none.
    assert 0.5 * COUNT / 4 < refused < COUNT / 4


def mutated_tree(number):
    """An articulated lander with some values of its parts replaced, renamed or taken away."""
    rng = random.Random(f"tree {number}")
    table = tree_case.table()
    for _ in range(rng.choice([1, 1, 2, 4])):
        parts = table["lander"][rng.choice([k for k, v in table["lander"].items() if v != "tree"])]
        if not parts:
            continue
        part = rng.choice(parts)
        key = rng.choice([*part] or ["name"])
        change = rng.randrange(5)
        if change == 0:
            part[misspelt(rng, key)] = part.pop(key, 1)
        elif change == 1:
            part.pop(key, None)
        elif change == 2:
            parts.remove(part)
        elif change == 3 and isinstance(part.get(key), str):
            part[key] = misspelt(rng, part[key])
        else:
            part[key] = copy.deepcopy(rng.choice(VALUES))
    return dumps(table).encode("utf-8", "replace")


def test_broken_trees_are_refused_in_words(tmp_path):
    file = tmp_path / "case.toml"
    refused = 0
    for number in range(300):
        file.write_bytes(mutated_tree(number))
        scenario, why = outcome(file)
        if why is None:
            assert loads(scenario.to_toml()) == scenario, number
            continue
        refused += 1
        assert isinstance(why, ScenarioError), number
        assert all(line.startswith(str(file)) for line in str(why).splitlines()), number
    assert 150 < refused < 300
