"""Reduced bodies: any vertex count, the same mass and place, clear refusals."""

import numpy as np
import pytest

from alight.core.errors import AlightError, InputError
from alight.gravity import reduced
from alight.gravity.polyhedron.field import Polyhedron
from alight.gravity.reduced import Reduced, inscribed_ellipsoid, reduced_mesh
from alight.shapes.icosphere import icosphere
from alight.shapes.mesh import Mesh

BALL = icosphere(3)
EGG = Mesh(BALL.vertices * [3.0, 2.0, 1.0], BALL.faces).translated([5.0, 0.0, -1.0])


@pytest.mark.parametrize("vertices", [4, 5, 12, 42, 100, 162, np.int64(317)])
def test_any_vertex_count(vertices):
    field = Reduced(EGG, 1000.0, vertices=vertices)
    assert field.mesh.n_vertices == vertices
    assert field.mesh.n_faces == 2 * vertices - 4
    assert field.gm == pytest.approx(Polyhedron(EGG, 1000.0).gm, rel=1e-14)
    assert field.mesh.center_of_mass == pytest.approx(EGG.center_of_mass, abs=1e-12)
    assert field.original is EGG


def test_vertices_lie_on_the_body_before_they_are_centred():
    """The icosphere's own vertices: the reduced egg is the egg of fewer facets."""
    mesh = reduced_mesh(EGG, 642)
    level = np.linalg.norm((mesh.vertices - EGG.center_of_mass) / [3.0, 2.0, 1.0], axis=1)
    assert level.min() > 0.985
    assert level.max() < 1.0 + 1e-12
    assert mesh.volume == pytest.approx(EGG.volume, rel=0.02)


def test_as_many_vertices_as_the_body_give_its_field():
    field, exact = Reduced(BALL, gm=1.0, vertices=642), Polyhedron(BALL, gm=1.0)
    points = 1.5 * BALL.vertices[::40]
    assert field.evaluate(points)[1] == pytest.approx(exact.evaluate(points)[1], rel=2e-3, abs=1e-4)


def test_inscribed_ellipsoid_of_an_ellipsoid():
    """It is the ellipsoid itself, less the dip of the facets between their vertices."""
    axes, turn = inscribed_ellipsoid(EGG)
    assert np.sort(axes) == pytest.approx([1.0, 2.0, 3.0], rel=0.02)
    assert (np.sort(axes) < [1.0, 2.0, 3.0]).all()
    assert np.linalg.det(turn) == pytest.approx(1.0, rel=1e-12)
    longest = turn[:, np.argmax(axes)]
    assert abs(longest[0]) == pytest.approx(1.0, abs=1e-6)


def test_inscribed_ellipsoid_stays_inside_a_dented_body():
    x = BALL.vertices
    dent = 1.0 - 0.5 * np.exp(-8.0 * (1.0 - x[:, 0]))
    mesh = Mesh(x * dent[:, None], BALL.faces)
    axes, turn = inscribed_ellipsoid(mesh)
    weights = np.random.default_rng(0).dirichlet([0.5, 0.5, 0.5], size=60)
    corner = ((mesh.vertices - mesh.center_of_mass) @ turn)[mesh.faces]
    on_facets = np.einsum("kj,fji->fki", weights, corner) / axes
    assert np.linalg.norm(on_facets, axis=-1).min() >= 1.0
    assert axes.max() > 1.2 * axes.min()  # wider across the dent than along it


@pytest.mark.parametrize("vertices", [3, -1, 100.5, "many", None])
def test_counts_that_cannot_be_used(vertices):
    with pytest.raises(InputError, match=r"vertices is .*whole number from 4"):
        Reduced(EGG, 1000.0, vertices=vertices)


def test_density_or_gm_is_asked_for():
    with pytest.raises(InputError, match="neither of density and gm"):
        Reduced(EGG)


def test_a_body_with_its_centre_of_mass_outside_is_refused():
    """Half a ring: rays from its centre of mass leave without meeting it."""
    turn, around = np.meshgrid(np.linspace(0, np.pi, 13), np.arange(6) * np.pi / 3, indexing="ij")
    r = 3.0 + 0.5 * np.cos(around)
    ring = np.stack([r * np.cos(turn), r * np.sin(turn), 0.5 * np.sin(around)], axis=-1)
    place = np.arange(78).reshape(13, 6)
    a, b = place[:-1], place[1:]
    c, d = np.roll(b, -1, axis=1), np.roll(a, -1, axis=1)
    faces = [np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)]
    start = [[place[0, 0], place[0, k], place[0, k + 1]] for k in range(1, 5)]
    end = [[place[12, 0], place[12, k + 1], place[12, k]] for k in range(1, 5)]
    faces = np.concatenate([*faces, start, end])
    mesh = Mesh(ring.reshape(-1, 3), faces, repair=True)
    assert not mesh.contains(mesh.center_of_mass[None])[0]
    with pytest.raises(AlightError, match="centre of mass lies outside"):
        Reduced(mesh, 1000.0)


def test_repr_says_what_it_is():
    text = repr(Reduced(EGG, gm=4.9, vertices=42))
    assert text == "Reduced(42 vertices for 642, gm=4.9 m^3/s^2)"


def test_the_reduced_mesh_is_kept_and_found_by_body_and_count(tmp_path, monkeypatch):
    made = {n: Reduced(EGG, 1000.0, vertices=n, store=tmp_path).mesh for n in (12, 42)}
    Reduced(BALL, 1000.0, vertices=12, store=tmp_path)
    assert len(list(tmp_path.glob("*.npz"))) == 3

    def refused(*_):
        raise AssertionError("it is made again")

    monkeypatch.setattr(reduced, "reduced_mesh", refused)
    for count, mesh in made.items():
        kept = Reduced(EGG, 1000.0, vertices=count, store=tmp_path).mesh
        assert kept == mesh
        assert kept.vertices.tobytes() == mesh.vertices.tobytes()
    with pytest.raises(AssertionError, match="again"):
        Reduced(EGG, 1000.0, vertices=12, store=False)
