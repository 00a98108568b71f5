"""The sheet about a body: nothing overlaps, everything is there, the same input the same file."""

import itertools

import numpy as np
import pytest

from alight.analysis.latlong import lat_long_grid
from alight.analysis.surface import examine
from alight.cli.body_report import sheet_text
from alight.cli.body_subject import find_subject
from alight.gravity.polyhedron.field import Polyhedron
from alight.gravity.simple import PointMass
from alight.shapes import icosphere
from alight.views import style
from alight.views.figures.body import maps, sheet
from alight.views.figures.solid import Camera, View


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch):
    """Pictures of few pixels, for speed."""
    monkeypatch.setattr(sheet, "PIXELS", 120)
    monkeypatch.setattr(sheet, "PORTRAIT_PIXELS", 200)


def _made(name, facets=5120):
    subject = find_subject(name, facets)
    field = Polyhedron(subject.mesh, gm=subject.gm)
    surface = examine(subject.mesh, field, subject.gm, subject.spin)
    text = sheet_text(subject, surface)
    return sheet.Sheet(surface, text, fixed_axis=not subject.tumbles), surface, text


def _drawn(made, monkeypatch):
    """Every text that the sheet shows with its box in pixels, and the box of the sheet."""
    found = []

    def look(fig, *files):
        fig.canvas.draw()
        texts = [*fig.texts, *itertools.chain(*(_texts(axes) for axes in fig.axes))]
        seen = [t for t in texts if t.get_visible() and t.get_text().strip()]
        found.extend((t.get_text(), t.get_window_extent()) for t in seen)
        found.append(("the sheet", fig.bbox))

    monkeypatch.setattr(style, "save", look)
    made.draw()
    *texts, (_, canvas) = found
    return texts, canvas


def _texts(axes):
    """Texts of one frame; its titles and ticks only where they are drawn."""
    yield from axes.texts
    if not axes.axison:
        return
    yield axes._left_title
    for axis in (axes.xaxis, axes.yaxis):
        yield axis.label
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks():
            if low <= tick.get_loc() <= high:
                yield from (tick.label1, tick.label2)


@pytest.mark.parametrize("name", ["didymos", "toutatis"])
def test_no_text_overlaps_or_leaves_the_sheet(name, monkeypatch):
    made, _, text = _made(name)
    texts, canvas = _drawn(made, monkeypatch)
    shown = [t for t, _ in texts]
    for name_, value in text.facts:
        assert name_ in shown
        assert value in shown
    assert text.title in shown
    assert any("[µm/s²]" in t for t in shown)
    assert any(t.replace("\n", " ") == text.notes[0] for t in shown)
    for what, box in texts:
        assert canvas.x0 <= box.x0, what
        assert box.x1 <= canvas.x1, what
        assert canvas.y0 <= box.y0, what
        assert box.y1 <= canvas.y1, what
    for (one, a), (other, b) in itertools.combinations(texts, 2):
        overlap = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert min(overlap) <= 1.0, (one, other)


def test_files_are_written_and_reproduce(tmp_path):
    made, _, _ = _made("ryugu", 320)
    files = [tmp_path / "deep" / "a.png", tmp_path / "a.svg", tmp_path / "b.svg"]
    made.draw(*files)
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert files[1].read_bytes() == files[2].read_bytes()
    made.draw_portrait(tmp_path / "solid.png")
    assert (tmp_path / "solid.png").stat().st_size > 10_000


def test_outward_ground_is_hatched_and_told(monkeypatch):
    made, surface, text = _made("didymos")
    assert surface.outward_fraction > 0.0
    assert "outward" in text.notes[0]
    hatched = []
    monkeypatch.setattr(maps, "hatch", lambda axes, grid, mask: hatched.append(mask))
    monkeypatch.setattr(style, "save", lambda fig, *files: None)
    made.draw()
    assert len(hatched) == 2
    assert (hatched[0] == (surface.weight < 0.0)).all()


def test_scales_cover_the_surface():
    _, surface, _ = _made("bennu", 320)
    pull, slopes = sheet.gravity_layer(surface), sheet.slope_layer(surface)
    found = 1e6 * surface.effective_gravity
    assert pull.low == pytest.approx(found.min(), rel=0.02)
    assert pull.high == pytest.approx(found.max(), rel=0.02)
    assert "µm/s²" in pull.label
    assert slopes.low == 0.0
    assert slopes.high >= np.degrees(np.quantile(surface.slope, 0.9))
    assert slopes.high % 10.0 == 0.0


def test_sphere_is_drawn_in_one_colour():
    """Rounding on a body of even gravity is not blown up into a map."""
    mesh = icosphere(4, 100.0)
    surface = examine(mesh, PointMass(1.0), 1.0, np.zeros(3))
    layer = sheet.gravity_layer(surface)
    painted = layer.paint(layer.values)
    assert np.ptp(painted, axis=0).max() < 0.25
    assert layer.extend == "neither"


def test_spin_axis_is_drawn_where_it_leaves_the_body():
    mesh = icosphere(3, 100.0)
    camera = Camera(0.0, 0.0)
    picture = View(mesh, camera, pixels=100).picture()
    with style.figure(4.0, 4.0) as fig:
        axes = fig.add_axes((0.0, 0.0, 1.0, 1.0))
        sheet.draw_solid(axes, picture, mesh, np.array([0.0, 0.0, 1.0]))
        fig.canvas.draw()
        tops = [p.get_path().vertices[:, 1].max() for p in axes.patches]
        assert max(tops) > 100.0
        x0, x1 = axes.get_xlim()
        y0, y1 = axes.get_ylim()
        assert x1 - x0 == pytest.approx(y1 - y0, rel=1e-12)  # a square frame, one scale
        sheet.draw_solid(fig.add_axes((0.0, 0.0, 0.5, 0.5)), picture, mesh, None)
        assert not fig.axes[1].patches


def test_map_is_closed_at_the_first_meridian():
    """A quantity that changes only with longitude: both edges of the map show the same."""
    mesh = icosphere(3)
    grid = lat_long_grid(mesh, 19, 36)
    values = mesh.vertices[:, 1]
    layer = maps.Layer("t", "l", values, style.GRAVITY, -1.0, 1.0, maps.even_levels(-1.0, 1.0))
    with style.figure(6.0, 3.0) as fig:
        axes = fig.add_subplot()
        image = maps.draw_map(axes, grid, layer)
        shown = image.get_array()
        assert shown.shape == (19, 37)
        assert (shown[:, 0] == shown[:, -1]).all()
        assert shown[9, 9] == pytest.approx(1.0, abs=0.02)  # equator, 90 degrees east
        assert image.get_extent() == [-5.0, 365.0, -95.0, 95.0]
        fig.canvas.draw()
        assert [t.get_text() for t in axes.get_xticklabels()][1] == "60°E"
        assert [t.get_text() for t in axes.get_yticklabels()][1] == "60°S"
