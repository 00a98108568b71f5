"""A path served by few full evaluations: which ones, and what is made of them."""

import numpy as np
import pytest

import alight
from alight.core.errors import InputError
from alight.gravity.law import Gravity
from alight.gravity.linearised import Linearised, reach_for
from alight.gravity.polyhedron.field import Polyhedron
from alight.gravity.simple import PointMass, Uniform

BALL = PointMass(1.0)


def anchors_by_the_book(points, reach):
    """One point after the other, as a propagator meets them."""
    chosen, last = [], None
    for i, x in enumerate(points):
        if last is None or np.linalg.norm(x - points[last]) > reach:
            last = i
        chosen.append(last)
    return np.array(chosen, dtype=int)


@pytest.mark.parametrize("reach", [1e-3, 0.05, 0.3, 2.0, 100.0])
@pytest.mark.parametrize("count", [0, 1, 2, 15, 16, 17, 40, 700])
def test_anchors(count, reach):
    path = np.cumsum(np.random.default_rng(count).normal(scale=0.1, size=(count, 3)), axis=0)
    found = Linearised(BALL, reach).anchors(path)
    assert np.array_equal(found, anchors_by_the_book(path, reach))


def test_a_point_at_the_reach_is_still_served():
    path = np.array([[1.0, 0, 0], [1.5, 0, 0], [1.5000001, 0, 0]])
    assert Linearised(BALL, 0.5).anchors(path).tolist() == [0, 0, 2]


def test_values_are_taylor_steps_from_the_anchor():
    path = np.array([[1.0, 0.2, 0.1], [1.1, 0.1, 0.0], [1.3, 0.3, 0.2], [2.0, 0.0, 0.0]])
    law = Linearised(BALL, 0.4)
    assert law.anchors(path).tolist() == [0, 0, 0, 3]
    u, g, h = law.evaluate(path)
    u0, g0, h0 = BALL.evaluate(path[[0, 3]])
    for i, k in enumerate([0, 0, 0, 1]):
        d = path[i] - path[[0, 3]][k]
        assert u[i] == pytest.approx(u0[k] + g0[k] @ d + 0.5 * d @ h0[k] @ d, rel=1e-15)
        assert g[i] == pytest.approx(g0[k] + h0[k] @ d, rel=1e-14, abs=1e-16)
        assert np.array_equal(h[i], h0[k])


def test_exact_where_the_field_is_linear():
    field = Uniform([0.0, 0.1, -1.0])
    path = np.random.default_rng(0).normal(size=(50, 3))
    for a, b in zip(Linearised(field, 1.0).evaluate(path), field.evaluate(path), strict=True):
        assert a == pytest.approx(b, rel=1e-12, abs=1e-14)


class Counted(Gravity):
    """Counts the points that are evaluated in full."""

    def __init__(self, field):
        self.field, self.count = field, 0

    def _evaluate(self, points, device, threads):
        self.count += len(points)
        return self.field._evaluate(points, device, threads)


def test_only_anchors_are_evaluated_in_full():
    counted = Counted(BALL)
    path = np.column_stack([np.linspace(1.0, 2.0, 1001), np.zeros(1001), np.zeros(1001)])
    law = Linearised(counted, 0.0995)
    law.evaluate(path)
    assert counted.count == len(np.unique(law.anchors(path))) == 11


def test_a_long_path_takes_time_in_proportion(monkeypatch):
    """Every point is an anchor: for each a block of 16 is looked at, and not the whole path."""
    path = np.column_stack([1.0 + np.arange(20_000.0), np.zeros(20_000), np.zeros(20_000)])
    looked, norm = [], np.linalg.norm
    monkeypatch.setattr(
        np.linalg, "norm", lambda x, axis: looked.append(len(x)) or norm(x, axis=axis)
    )
    assert np.array_equal(Linearised(BALL, 0.5).anchors(path), np.arange(20_000))
    assert sum(looked) <= 2 * 16 * len(path)


@pytest.mark.parametrize("reach", [0.0, -1.0, np.nan, np.inf, "far", None])
def test_reaches_that_cannot_be_used(reach):
    with pytest.raises(InputError, match="reach"):
        Linearised(BALL, reach)


def test_the_field_must_be_a_law():
    with pytest.raises(InputError, match="gravity law"):
        Linearised(3.0, 1.0)


@pytest.mark.parametrize("name", ["ryugu", "itokawa", "67p", "eros"])
def test_a_reach_made_for_an_error_keeps_it_near_the_ground(name):
    """At 99 of 100 places, at the end of the reach; one eight times as long does not.

    The error grows with a power of the reach between 1.5 (edges of facets) and 2 (a ball): eight
    times the reach is 22 to 64 times the error, and the error kept is at least a tenth of the one
    asked for on these bodies.
    """
    body = alight.body(name)
    mesh = body.mesh(1280)
    field = Polyhedron(mesh, gm=body.gm)
    places, up = _near_the_ground(mesh, 400)
    _, near, gradient = field.evaluate(places)
    way = np.random.default_rng(3).normal(size=places.shape)
    way *= np.sign(np.einsum("ij,ij->i", way, up))[:, None]
    way /= np.linalg.norm(way, axis=1)[:, None]
    for error in (5e-3, 1e-3):
        found = {}
        for longer in (1.0, 8.0):
            step = way * reach_for(error, mesh.bounding_radius) * longer
            there = field.evaluate(places + step)[1]
            taken = near + np.einsum("ijk,ik->ij", gradient, step)
            wrong = np.linalg.norm(taken - there, axis=1) / np.linalg.norm(there, axis=1)
            found[longer] = float(np.quantile(wrong, 0.99))
        assert found[1.0] < error < found[8.0]


def _near_the_ground(mesh, count):
    """Places above random facets by 1e-4 to 1e-1 of the radius, and the way up there."""
    rng = np.random.default_rng(1)
    face = rng.integers(0, mesh.n_faces, count)
    corners = mesh.vertices[mesh.faces[face]]
    on = np.einsum("ni,nij->nj", rng.dirichlet([1.0, 1.0, 1.0], count), corners)
    height = mesh.bounding_radius * 10.0 ** rng.uniform(-4.0, -1.0, count)
    return on + height[:, None] * mesh.face_normals[face], mesh.face_normals[face]
