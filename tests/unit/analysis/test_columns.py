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


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("empty", [False, True])
def test_columns_of_arrow_are_what_arrow_says(kind, empty):
    values = [1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1]
    given = [None if empty and k % 4 == 1 else pa.scalar(v).cast(kind).as_py()
             for k, v in enumerate(values)]  # fmt: skip
    whole = pa.array(given, pa.type_for_alias(kind))
    for one in (whole, whole.slice(3), whole.slice(2, 5), whole.slice(4, 0)):
        chunks = pa.chunked_array([one, whole.slice(9), one.slice(0, 0)])
        for found in (one, chunks):
            wanted = [np.nan if v is None else float(v) for v in found.to_pylist()]
            table = {"x": found} if found is one else pa.table({"x": found})
            np.testing.assert_array_equal(columns.column(table, "x"), wanted)


def test_words_are_no_numbers():
    with pytest.raises(InputError, match="does not hold numbers"):
        columns.column(pa.table({"x": ["a", "b"]}), "x")


def test_tables_are_those_of_arrow():
    given = {
        "run": np.arange(5)[::2],
        "x": np.array([1.0, np.nan, 3.0]),
        "y": np.ones((3, 2))[:, 0],
    }
    found, wanted = columns.arrow_table(given), pa.table(given)
    assert found.schema == wanted.schema
    for name in given:
        np.testing.assert_array_equal(found[name].to_numpy(), wanted[name].to_numpy())
