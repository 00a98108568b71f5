"""Runs made together, as rows of one model, are the runs made alone, bit by bit."""

import ctypes

import numpy as np
import pytest

from alight.campaign.dispersions.sampling import sample
from alight.core import devices
from alight.engine.fleet import gathered
from alight.engine.lot import Lot
from alight.scenario import load, prepare
from alight.scenario.shipped_scenarios import find

CPU = devices.resolve("cpu")
#: Fields of Warp's record of an array.
ARRAY = ("data", "grad", "shape", "strides", "ndim", "flags")
#: What tells runs apart.
OWN = ("number", "row")


def made(prepared, values, count):
    """What each run starts with and what its kernel reads, by the number of the run."""
    out = [None] * count
    groups = prepared.groups(values)
    models, releases = [g.model for g in groups], [g.release for g in groups]
    for part in gathered(models, releases):
        lot = part.lot(None)
        worlds = lot.model.worlds(lot.release, CPU, np.arange(len(lot)))
        rows = np.concatenate([groups[i].rows for i in part.numbers])
        for i, run in enumerate(rows.tolist()):
            out[run] = facts_of(lot, worlds, i), int(lot.states.notes["row"][i])
    return out, len(groups)


def facts_of(lot: Lot, worlds, i):
    """Everything of one run, by name: bytes, or an array's shape and bytes."""
    states = lot.states
    facts = {f"state {name}": array[i].tobytes() for name, array in states.rows.items()}
    for name, record in (("run", states.runs[i]), ("notes", states.notes[i])):
        facts |= dict(numbers(record, f"{name} "))
    return facts | dict(numbers(worlds.rows[worlds.which[i]], "world "))


def numbers(record, prefix):
    """The numbers of a record, and those that its arrays point to."""
    for name in record.dtype.names:
        value, inside = record[name], record.dtype[name].names
        if inside == ARRAY:
            yield prefix + name, pointed(value)
        elif inside:
            yield from numbers(value, f"{prefix}{name}.")
        elif name not in OWN:
            yield prefix + name, value.tobytes()


def pointed(found):
    """Rows of bytes that the record of an array points to."""
    count, size = int(found["shape"][0]), int(found["strides"][0])
    whole = ctypes.string_at(int(found["data"]), size * count) if size * count else b""
    return [whole[i * size : (i + 1) * size] for i in range(count)]


def same(together, alone, row):
    """The names of what differs; of an array with a row a run that of the run is looked at."""
    for name in together.keys() | alone.keys():
        one, other = together.get(name), alone.get(name)
        if isinstance(one, list) and len(one) != len(other):
            one = [one[row]]
        if name.startswith("state "):  # room for the largest, filled up with zeros
            one, other = (found.rstrip(b"\0") for found in (one, other))
        if one != other:
            yield name


@pytest.mark.parametrize(
    ("name", "count", "models", "step"),
    [
        ("paper002_dispersed", 300, 1, 20),
        ("paper003_dispersed", 210, 7, 15),
        pytest.param("paper002_dispersed", 300, 1, 1, marks=pytest.mark.validate),
        pytest.param("paper003_dispersed", 700, 7, 1, marks=pytest.mark.validate),
    ],
)
def test_runs_made_together_are_those_made_alone(name, count, models, step):
    """States, what kernels read, and the numbers that these point to, of each ``step``-th run."""
    prepared = prepare(load(find(name).path), "cpu")
    values = sample(prepared.scenario, np.arange(count), total=count)
    together, groups = made(prepared, values, count)
    assert groups == models  # rows, not models
    for run in range(0, count, step):
        one = {key: array[run : run + 1] for key, array in values.items()}
        (alone,), _ = made(prepared, one, 1)
        facts, row = together[run]
        assert list(same(facts, alone[0], row)) == []


def test_springs_of_a_run_do_not_depend_on_its_company():
    """Stiffness, slope and friction all differ: limits of steps are those of each run."""
    prepared = prepare(load(find("paper002_dispersed").path), "cpu")
    values = sample(prepared.scenario, np.arange(6), total=6)
    values["contact.stiffness"] = np.linspace(5e4, 4e5, 6)
    together, groups = made(prepared, values, 6)
    assert groups == 1
    for run in range(6):
        one = {key: array[run : run + 1] for key, array in values.items()}
        (alone,), _ = made(prepared, one, 1)
        assert list(same(together[run][0], alone[0], together[run][1])) == []
