"""``alight bench``: small runs of the real cases, right and wrong, with and without the peer."""

import pytest
from typer.testing import CliRunner

from alight.cli import bench
from alight.cli.main import app
from alight.core.devices import resolve
from alight.core.errors import MissingExtraError
from alight.gravity.polyhedron.field import Polyhedron

runner = CliRunner()


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Bodies and point counts that take milliseconds; no tables, which take seconds to build."""
    monkeypatch.setattr(bench, "SIZES", ((42, 64, 4), (162, 32, 2)))
    polyhedra = [bench.polyhedron_on_one_core, bench.polyhedron_on_two_threads]
    monkeypatch.setattr(bench, "GRAVITY", polyhedra)


@pytest.fixture
def no_peer(monkeypatch):
    def absent(module, extra):
        raise MissingExtraError(f"{module} of {extra}")

    monkeypatch.setattr("alight.core.extras.require", absent)


def test_gravity_against_the_peer():
    pytest.importorskip("polyhedral_gravity")
    # Wide enough for any number: a table that wraps its words is not what is looked at here.
    options = ["bench", "gravity", "--device", "cpu", "--repeats", "1"]
    result = runner.invoke(app, options, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert "80 facets" in result.output
    assert "ns/facet/point" in result.output
    assert "pip install" not in result.output


def test_gravity_without_the_peer(no_peer):
    result = runner.invoke(app, ["bench", "gravity", "--device", "cpu", "--repeats", "1"])
    assert result.exit_code == 0, result.output
    assert 'pip install "alight[dev]"' in " ".join(result.output.split())


def test_rows_with_and_without_the_peer(no_peer):
    alone = list(bench.polyhedron_on_one_core(bench.Setting(resolve("cpu"), 1)))
    assert [row.peer for row in alone] == [None, None]
    assert all(row.right and row.error < 1e-12 and row.value > 0 for row in alone)
    peer = pytest.importorskip("polyhedral_gravity")
    both = list(bench.polyhedron_on_one_core(bench.Setting(resolve("cpu"), 1, peer)))
    assert all(row.peer > 0 and row.ratio > 0 and row.error < 1e-9 for row in both)


def test_a_wrong_field_is_told_and_fails(monkeypatch, no_peer):
    true = Polyhedron.evaluate

    def wrong(self, *arguments, **options):
        u, g, gradient = true(self, *arguments, **options)
        return u, g * 1.000001, gradient

    monkeypatch.setattr(Polyhedron, "evaluate", wrong)
    result = runner.invoke(app, ["bench", "gravity", "--device", "cpu", "--repeats", "1"])
    assert result.exit_code == 1
    assert "WRONG" in result.output


def test_an_unknown_device_is_named():
    result = runner.invoke(app, ["bench", "gravity", "--device", "gpuu"])
    assert "gpuu" in str(result.exception)


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        (bench.Row("a", 3.0, "ns"), True),
        (bench.Row("a", 3.0, "ns", asked=4.0), True),
        (bench.Row("a", 3.0, "ns", asked=2.0), False),
        (bench.Row("a", 3.0, "ns", asked=4.0, ratio=9.0, ratio_asked=10.0), False),
        (bench.Row("a", 3.0, "ns", asked=4.0, ratio=11.0, ratio_asked=10.0), True),
        (bench.Row("a", 3.0, "ns", asked=4.0, error=1e-6), False),
        (bench.Row("a", 3.0, "ns", error=float("nan")), False),
    ],
)
def test_what_holds(row, holds):
    assert row.holds is holds


def test_turns_give_times_and_the_ratio_for_equal_work(monkeypatch):
    """One takes 1 s, the other 4 s for half the work: 8 times faster."""
    now = [0.0]
    monkeypatch.setattr(bench.time, "perf_counter", lambda: now[0])

    def takes(seconds):
        return lambda: now.__setitem__(0, now[0] + seconds)

    assert bench.turn_by_turn(takes(1.0), takes(4.0), 3, 2.0) == (1.0, 4.0, 8.0)
    assert bench.median_time(takes(2.0), 5) == 2.0


def test_markdown_has_a_cell_for_every_column():
    text = bench.markdown_of([bench.Row("a case", 12.345, "ns", 25.0, 300.0, 24.3, 10.0, 1e-12)])
    head, rule, line = text.splitlines()
    assert head.count("|") == rule.count("|") == line.count("|") == len(bench.COLUMNS) + 1
    assert line == "| a case | ns | 12.3 | 300 | 24.3 x | 1.0e-12 | 25, 10 x: yes |"
