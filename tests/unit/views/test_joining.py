"""Terrain in a body: no gap, nothing of the body inside, and numbers carried along."""

import dataclasses

import numpy as np
import pytest

from alight.core import frames
from alight.shapes import Mesh, icosphere
from alight.shapes.rays import first_hit
from alight.staging.ground import wider
from alight.surfaces import DistanceField
from alight.views.playback import Contacts, Part, Playback, Track
from alight.views.playback.joining import SEAM, cut_out, grounded, joined

RADIUS, HALF = 10.0, 2.0
BALL = icosphere(2, RADIUS)


def square(half=HALF):
    up = np.array([0.3, -0.5, 0.81])
    up /= np.linalg.norm(up)
    return RADIUS * up, np.asarray(frames.local_frame(up)).T, half


def local(points, one):
    middle, axes, half = one
    return (points - middle) @ axes.T / half


def areas(mesh):
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


@pytest.mark.parametrize("half", [0.4, 2.0, 7.0])
def test_a_body_is_cut_along_the_cube(half):
    """What is left lies outside, and what is gone is what lay inside, by area."""
    one = square(half)
    made, carried = cut_out(BALL, one, {"x": BALL.vertices[:, 0] + 3.0})
    middles = local(made.vertices[made.faces].mean(axis=1), one)
    assert np.abs(middles).max(axis=1).min() > 1.0 - 1e-9
    assert carried["x"] == pytest.approx(made.vertices[:, 0] + 3.0, abs=1e-9)  # linear on facets
    # Points spread evenly over each facet.
    i, j = (x.ravel() for x in np.meshgrid(np.arange(80), np.arange(80)))
    share = (np.stack([i, j], axis=1)[i + j < 80] + 1.0 / 3.0) / 80.0
    share = np.column_stack([share, 1.0 - share.sum(axis=1)])
    points = np.einsum("sk,fkj->sfj", share, BALL.vertices[BALL.faces])
    inside = (np.abs(local(points, one)) < 1.0).all(axis=2).mean(axis=0)
    gone = areas(BALL).sum() - areas(made).sum()
    # 3240 points a facet, a sixth of them in the smallest square: 1 or 2 % of its border's.
    assert gone == pytest.approx(inside @ areas(BALL), rel=0.04)


def terrain(one, height):
    middle, axes, half = one
    line = np.linspace(-half, half, 33)
    x, y = np.meshgrid(line, line)
    points = middle + x.reshape(-1, 1) * axes[0] + y.reshape(-1, 1) * axes[1] + height * axes[2]
    return Part("ground", "terrain", points, np.array([[0, 1, 33]]))


def test_the_rim_lies_on_the_body_and_the_middle_stays():
    one = square()
    flat = terrain(one, 0.7)
    bent = joined(flat, BALL, one, SEAM)
    aside = np.abs(local(flat.vertices, one)[:, :2]).max(axis=1)
    same = aside <= 1.0 - SEAM
    assert np.array_equal(bent.vertices[same], flat.vertices[same])
    rim = bent.vertices[aside > 1.0 - 1e-9]
    down = np.tile(-one[1][2], (len(rim), 1))
    away = first_hit(BALL, rim - 5.0 * down, down)
    assert away == pytest.approx(5.0, abs=1e-5)


def test_exports_show_the_ground_that_is_touched_and_no_body_through_it():
    """A field lies off a coarse mesh: where a run ends it is the field that is shown."""
    field = DistanceField.from_mesh(BALL, spacing=1.0, store=False, device="cpu")
    direction = BALL.vertices[BALL.faces[7]].mean(axis=0)
    direction /= np.linalg.norm(direction)
    rest = RADIUS * direction
    for _ in range(5):
        rest = rest - field.query(rest, device="cpu")[0] * direction
    still = np.array([[[0.0, 0.0, 0.0, 1.0]]])
    track = Track(
        *(0, "settled", np.zeros(1), rest[None, None], np.zeros((1, 1, 3)), still),
        contacts=dataclasses.replace(Contacts.none(), place=rest[None], time=np.zeros(1)),
    )
    box = Part.of_mesh("box", "lander", icosphere(1, 0.02))
    given = Playback("", (box,), (track,), target=BALL, wider=wider(field))
    shown = grounded(given)
    ground = Mesh(shown.terrain.vertices, shown.terrain.faces, check=False)
    above = (rest + direction)[None], -direction[None]
    assert first_hit(ground, *above)[0] == pytest.approx(1.0, abs=2e-3)
    assert first_hit(shown.target, *above)[0] > 5.0  # the body is met on its far side alone
    assert first_hit(BALL, *above)[0] < 2.0
