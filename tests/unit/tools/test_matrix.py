"""The matrix of what composes: each cell is made, refusals have reasons, the page tells all."""

import importlib
import pkgutil

import pytest
from tools import matrix
from tools import matrix_axes as axes

import alight
from alight import actuators, contact, flight, gravity, surfaces
from alight.contact.hertz import Hertz

#: Laws that stand for others, and are never named: sums, and tables of another mass.
WRAPPERS = {"Combined", "Scaled"}


@pytest.fixture(scope="module")
def found():
    """Every cell made, none run."""
    return matrix.walk(device=None)


def laws(base):
    """All laws of the package that derive from ``base``, and ``base`` itself."""
    for info in pkgutil.walk_packages(alight.__path__, "alight."):
        if not info.name.startswith(("alight.cli", "alight.views", "alight.__main__")):
            importlib.import_module(info.name)
    kinds, todo = set(), [base]
    while todo:
        kind = todo.pop()
        kinds.add(kind)
        todo += kind.__subclasses__()
    return {k for k in kinds if k.__module__.startswith("alight.") and k.__name__ not in WRAPPERS}


@pytest.mark.parametrize(
    ("members", "base"),
    [
        (axes.GROUNDS, surfaces.Surface),
        (axes.GRAVITIES, gravity.Gravity),
        (axes.ROTATIONS, flight.Rotation),
        (axes.EXTERNALS, flight.External),
        (axes.VARIED, contact.GroundLaw),
    ],
)
def test_no_law_is_missing(members, base):
    """One that is not in the matrix is found by nobody: add it to ``tools/matrix_axes.py``."""
    known = {kind for member in members for kind in member.kinds}
    assert laws(base) - {base} == known


def test_no_contact_law_is_missing():
    known = {kind for member in axes.CONTACTS for kind in member.kinds}
    assert laws(contact.Compliant) | {Hertz} == known


def test_no_actuator_is_missing():
    known = {kind for member in axes.ACTUATORS for kind in member.kinds}
    own = {actuators.Motor, actuators.Brake, actuators.Wheel, actuators.Arm}
    assert own | (laws(actuators.Actuator) - {actuators.Actuator}) == known


def test_every_cell_runs_or_is_refused_with_a_reason(found):
    assert {key: one.defect for key, one in found.items() if one.defect} == {}
    for one in found.values():
        for reason in (one.python, one.file):
            assert reason is None or len(reason.split()) > 4


def test_cells_that_users_expect_are_there(found):
    """Of the issue that asked for the matrix: none of them is refused, from Python or a file."""
    for key in (
        ("Ground that varies", "tree on pads, springs of Hertz", "regions of friction"),
        ("Ground", "tree on its belly, springs of Hertz", "rocks on facets"),
        ("Ground", "rigid box, clipped springs", "hills on facets"),
        ("Gravity", "capture", "point mass"),
        ("Rotation of the target", "drop on a membrane", "tumbling"),
    ):
        assert found[key] == matrix.Found(None, None)


def test_the_page_tells_it_all(found):
    """``make matrix`` writes it anew."""
    assert matrix.PAGE.read_text(encoding="utf-8") == matrix.page(found)


def test_a_defect_is_seen(tmp_path):
    """A traceback in place of a refusal, from Python and from a file; a file that says too much."""
    good = next(matrix.cells())

    def broken():
        raise TypeError("no")

    def refused():
        raise alight.core.errors.InputError("not so")

    (tmp_path / "ball.obj").write_text("")
    axes.mesh().save(tmp_path / "ball.obj", unit="m")
    assert matrix.look(good, tmp_path, None).defect is None
    assert "TypeError: no" in matrix.look(good._replace(make=broken), tmp_path, None).defect
    assert "what Python refuses" in matrix.look(good._replace(make=refused), tmp_path, None).defect


@pytest.mark.validate
@pytest.mark.parametrize(
    "line", dict.fromkeys(f"{cell.table} / {cell.row} / " for cell in matrix.cells())
)
def test_every_cell_of_the_matrix_runs(line):
    """Minutes a line of a table from an empty cache: a kernel for most cells."""
    found = matrix.walk(only=line)
    assert found
    assert {key: one.defect for key, one in found.items() if one.defect} == {}
