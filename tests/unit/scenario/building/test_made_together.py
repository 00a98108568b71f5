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
            out[run] = facts_of(lot, worlds, i)
    return out, len(groups)


def facts_of(lot: Lot, worlds, i):
    """Everything of one run, by name: bytes, or an array's shape and bytes."""
    states = lot.states
    facts = {f"state {name}": array[i].tobytes() for name, array in states.rows.items()}
    for name, record in (("run", states.runs[i]), ("notes", states.notes[i])):
        facts |= dict(numbers(record, f"{name} "))
    row = int(states.notes["row"][i])
    facts["first"] = b"" if states.first is None else states.first[i].tobytes()
    world = dict(numbers(worlds.rows[worlds.which[i]], "world "))
    return facts | {name: own(found, row) for name, found in world.items()}


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


def own(found, row):
    """Of an array with a row a run that of the run; any other as it is."""
    return [found[row]] if isinstance(found, list) and len(found) == OF_RUNS[0] else found


#: How many rows arrays have that have one for each run: of the lot that is looked at.
OF_RUNS = [0]


def compared(name, count, alone):
    """Runs ``alone`` of ``count`` that are made together and one by one; how many models."""
    scenario = load(find(name).path)
    prepared = prepare(scenario, "cpu")
    values = sample(scenario, np.arange(count), total=count)
    return prepared, values
