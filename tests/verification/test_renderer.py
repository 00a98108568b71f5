"""The ray tracer against closed forms.

A sphere of radius R seen from a distance d fills the cone of half angle asin(R/d): on a plane at
distance 1 a disc of radius R / sqrt(d^2 - R^2). Lit from a direction s and seen from v, its
terminator is the great circle n.s = 0, and in a parallel view the lit part of its disc is
(1 + cos a) / 2, a the angle between s and v (the phase law). A pole of height h casts on level
ground a shadow of h / tan(e) under a Sun at the height e, and a finite Sun of radius r a penumbra
from h / tan(e + r) to h / tan(e - r). The way along a ray to a plane n.x = c is
(c - n.o) / (n.d).
"""

import numpy as np
import pytest

from alight.core import devices, frames
from alight.shapes import Mesh, icosphere
from alight.views.render.exposure import Exposure, Lamps, Light
from alight.views.render.lens import Lens, looking, viewer_axes
from alight.views.render.scene import Hole, Part, Scene, Thing

SUN_ONLY = Light(sun=1.0, fill=0.0, sky=0.0)
UP = np.array([0.0, 0.0, 1.0])


@pytest.fixture(params=[d.name for d in devices.available()])
def device(request):
    return devices.resolve(request.param)


def unit(*v):
    return np.array(v, dtype=float) / np.linalg.norm(v)


def level(half=50.0, height=0.0):
    """A square of level ground."""
    corners = [[-half, -half, height], [half, -half, height], [half, half, height],
               [-half, half, height]]  # fmt: skip
    return Mesh(np.array(corners), np.array([[0, 1, 2], [0, 2, 3]]), check=False)


def box(half, height):
    """A pole: a prism on the ground."""
    x = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
    v = np.concatenate(
        [np.column_stack([x, np.zeros(4)]), np.column_stack([x, np.full(4, height)])]
    )
    quads = [(0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7), (4, 5, 6, 7), (3, 2, 1, 0)]
    return Mesh(v, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]))


def parallel(toward, up, half, pixels, before=100.0):
    """A square parallel view of the origin."""
    axes, side = viewer_axes(toward, up), 2.0 * half / pixels
    return Lens(before * axes[2], axes, -half, half, side, pixels, pixels, parallel=True)


def test_silhouette_of_a_sphere_from_near_by(device):
    radius, away, pixels = 1.0, 3.0, 400
    scene = Scene([Part(icosphere(6, radius))], [Thing(0)], device)
    lens = looking(away * unit(1.0, 2.0, 0.5), (0, 0, 0), UP, (pixels, pixels), np.radians(60.0))
    cover = Exposure(scene, lens, Lamps(UP, UP), 4).develop(SUN_ONLY)[..., 3]
    area = np.pi * radius**2 / (away**2 - radius**2)
    # Facets of an icosphere lie inside by 0.02 %; 16 rays a pixel leave 1e-4 of the area.
    assert cover.sum() * lens.pixel**2 == pytest.approx(area, rel=1e-3)


@pytest.mark.parametrize("phase", [30.0, 90.0, 120.0])
def test_lit_part_of_a_sphere_follows_the_phase_law(device, phase):
    turn = np.radians(phase)
    view = unit(1.0, 0.0, 0.0)
    sun = np.array([np.cos(turn), np.sin(turn), 0.0])
    scene = Scene([Part(icosphere(6), lunar=0.0)], [Thing(0)], device)
    shot = Exposure(scene, parallel(view, UP, 1.05, 400), Lamps(sun, UP), 1)
    painted = shot.develop(SUN_ONLY)
    lit = (painted[..., 0] > 0.0).sum() / (painted[..., 3] > 0.0).sum()
    # A pixel of the terminator, over the disc: 2 / 380.
    assert lit == pytest.approx(0.5 * (1.0 + np.cos(turn)), abs=6e-3)


@pytest.mark.parametrize("height", [15.0, 40.0, 65.0])
def test_shadow_of_a_pole(device, height):
    elevation, tall, half = np.radians(height), 2.0, 0.05
    sun = np.array([-np.cos(elevation), 0.0, np.sin(elevation)])
    parts = [Part(level()), Part(box(half, tall))]
    scene = Scene(parts, [Thing(0), Thing(1)], device)
    # From straight above: rows are y, columns x, and the shadow lies along +x.
    lens = parallel(UP, np.array([0.0, 1.0, 0.0]), 10.0, 1001)
    painted = Exposure(scene, lens, Lamps(sun, UP), 1).develop(SUN_ONLY)
    row = painted[500, :, 0]
    dark = np.flatnonzero(row == 0.0)
    # The top is lit; behind it the ground is dark up to the shadow of its far upper edge.
    reached = (dark.max() - 500) * lens.pixel - half
    assert reached == pytest.approx(tall / np.tan(elevation), abs=1.5 * lens.pixel)


