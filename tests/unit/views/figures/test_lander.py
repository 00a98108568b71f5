"""The sheet about a lander: what is seen, what is hidden, and that nothing overlaps."""

import itertools

import numpy as np
import pytest

from alight.shapes import icosphere
from alight.vehicles import RigidLander
from alight.vehicles.rigid import hull_meshes
from alight.views import style
from alight.views.figures import lander as view
from alight.views.figures.solid import Camera
from alight.views.looks import split


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch):
    monkeypatch.setattr(view, "PIXELS", 120)
    monkeypatch.setattr(view, "PLAN_PIXELS", 60)


def _subject(rigid, **words):
    told = {"title": rigid.name, "subtitle": "a lander", "facts": [("mass", "1 kg")], **words}
    return view.Subject(hull=rigid.hull, points=rigid.points, radii=rigid.radii, **told)


def test_corners_of_a_cube_seen_and_hidden():
    """From a corner's direction seven corners of a cube are seen; along an axis, the near four."""
    cube = hull_meshes.box([1.0, 1.0, 1.0])
    oblique = view._hidden(cube, cube.vertices, cube.vertex_normals, view.CAMERA)
    assert oblique.sum() == 1
    assert np.argmax(oblique) == np.argmin(cube.vertices @ view.CAMERA.axes[2])
    along = Camera(0.0, 0.0)
    hidden = view._hidden(cube, cube.vertices, cube.vertex_normals, along)
    assert not hidden[cube.vertices[:, 0] > 0].any()


def test_spike_behind_a_ball_is_hidden():
    ball = icosphere(2)
    points = 1.5 * np.stack([view.CAMERA.axes[2], -view.CAMERA.axes[2], view.CAMERA.axes[0]])
    hidden = view._hidden(ball, points, np.zeros((3, 3)), view.CAMERA)
    assert hidden.tolist() == [False, True, False]


def _split(hull):
    return split(hull.vertices, hull.faces)


def test_hull_is_split_at_its_creases_only():
    cube = hull_meshes.box([1.0, 1.0, 1.0])
    mesh, vertex = _split(cube)
    assert mesh.n_vertices == 24  # four corners on each of six sides
    np.testing.assert_array_equal(mesh.vertices, cube.vertices[vertex])
    np.testing.assert_allclose(np.abs(mesh.vertex_normals).max(axis=1), 1.0, rtol=1e-12)
    ball = icosphere(3)
    assert _split(ball)[0].n_vertices == ball.n_vertices
    assert not view._creases(ball).any()
    disc = hull_meshes.prism(16, 0.18, 0.07)
    assert view._creases(disc).sum() == 48  # two rims and the edges between them


@pytest.mark.parametrize(
    "rigid",
    [
        RigidLander.cylinder(0.18, 0.07, 1.1, name="disc"),
        RigidLander.sphere(2.0, 1.0),
        RigidLander.box([1.0, 0.2, 3.0], 1.0, points=120, extra=[[0.0, 0.0, 4.0]]),
    ],
    ids=["disc", "sphere", "box"],
)
def test_texts_stay_apart_and_on_the_sheet(rigid, monkeypatch, tmp_path):
    found = []

    def look(fig, *files):
        fig.canvas.draw()
        for axes in fig.axes:
            if axes.axison:
                labels = [axes.xaxis.label, axes.yaxis.label, axes._left_title]
                texts = labels + axes.get_xticklabels() + axes.get_yticklabels()
                found.append([(t.get_text(), t.get_window_extent()) for t in texts])
        found.append([(t.get_text(), t.get_window_extent()) for t in fig.texts])
        found.append([("sheet", fig.bbox)])

    monkeypatch.setattr(style, "save", look)
    view.draw(_subject(rigid, notes=["A note."], sources=["mass: somewhere [read]"]))
    *groups, [(_, sheet)] = found
    texts = [t for t in itertools.chain(*groups) if t[0]]
    assert {"From above", "x [cm]", "z [cm]", rigid.name} <= {name for name, _ in texts}
    for name, box in texts:
        assert sheet.x0 <= box.x0 <= box.x1 <= sheet.x1, name
        assert sheet.y0 <= box.y0 <= box.y1 <= sheet.y1, name
    for (one, a), (two, b) in itertools.combinations(texts, 2):
        assert not a.overlaps(b), (one, two)


def test_same_lander_same_file(tmp_path):
    subject = _subject(RigidLander.cube(0.2, 5.0, extra=[[0.2, 0.2, 0.2]]))
    files = [tmp_path / f"{k}.png" for k in "ab"]
    for file in files:
        view.draw(subject, file)
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("limit", [0.011, 0.1, 0.19, 0.21, 0.55, 0.9999, 1.0, 4.2, 77.0])
def test_ticks_are_round_and_few(limit):
    ticks = view._ticks(limit)
    assert 3 <= len(ticks) <= 7
    assert ticks[-1] <= limit
    np.testing.assert_allclose(ticks, -ticks[::-1])
