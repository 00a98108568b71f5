"""Pictures: what is seen, where, and how it is lit."""

import numpy as np
import pytest

from alight.scenario import bodies
from alight.shapes import Mesh, icosphere
from alight.views.figures.solid import FILL, GREY, SUN, Camera, Light, View, carried, sky_view

CAMERA = Camera(np.radians(285.0), np.radians(20.0))
SUN_ONLY = Light(sun=1.0, fill=0.0, sky=0.0)


def _together(*meshes):
    """Several bodies as one mesh, which the integrity check would refuse."""
    vertices = np.concatenate([m.vertices for m in meshes])
    starts = np.cumsum([0] + [m.n_vertices for m in meshes[:-1]])
    faces = np.concatenate([m.faces + s for m, s in zip(meshes, starts, strict=True)])
    return Mesh(vertices, faces, check=False)


def _at(picture, point):
    """The pixel over a point in body axes."""
    x, y, _ = picture.camera.project(point)
    left, right, bottom, top = picture.extent
    rows, columns = picture.rgba.shape[:2]
    column = int((x - left) / (right - left) * columns)
    row = int((y - bottom) / (top - bottom) * rows)
    return picture.rgba[row, column]


def test_camera_axes():
    assert CAMERA.axes @ CAMERA.axes.T == pytest.approx(np.eye(3), abs=1e-15)
    assert np.linalg.det(CAMERA.axes) == pytest.approx(1.0, rel=1e-14)
    lon, lat = CAMERA.longitude, CAMERA.latitude
    beneath = [np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)]
    assert CAMERA.project(beneath) == pytest.approx([0.0, 0.0, 1.0], abs=1e-15)
    assert CAMERA.project([0.0, 0.0, 1.0])[1] > 0.9  # north is up


def test_outline_of_a_sphere():
    picture = View(icosphere(4, 100.0), CAMERA, pixels=200).picture()
    left, right, bottom, top = picture.extent
    pixel = (right - left) * (top - bottom) / picture.rgba[..., 0].size
    # The silhouette of the facets is inscribed: 0.2 % less than the circle.
    assert picture.rgba[..., 3].sum() * pixel == pytest.approx(np.pi * 100.0**2, rel=4e-3)
    assert _at(picture, [0.0, 0.0, 0.0])[3] == 1.0
    assert picture.rgba[0, 0, 3] == 0.0


@pytest.mark.parametrize("k", [0.0, 0.35, 1.0])
def test_sphere_is_lit_by_the_lunar_lambert_law(k):
    """At a normal n the Sun gives (1 - k) m + 2 k m / (m + e), m = n.s and e = n.v: checked in
    linear light, where nothing casts a shadow."""
    picture = View(icosphere(4), CAMERA, pixels=300, lunar=k).picture(light=SUN_ONLY)
    sun = CAMERA.direction(SUN)
    for mix in (0.0, 0.3, 0.6):
        normal = (1.0 - mix) * sun + mix * CAMERA.axes[2]
        normal /= np.linalg.norm(normal)
        shown = _at(picture, normal)[:3]
        linear = ((shown + 0.055) / 1.055) ** 2.4
        m, e = normal @ sun, normal @ CAMERA.axes[2]
        law = (1.0 - k) * m + 2.0 * k * m / (m + e)
        assert linear == pytest.approx(GREY * law, rel=0.02)
    assert _at(picture, 0.99 * CAMERA.direction(FILL))[:3].max() < 0.02  # the night side


def test_nearer_parts_hide_farther_ones_and_cast_shadows():
    small = icosphere(3, 0.3)
    sun = CAMERA.direction(SUN)
    ground = icosphere(4)
    colours = np.concatenate(
        [np.tile([0.8, 0.1, 0.1], (ground.n_vertices, 1)), np.tile([0.1, 0.1, 0.8], (642, 1))]
    )
    # Between the body and the viewer: it is seen instead of the body.
    before = _together(ground, small.translated(2.0 * CAMERA.axes[2]))
    seen = _at(View(before, CAMERA, pixels=200).picture(colours), [0.0, 0.0, 0.0])
    assert seen[2] > 4.0 * seen[0]
    # Between the body and the Sun: the ground beneath is dark.
    above = _together(ground, small.translated(2.0 * sun))
    lit = _at(View(ground, CAMERA, pixels=200).picture(light=SUN_ONLY), sun)
    shaded = _at(View(above, CAMERA, pixels=200).picture(light=SUN_ONLY), sun)
    assert lit[0] > 0.5
    assert shaded[0] < 0.02


def test_sky_is_open_on_a_sphere_and_narrow_in_the_neck():
    assert sky_view(icosphere(3)).min() > 0.99
    mesh = bodies.find("67P").mesh(1280)
    found = sky_view(mesh)
    assert found.max() > 0.99
    assert 0.2 < found.min() < 0.8


def test_values_carried_to_a_finer_mesh():
    coarse, fine = icosphere(2), icosphere(4)
    same = carried(coarse, coarse.vertices, coarse)
    assert same == pytest.approx(coarse.vertices, abs=1e-12)
    across = carried(coarse, coarse.vertices, fine)
    # Facets lie beneath the sphere by at most 1 - cos(half a facet), 0.02 here.
    assert np.abs(across - fine.vertices).max() < 0.03
    assert carried(coarse, np.full(coarse.n_vertices, 5.0), fine) == pytest.approx(5.0, rel=1e-14)


@pytest.mark.parametrize("oversampling", [1, 2, 3])
def test_picture_of_any_oversampling_has_the_same_place(oversampling):
    view = View(icosphere(2), CAMERA, pixels=61, oversampling=oversampling)
    picture = view.picture()
    assert max(picture.rgba.shape[:2]) == 61
    assert _at(picture, CAMERA.axes[2])[3] == 1.0


def test_a_window_shows_what_the_whole_picture_shows_there():
    """A quarter of the picture at the same scale has the same pixels."""
    mesh, sky = icosphere(3), np.ones(642)
    window = (-0.75, 0.25, -0.5, 0.5)
    part = View(mesh, CAMERA, pixels=50, sky=sky, window=window).picture()
    whole = View(mesh, CAMERA, pixels=200, sky=sky, window=(-2.0, 2.0, -2.0, 2.0)).picture()
    assert part.extent == pytest.approx(window)
    assert part.rgba.shape == (50, 50, 4)
    # 1.25 and 1.5 from the edges of the whole, 50 pixels to a length of 1.
    cut = whole.rgba[75:125, 62:112]
    shifted = View(mesh, CAMERA, pixels=50, sky=sky, window=(-0.76, 0.24, -0.5, 0.5)).picture()
    # Single precision may move a value by a step of the table of screen values.
    assert shifted.rgba == pytest.approx(cut, abs=5e-4)
    assert np.abs(part.rgba - cut).max() > 1e-3  # and half a pixel aside it has not
