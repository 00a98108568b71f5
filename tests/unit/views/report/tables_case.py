"""Tables of made-up campaigns, with the columns that motions declare."""

from types import SimpleNamespace

import numpy as np

from alight.campaign.tables.arrow import table_from, table_of, to_bytes
from alight.campaign.tables.inputs import input_columns
from alight.engine.columns import Source, filled
from alight.engine.result import BatchResult
from alight.motions import Model
from alight.motions.capture.columns import CAPTURES
from alight.motions.capture.model import Capture
from alight.motions.rigid.columns import CONTACTS, RIGID, TREE_RUNS

__all__ = [
    "capture_course",
    "capture_table",
    "contact_table",
    "input_columns",
    "run_table",
    "to_bytes",
    "trajectory_table",
]


def named(motion):
    """Something that knows the words for the outcomes of a motion."""
    return SimpleNamespace(ending=motion.run_kind.ending)


def run_table(runs, final, more=(), depth=None):
    """Landings: ``final`` as the engine leaves it, ``more`` are columns with their values."""
    source = Source(BatchResult(final, None), runs, named(Model))
    data = filled(TREE_RUNS, source)
    if depth is not None:
        data["hull_depth"] = depth
    return _with(TREE_RUNS, data, more)


def contact_table(runs, touches):
    """Contacts, and the numbers of their runs."""
    return table_from(CONTACTS, Source(touches, runs))


def trajectory_table(run, solution):
    """The course of a rigid lander."""
    return table_from(RIGID.course, Source(solution, np.array([run])))


def capture_table(rows, lengths, more):
    """Captures: ``rows`` are records of ``ROW``."""
    columns = [column for column in CAPTURES.runs if column.name != "length_m"]
    found = SimpleNamespace(rows=rows, outcome=rows["outcome"])
    data = filled(columns, Source(found, rows["run"], named(Capture)))
    return _with(CAPTURES.runs, data | {"length_m": lengths}, more)


def capture_course(run, flight):
    """The course of a capture."""
    return table_from(CAPTURES.course, Source(flight, np.array([run])))


def _with(columns, data, more):
    every = {**data, **{column.name: array for column, array in more}}
    return table_of([*columns, *(column for column, _ in more)], every)
