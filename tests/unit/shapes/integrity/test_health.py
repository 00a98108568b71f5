"""Every way a mesh can fail to bound a solid: found, counted, named, and mended where it can be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alight.core.errors import MeshError
from alight.shapes import Mesh, icosphere
from alight.shapes.integrity.health import CHECKS, inspect
from alight.shapes.integrity.repair import repair

SPHERE = icosphere(1)  # 42 vertices, 80 facets


def arrays():
    return np.array(SPHERE.vertices), np.array(SPHERE.faces)


def counts(vertices, faces):
    """The checks that found something, with how much."""
    findings = inspect(np.asarray(vertices, float), np.asarray(faces, np.int32)).findings
    return {name: f.count for name, f in findings.items() if f.count}


def canonical(faces):
    """Facets as a sorted list, each starting at its lowest vertex: the winding is kept."""
    start = np.argmin(faces, axis=1)
    rolled = np.take_along_axis(faces, (start[:, None] + np.arange(3)) % 3, axis=1)
    return rolled[np.lexsort(rolled.T[::-1])].tolist()


def two_tetrahedra(shared):
    """Two tetrahedra that share the given number of vertices."""
    one = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    points = np.random.default_rng(1).normal(size=(8 - shared, 3))
    return points, np.concatenate([one, one + 4 - shared])


def test_a_sphere_is_sound():
    health = SPHERE.health
    assert health.ok
    assert health.faults == []
    assert health.table() == [(check.title, "ok") for check in CHECKS.values()]
    health.require("the sphere")


def test_a_missing_facet_leaves_three_open_edges():
    vertices, faces = arrays()
    assert counts(vertices, faces[1:]) == {"open_edges": 3}
    with pytest.raises(MeshError, match=r"3 open edges .*first: edge \d+-\d+ of facet \d+.*cannot"):
        Mesh(vertices, faces[1:])


def test_not_a_number_is_named():
    vertices, faces = arrays()
    vertices[[5, 9], 1] = np.nan, np.inf
    assert counts(vertices, faces) == {"nonfinite_vertices": 2}
    with pytest.raises(MeshError, match=r"2 vertices are not finite \(first: vertex 5 at .*nan"):
        Mesh(vertices, faces)


@pytest.mark.parametrize("index", [-1, 42, 2**31 - 1])
def test_an_index_out_of_range_is_named(index):
    vertices, faces = arrays()
    faces[7, 2] = index
    assert counts(vertices, faces) == {"bad_indices": 1}
    with pytest.raises(MeshError, match=rf"1 facet names .*facet 7, .*{index}; there are 42 vert"):
        Mesh(vertices, faces)


def test_flipped_facets_are_counted_and_mended():
    vertices, faces = arrays()
    right = canonical(faces)
    faces[[3, 4, 50]] = faces[[3, 4, 50]][:, ::-1]
    assert counts(vertices, faces) == {"flipped_facets": 3}
    with pytest.raises(MeshError, match=r"3 facets wind .*first: facet 3, .*repair=True fixes"):
        Mesh(vertices, faces)
    mended = Mesh(vertices, faces, repair=True)
    assert canonical(mended.faces) == right
    assert mended.repairs == ("turned over 3 facets that wound against the others",)


def test_inside_out_is_found_and_mended():
    vertices, faces = arrays()
    assert counts(vertices, faces[:, ::-1]) == {"inside_out": 1}
    with pytest.raises(MeshError, match=r"inside out \(volume -3\.\d+ m\^3\).*repair=True fixes"):
        Mesh(vertices, faces[:, ::-1])
    assert canonical(Mesh(vertices, faces[:, ::-1], repair=True).faces) == canonical(faces)


def test_a_repeated_facet_is_found_and_dropped():
    vertices, faces = arrays()
    again = np.concatenate([faces, faces[[10]][:, [1, 2, 0]]])
    assert counts(vertices, again) == {"repeated_facets": 1, "crowded_edges": 3}
    with pytest.raises(MeshError, match=r"1 facet repeats an earlier one \(facet 80"):
        Mesh(vertices, again)
    assert canonical(Mesh(vertices, again, repair=True).faces) == canonical(faces)


def test_empty_facets_are_found_and_dropped():
    vertices, faces = arrays()
    again = np.concatenate([faces, [[0, 0, 1]]])
    assert counts(vertices, again)["degenerate_facets"] == 1
    with pytest.raises(MeshError, match=r"1 facet has no area \(facet 80, vertices 0, 0, 1\)"):
        Mesh(vertices, again)
    assert canonical(Mesh(vertices, again, repair=True).faces) == canonical(faces)


@pytest.mark.parametrize(("height", "flat"), [(0.0, True), (1e-13, True), (1e-9, False)])
def test_a_sliver_counts_as_empty_by_its_height(height, flat):
    # A tetrahedron whose third corner nearly lies on the edge between the first two.
    points = np.array([[0.0, 0, 0], [2, 0, 0], [1, height, 0], [1, 1, 1]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    assert counts(points, faces).get("degenerate_facets", 0) == int(flat)


def test_loose_vertices_are_found_and_dropped():
    vertices, faces = arrays()
    more = np.concatenate([[[9.0, 9.0, 9.0]], vertices])
    assert counts(more, faces + 1) == {"loose_vertices": 1}
    with pytest.raises(MeshError, match=r"1 vertex belongs to no facet \(vertex 0 at 9, 9, 9 m\)"):
        Mesh(more, faces + 1)
    assert Mesh(more, faces + 1, repair=True) == SPHERE


def test_a_soup_of_triangles_is_welded():
    soup = np.array(SPHERE.vertices)[SPHERE.faces].reshape(-1, 3)
    faces = np.arange(240).reshape(-1, 3)
    found = counts(soup, faces)
    assert found == {"coincident_vertices": 198, "open_edges": 240, "extra_pieces": 79}
    with pytest.raises(MeshError, match=r"240 open edges.*198 vertices coincide.*welds them"):
        Mesh(soup, faces)
    mended = Mesh(soup, faces, repair=True)
    assert (mended.n_vertices, mended.n_faces) == (42, 80)
    assert mended.volume == pytest.approx(SPHERE.volume, rel=1e-14)
    assert mended.repairs == ("welded 198 vertices onto others",)


@pytest.mark.parametrize(("apart", "welds"), [(1e-10, True), (1e-7, False)])
def test_welding_reaches_a_billionth_of_the_size(apart, welds):
    vertices, faces = arrays()
    vertices = np.concatenate([vertices, vertices[[0]] + [apart, 0.0, 0.0]])
    faces[np.argmax((faces == 0).any(axis=1))] = np.where(
        faces[np.argmax((faces == 0).any(axis=1))] == 0, 42, faces[(faces == 0).any(axis=1)][0]
    )
    assert counts(vertices, faces)["open_edges"] == 4
    if welds:
        assert Mesh(vertices, faces, repair=True) == SPHERE
    else:
        with pytest.raises(MeshError, match="open edges"):
            Mesh(vertices, faces, repair=True)


def test_coincident_vertices_alone_are_reported_not_refused():
    # Two spikes that touch in one point are a solid: their vertices stay apart.
    vertices, faces = arrays()
    far = int(np.argmin(vertices @ vertices[0]))
    vertices[far] = vertices[0] = 0.1
    health = inspect(vertices, faces)
    assert health["coincident_vertices"].count == 1
    assert not health["coincident_vertices"].fatal


def test_a_pinched_vertex_is_found():
    # Make one vertex of two opposite ones: the surface is one piece that touches itself.
    vertices, faces = arrays()
    far = int(np.argmin(vertices @ vertices[0]))
    vertices[0] = 0.0
    faces[faces == far] = 0
    vertices, faces = np.delete(vertices, far, axis=0), faces - (faces > far)
    assert counts(vertices, faces) == {"pinched_vertices": 1}
    with pytest.raises(MeshError, match=r"1 vertex joins parts .*\(vertex 0 at 0, 0, 0 m\)"):
        Mesh(vertices, faces)


def test_tetrahedra_that_share_a_vertex_an_edge_or_nothing():
    assert counts(*two_tetrahedra(shared=0))["extra_pieces"] == 1
    assert counts(*two_tetrahedra(shared=1))["pinched_vertices"] == 1
    assert counts(*two_tetrahedra(shared=2))["crowded_edges"] == 1


def test_two_pieces_are_refused_and_not_mended():
    vertices = np.concatenate([SPHERE.vertices, SPHERE.vertices + 5.0])
    faces = np.concatenate([SPHERE.faces, SPHERE.faces + 42])
    for repairing in (False, True):
        with pytest.raises(
            MeshError, match=r"1 piece lies apart .*facet 80; facets per piece: 80, 80.*cannot"
        ):
            Mesh(vertices, faces, repair=repairing)


def test_a_one_sided_surface_is_refused():
    # The projective plane on six vertices: closed, every edge in two facets, no sides to tell.
    faces = np.array(
        [(0, k, k % 5 + 1) for k in range(1, 6)]
        + [(k, k % 5 + 1, (k + 2) % 5 + 1) for k in range(1, 6)]
    )
    points = np.random.default_rng(2).normal(size=(6, 3))
    assert counts(points, faces) == {"one_sided_facets": 10}
    with pytest.raises(MeshError, match="10 facets belong to a one-sided surface"):
        Mesh(points, faces, repair=True)


def test_a_folded_sheet_encloses_nothing():
    vertices, faces = arrays()
    with pytest.raises(MeshError, match=r"no area|encloses no volume"):
        Mesh(vertices * [1.0, 1.0, 0.0], faces)
    thin = counts(vertices * [1.0, 1.0, 1e-14], faces)
    assert thin["flat"] == 1


def test_an_empty_mesh_is_refused():
    with pytest.raises(MeshError, match="has no facets; a solid needs at least four"):
        Mesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=int))


def test_several_faults_come_in_one_message():
    vertices, faces = arrays()
    faces = faces[1:]
    faces[5] = faces[5, ::-1]
    with pytest.raises(MeshError) as caught:
        Mesh(vertices, faces)
    assert "3 open edges" in str(caught.value)
    assert "1 facet winds against its neighbours" in str(caught.value)


def test_repair_leaves_alone_what_it_cannot_judge():
    vertices, faces = arrays()
    vertices[0] = np.nan
    assert repair(vertices, faces).actions == ()
    with pytest.raises(MeshError, match="not finite"):
        Mesh(vertices, faces, repair=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 79), max_size=80, unique=True), st.randoms(use_true_random=False))
def test_any_winding_is_mended(flipped, random):
    """Whatever is turned over and however facets and corners are shuffled, repair undoes it."""
    vertices, faces = arrays()
    right = canonical(faces)
    faces[flipped] = faces[flipped][:, ::-1]
    order = list(range(80))
    random.shuffle(order)
    faces = np.array([np.roll(faces[i], random.randrange(3)) for i in order])
    assert canonical(Mesh(vertices, faces, repair=True).faces) == right


@settings(max_examples=40, deadline=None)
@given(st.sets(st.integers(0, 79), min_size=1, max_size=79))
def test_any_hole_is_found(removed):
    """Open edges are those between a facet that is there and one that is not."""
    vertices, faces = arrays()
    gone = np.isin(np.arange(80), list(removed))
    border = int((gone[SPHERE.edge_faces[:, 0]] != gone[SPHERE.edge_faces[:, 1]]).sum())
    assert counts(vertices, faces[~gone])["open_edges"] == border
