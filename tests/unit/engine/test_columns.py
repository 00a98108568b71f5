"""Columns: paths into what was found, what is empty, names with units."""

from types import SimpleNamespace

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.engine.columns import (
    Column,
    Source,
    check_names,
    each,
    filled,
    numbered,
    place,
    spelt_parts,
    vector,
)

FINAL = np.array(
    [(1.0, (1.0, 2.0, 3.0), 2), (5.0, (4.0, 5.0, 6.0), 0)],
    dtype=[("t", "f8"), ("x", "f8", 3), ("touches", "i4")],
)
FOUND = SimpleNamespace(
    final=FINAL,
    touched=FINAL["touches"] > 0,
    notes={"slack": np.array([np.nan, 7.0])},
    peaks=SimpleNamespace(tilt=np.array([0.0, np.pi]), pads=np.array([[1.0, 2.0], [3.0, 4.0]])),
)
SOURCE = Source(FOUND, np.array([10, 11]))


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("final.t", [1.0, 5.0]),
        ("final.x[2]", [3.0, 6.0]),
        ("peaks.pads[1]", [2.0, 4.0]),
        ("peaks.tilt", [0.0, np.pi]),
    ],
)
def test_paths_lead_to_values(path, values):
    assert SOURCE.at(path).tolist() == values
    assert Column("a", "", "", path).values(SOURCE).tolist() == values


def test_values_are_empty_where_they_are_not_known():
    first = Column("first", "s", "", "final.t", where="touched").values(SOURCE)
    assert first.tolist() == [1.0, None]
    slack = Column("slack", "s", "", "notes.slack", where="known").values(SOURCE)
    assert slack.tolist() == [None, 7.0]
    assert not np.ma.isMaskedArray(Column("t", "s", "", "final.t", where="known").values(SOURCE))


def test_names_end_in_units():
    assert Column("peak_rate", "rad/s", "").full_name == "peak_rate_rad_per_s"
    assert Column("a", "N*s/m^2", "").full_name == "a_N_s_per_m2"
    assert Column("bending_nm", "N m", "", plain=True).full_name == "bending_nm"
    assert [c.full_name for c in vector("end_", "m", "", "final.x")] == [
        "end_x_m", "end_y_m", "end_z_m",
    ]  # fmt: skip
    parts = ["leg 1", "leg-1", "leg_1", "~"]
    assert spelt_parts(parts) == ["leg_1", "leg_2", "leg_3", "part"]


def test_several_at_once():
    found = filled(
        [*vector("", "m", "", "final.x"), *each("tilt", ["one", "two"], "deg", "", "peaks.pads")],
        SOURCE,
    )
    assert found["y"].tolist() == [2.0, 5.0]
    assert found["tilt_two"] == pytest.approx(np.degrees([2.0, 4.0]), rel=1e-15)
    latitude, longitude = place("", "final.x")
    x = FINAL["x"]
    expected = np.degrees(np.arcsin(x[:, 2] / np.linalg.norm(x, axis=1)))
    assert latitude.values(SOURCE) == pytest.approx(expected, rel=1e-12)
    assert longitude.values(SOURCE) == pytest.approx(
        np.degrees(np.arctan2(x[:, 1], x[:, 0])), rel=1e-12
    )


def test_contacts_are_numbered_run_by_run():
    assert numbered(Source(None, np.array([3, 3, 4, 7, 7, 7]))).tolist() == [0, 1, 0, 0, 1, 2]
    assert numbered(Source(None, np.zeros(0, np.int64))).tolist() == []


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(InputError, match='called "path_m"'):
        check_names([Column("path", "m", ""), Column("path", "m", "")])
