"""Columns from mappings, tables and batches come out the same; what is empty is nan."""

import numpy as np
import pyarrow as pa
import pytest

from alight.analysis import columns, impacts, settling
from alight.core.errors import InputError
from alight.motions.rigid.columns import RIGID

VALUES, MISSING = np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, True, False, False])
MAPPING = {"a": np.ma.masked_array(VALUES, MISSING), "k": np.arange(4)}
ARROW = pa.table({"a": pa.array(VALUES, mask=MISSING), "k": pa.array(np.arange(4), pa.int32())})
EXPECTED = np.array([1.0, np.nan, 3.0, 4.0])


@pytest.mark.parametrize(
    "table",
    [MAPPING, ARROW, ARROW.to_batches()[0], ARROW.to_batches(max_chunksize=3), iter([ARROW])],
    ids=["mapping", "table", "batch", "batches", "iterator"],
)
def test_any_kind_of_table(table):
    found = columns.gather(table, ["a", "k"])
    np.testing.assert_array_equal(found["a"], EXPECTED)
    np.testing.assert_array_equal(found["k"], np.arange(4.0))


def test_whole_numbers_may_be_missing_too():
    found = columns.column({"k": pa.array([1, None, 3], pa.int32())}, "k")
    np.testing.assert_array_equal(found, [1.0, np.nan, 3.0])


def test_errors_name_the_column():
    with pytest.raises(InputError, match='Did you mean "a"'):
        columns.gather(ARROW.rename_columns(["a", "kk"]), ["A"])
    with pytest.raises(InputError, match='"s" does not hold numbers'):
        columns.column({"s": np.array(["x"])}, "s")
    with pytest.raises(InputError, match="a table is needed"):
        columns.gather(3, ["a"])


def test_no_batches_give_no_rows():
    assert len(columns.gather([], ["a"])["a"]) == 0


def test_analysis_reads_columns_that_campaigns_write():
    written = {column.full_name for column in RIGID.runs}
    assert set(settling.NEEDED) <= written
    contacts = [column.full_name for column in RIGID.contacts]
    assert impacts.impacts({name: np.ones(2) for name in contacts}).contacts == 2