def test_penumbra_of_a_finite_sun(device):
    elevation, radius, tall = np.radians(30.0), np.radians(3.0), 2.0
    sun = np.array([-np.cos(elevation), 0.0, np.sin(elevation)])
    scene = Scene([Part(level()), Part(box(5.0, tall))], [Thing(0), Thing(1)], device)
    lens = parallel(UP, np.array([0.0, 1.0, 0.0]), 12.0, 601)
    full = Exposure(scene, lens, Lamps(sun, UP, radius, 64), 1).develop(SUN_ONLY)[300, :, 0]
    x = (np.arange(601) - 300) * lens.pixel - 5.0
    bright = full[-1]
    partly = x[(full > 0.02 * bright) & (full < 0.98 * bright) & (x > 0.0)]
    near, far = (tall / np.tan(elevation + s * radius) for s in (1, -1))
    # The outermost of 64 rays stand at sqrt(127/128) of the radius, and 2 % are left out.
    assert partly.min() == pytest.approx(near, abs=0.05 * (far - near) + lens.pixel)
    assert partly.max() == pytest.approx(far, abs=0.08 * (far - near) + lens.pixel)


def test_depth_of_a_plane(device):
    scene = Scene([Part(level(half=2000.0))], [Thing(0)], device, origin=(3.0, 4.0, 0.0))
    lens = looking((3.0, 4.0, 7.0), (20.0, -5.0, 0.0), UP, (64, 48), np.radians(50.0))
    found = Exposure(scene, lens, Lamps(UP, UP), 1).depth
    column, row = np.meshgrid(np.arange(64) + 0.5, np.arange(48) + 0.5)
    x, y = lens.left + lens.pixel * column, lens.top - lens.pixel * row
    ways = -lens.axes[2] + x[..., None] * lens.axes[0] + y[..., None] * lens.axes[1]
    ways /= np.linalg.norm(ways, axis=2, keepdims=True)
    exact = -7.0 / ways[..., 2]
    near = (ways[..., 2] < 0.0) & (exact < 1000.0)
    assert near.sum() > 1000
    # Four units in the last place of the facet's corners, in single precision.
    assert found[near] == pytest.approx(exact[near], rel=1e-6, abs=2000.0 * 2.0**-21)
    assert (found[ways[..., 2] > 1e-3] > 1e29).all()


def test_projection_is_the_inverse_of_rays(device):
    """A point on the surface that a pixel shows is projected onto that pixel."""
    scene = Scene([Part(icosphere(5))], [Thing(0)], device)
    lens = looking((2.5, 1.0, 0.7), (0.1, 0.0, 0.0), UP, (80, 60), np.radians(45.0))
    shot = Exposure(scene, lens, Lamps(UP, UP), 1)
    row, column = 28, 41
    x = lens.left + lens.pixel * (column + 0.5)
    y = lens.top - lens.pixel * (row + 0.5)
    way = -lens.axes[2] + x * lens.axes[0] + y * lens.axes[1]
    point = lens.eye + shot.depth[row, column] * way / np.linalg.norm(way)
    flat, distance = lens.project(point)
    assert flat == pytest.approx([column + 0.5, row + 0.5], abs=1e-3)
    assert distance == pytest.approx(shot.depth[row, column], rel=1e-6)


def test_a_thing_that_is_moved_and_turned_is_seen_there(device):
    """A long box at a pose covers the pixels of its corners, and nothing where it was."""
    part = Part(box(0.1, 2.0), lunar=0.0)
    scene = Scene([part], [Thing(0)], device)
    lens = parallel(UP, np.array([0.0, 1.0, 0.0]), 4.0, 401)
    q = frames.quat_from_axis_angle(np.array([0.0, 1.0, 0.0]), np.pi / 2.0)  # z to x
    scene.move([Thing(0, (1.0, 2.0, 0.5), q)])
    seen = Exposure(scene, lens, Lamps(UP, UP), 1).develop(SUN_ONLY)[..., 3] > 0.0
    rows, columns = np.nonzero(seen)
    x, y = (columns - 200) * lens.pixel, (200 - rows) * lens.pixel
    edges = [x.min(), x.max(), y.min(), y.max()]
    assert edges == pytest.approx([1.0, 3.0, 1.9, 2.1], abs=1.1 * lens.pixel)


def test_a_hole_shows_what_is_beneath_and_lets_light_through(device):
    hole = Hole(0, np.array([0.0, 0.0, 1.0]), np.eye(3), np.array([1.0, 1.0, 0.5]))
    parts = [Part(level(10.0, 1.0)), Part(level(10.0, 0.0))]
    scene = Scene(parts, [Thing(0), Thing(1)], device, hole=hole)
    lens = parallel(UP, np.array([0.0, 1.0, 0.0]), 4.0, 201)
    shot = Exposure(scene, lens, Lamps(UP, UP), 1)
    inside = np.abs(np.arange(201) - 100) * lens.pixel < 0.98
    outside = np.abs(np.arange(201) - 100) * lens.pixel > 1.02
    line = shot.depth[100]
    assert line[inside] == pytest.approx(100.0, rel=1e-6)
    assert line[outside] == pytest.approx(99.0, rel=1e-6)
    assert shot.develop(SUN_ONLY)[100, inside, 0].min() > 0.4


def test_bytes_are_those_of_the_srgb_curve(device):
    from alight.views.render.exposure import screen_values

    scene = Scene([Part(level(), lunar=0.0)], [Thing(0)], device)
    shot = Exposure(scene, parallel(UP, np.array([0.0, 1.0, 0.0]), 1.0, 16), Lamps(UP, UP), 1)
    light = Light(sun=0.5, fill=0.0, sky=0.0)
    linear = shot.develop(light)[..., :3]
    shown = shot.show(light, (0.0, 0.0, 0.0))
    assert np.abs(shown - 255.0 * screen_values(linear)).max() <= 0.51
