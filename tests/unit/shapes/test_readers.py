"""Mesh files: every format and variant gives the same mesh, every bad file one clear error."""

import itertools
import struct
import subprocess
import sys

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from alight.core.errors import AlightError, FileError, InputError, MeshError
from alight.shapes import Mesh, icosphere
from alight.shapes.readers.icq import _shared_numbers, grid_rows

SPHERE = icosphere(1, radius=250.0)


def bumpy(radii):
    sphere = icosphere(0)
    return Mesh(sphere.vertices * np.asarray(radii)[:, None], sphere.faces)


def rows(array, number_from=None, separator=" "):
    lines = [separator.join(repr(x) for x in row) for row in np.asarray(array).tolist()]
    if number_from is None:
        return lines
    return [f"{i}{separator}{line}" for i, line in enumerate(lines, start=number_from)]


def obj_text(mesh):
    return "\n".join(
        ["v " + r for r in rows(mesh.vertices)] + ["f " + r for r in rows(mesh.faces + 1)]
    )


def plate_text(mesh, counts="together", base=1, vertex_rows=None, facet_rows=None, separator=" "):
    vertices = rows(mesh.vertices, vertex_rows, separator)
    facets = rows(mesh.faces + base, facet_rows, separator)
    if counts == "together":
        head, between = [f"{mesh.n_vertices}{separator}{mesh.n_faces}"], []
    else:
        head, between = [str(mesh.n_vertices)], [str(mesh.n_faces)]
    return "\n".join(head + vertices + between + facets) + "\n"


def icq_points(q, warp=lambda p: p):
    """Rows of an ICQ model of the unit sphere, face by face, J by J, I fastest."""
    points = []
    for face, j, i in itertools.product(range(6), range(q + 1), range(q + 1)):
        cube = [(i, j, q), (i, q, q - j), (0, i, q - j), (q - i, 0, q - j), (q, q - i, q - j)]
        cube.append((i, q - j, 0))
        p = np.tan(np.pi / 4 * (2.0 * np.array(cube[face]) / q - 1.0))
        points.append(warp(p / np.linalg.norm(p)))
    return np.array(points)


def icq_text(q, points):
    return "\n".join([str(q)] + [" ".join(f"{x:.5f}" for x in p) for p in points]) + "\n"


def write(folder, name, content):
    path = folder / name
    if isinstance(content, str):
        content = content.encode()
    path.write_bytes(content)
    return path


# -- units -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "metres"), [("m", 1.0), ("km", 1e3), ("cm", 1e-2), ("mm", 1e-3), ("ft", 0.3048)]
)
def test_units_scale(tmp_path, unit, metres):
    path = write(tmp_path, "body.obj", obj_text(SPHERE))
    mesh = Mesh.read(path, unit=unit)
    assert mesh.radius == pytest.approx(SPHERE.radius * metres, rel=1e-14)


def test_a_missing_unit_shows_the_right_form(tmp_path):
    path = write(tmp_path, "itokawa.obj", obj_text(SPHERE))
    with pytest.raises(InputError, match=r'Mesh.read\("itokawa.obj", unit="km"\)'):
        Mesh.read(path)


@pytest.mark.parametrize(
    ("unit", "hint"),
    [("kilometers", "km"), ("KM", "km"), ("metres", "m"), ("feet", "ft"), ("k", "km")],
)
def test_an_unknown_unit_suggests_one(tmp_path, unit, hint):
    path = write(tmp_path, "body.obj", obj_text(SPHERE))
    with pytest.raises(InputError, match=f'unknown unit of length "{unit}". Did you mean "{hint}"'):
        Mesh.read(path, unit=unit)


@pytest.mark.parametrize(("radius", "unit"), [(0.2, "mm"), (5000.0, "km"), (1e-9, "m")])
def test_an_absurd_unit_names_itself_and_the_size(tmp_path, radius, unit):
    path = write(tmp_path, "body.obj", obj_text(icosphere(1, radius)))
    with pytest.raises(MeshError, match=rf'unit="{unit}" is \S+ m across .* 0.001 m to 2e\+06 m'):
        Mesh.read(path, unit=unit)


def test_a_unit_that_the_file_contradicts_is_refused(tmp_path):
    SPHERE.save(tmp_path / "body.npz", unit="km")
    assert Mesh.read(tmp_path / "body.npz", unit="km").radius == pytest.approx(SPHERE.radius)
    with pytest.raises(InputError, match='states that its unit is "km", but unit="m" was given'):
        Mesh.read(tmp_path / "body.npz", unit="m")


def test_recentre_on_reading(tmp_path):
    SPHERE.translated([5.0, 6.0, 7.0]).save(tmp_path / "body.ply")
    mesh = Mesh.read(tmp_path / "body.ply", unit="m", recentre=True)
    np.testing.assert_allclose(mesh.center_of_mass, 0.0, atol=1e-11)


# -- formats -----------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(10.0, 1000.0), min_size=12, max_size=12))
def test_what_is_written_is_read_back_bit_for_bit(tmp_path_factory, radii):
    mesh = bumpy(radii)
    folder = tmp_path_factory.mktemp("meshes")
    for name in ("body.obj", "body.ply", "body.npz"):
        mesh.save(folder / name)
        again = Mesh.read(folder / name, unit="m")
        assert again == mesh
        assert again.content_hash == mesh.content_hash


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(10.0, 1000.0), min_size=12, max_size=12))
def test_stl_keeps_the_facets_in_single_precision(tmp_path_factory, radii):
    mesh = bumpy(radii)
    path = tmp_path_factory.mktemp("meshes") / "body.stl"
    mesh.save(path)
    again = Mesh.read(path, unit="m")
    assert again.n_vertices == mesh.n_vertices
    np.testing.assert_array_equal(
        again.vertices[again.faces], mesh.vertices[mesh.faces].astype(np.float32)
    )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(10.0, 1000.0), min_size=12, max_size=12),
    st.sampled_from(["together", "apart"]),
    st.sampled_from([0, 1]),
    st.sampled_from([None, 0, 1]),
    st.sampled_from([None, 0, 1]),
    st.sampled_from([" ", "\t", ", ", "    "]),
    st.sampled_from(["body.tab", "body.plt", "body.txt", "BODY.TAB"]),
)
def test_every_plate_table_gives_the_same_mesh(
    tmp_path_factory, radii, counts, base, vertex_rows, facet_rows, separator, name
):
    mesh = bumpy(radii)
    text = plate_text(mesh, counts, base, vertex_rows, facet_rows, separator)
    path = write(tmp_path_factory.mktemp("plates"), name, text)
    assert Mesh.read(path, unit="m") == mesh


@pytest.mark.parametrize("base", [0, 1])
def test_plate_tables_with_letters_count_from_either(tmp_path, base):
    lines = ["v " + r for r in rows(SPHERE.vertices)] + [
        "f " + r for r in rows(SPHERE.faces + base)
    ]
    path = write(tmp_path, "body.tab", "\n".join(lines))
    assert Mesh.read(path, unit="m") == SPHERE


def test_plate_tables_may_have_comments_fortran_exponents_and_odd_line_ends(tmp_path):
    vertices = [" ".join(f"{x:.17E}" for x in v).replace("E", "D") for v in SPHERE.vertices]
    lines = ["# a body", "", "42 80  # counts", *vertices, *rows(SPHERE.faces + 1), ""]
    text = "   \r\n".join(lines)
    assert "D+02" in text
    assert Mesh.read(write(tmp_path, "body.tab", text), unit="m") == SPHERE


def test_the_row_numbers_tell_the_base_where_the_indices_do_not(tmp_path):
    # Vertex 0 and the last one are in no facet: the indices fit both ways.
    vertices = np.concatenate([[[0.0, 0, 0]], SPHERE.vertices, [[0.0, 0, 0]]])
    loose = Mesh(vertices, SPHERE.faces + 1, check=False)
    for base in (0, 1):
        path = write(tmp_path, "body.tab", plate_text(loose, base=base, vertex_rows=base))
        assert Mesh.read(path, unit="m", repair=True) == SPHERE
        path = write(tmp_path, "body.tab", plate_text(loose, base=base))
        if base == 0:
            with pytest.raises(FileError, match=r"may count from 0 or from 1 .*does not tell"):
                Mesh.read(path, unit="m", repair=True)


@pytest.mark.parametrize("form", ["{0}", "{0}/{0}", "{0}//{0}", "{0}/{0}/{0}", "back"])
def test_obj_faces_in_every_form(tmp_path, form):
    n = SPHERE.n_vertices
    lines = ["mtllib rock.mtl", "o rock", "# vertices"]
    lines += [f"v {r} 0.5 0.5 0.5" for r in rows(SPHERE.vertices)]
    lines += ["vt 0.0 0.0", "vn 0.0 0.0 1.0", "s off", "usemtl grey"]
    for face in SPHERE.faces + 1:
        corners = [str(i - n - 1) if form == "back" else form.format(i) for i in face]
        lines.append("  f " + "\t".join(corners) + "  # facet")
    path = write(tmp_path, "rock.OBJ", "\r\n".join(lines))
    assert Mesh.read(path, unit="m") == SPHERE


def test_obj_indices_count_back_from_where_they_stand(tmp_path):
    # Vertices and faces may alternate: here each face follows its own three vertices.
    corners = SPHERE.vertices[SPHERE.faces].reshape(-1, 3)
    lines = []
    for k, row in enumerate(rows(corners)):
        lines += [f"v {row}"] + (["f -3 -2 \\\n -1"] if k % 3 == 2 else [])
    path = write(tmp_path, "soup.obj", "\n".join(lines))
    mesh = Mesh.read(path, unit="m", repair=True)
    np.testing.assert_array_equal(mesh.vertices[mesh.faces], SPHERE.vertices[SPHERE.faces])


def test_ply_text_and_big_endian(tmp_path):
    head = (
        "ply\nformat {} 1.0\ncomment a body\nelement vertex 42\nproperty uchar red\n"
        "property double x\nproperty double y\nproperty double z\nelement face 80\n"
        "property list uchar int vertex_index\nproperty float quality\nend_header\n"
    )
    body = [f"7 {r}" for r in rows(SPHERE.vertices)] + [f"3 {r} 0.5" for r in rows(SPHERE.faces)]
    path = write(tmp_path, "text.ply", head.format("ascii") + "\n".join(body))
    assert Mesh.read(path, unit="m") == SPHERE
    binary = b"".join(struct.pack(">Bddd", 7, *v) for v in SPHERE.vertices.tolist())
    binary += b"".join(struct.pack(">Biiif", 3, *f, 0.5) for f in SPHERE.faces.tolist())
    path = write(tmp_path, "big.ply", head.format("binary_big_endian").encode() + binary)
    assert Mesh.read(path, unit="m") == SPHERE


def test_stl_text(tmp_path):
    lines = ["solid rock"]
    for corners in SPHERE.vertices[SPHERE.faces]:
        lines += ["facet normal 0 0 0", " outer loop"]
        lines += [f"  vertex {r}" for r in rows(corners)] + [" endloop", "endfacet"]
    path = write(tmp_path, "rock.stl", "\n".join([*lines, "endsolid rock"]))
    mesh = Mesh.read(path, unit="m")
    np.testing.assert_array_equal(mesh.vertices[mesh.faces], SPHERE.vertices[SPHERE.faces])


@pytest.mark.parametrize("extension", ["obj", "ply", "stl"])
def test_another_tool_reads_what_is_written_and_the_reverse(tmp_path, extension):
    SPHERE.save(tmp_path / f"ours.{extension}")
    other = trimesh.load(tmp_path / f"ours.{extension}", process=False)
    single = 1e-6 if extension == "stl" else 1e-12
    assert other.volume == pytest.approx(SPHERE.volume, rel=single)
    trimesh.Trimesh(SPHERE.vertices, SPHERE.faces, process=False).export(
        tmp_path / f"theirs.{extension}"
    )
    again = Mesh.read(tmp_path / f"theirs.{extension}", unit="m")
    assert again.volume == pytest.approx(SPHERE.volume, rel=1e-6)
    assert again.n_vertices == SPHERE.n_vertices


# -- Gaskell ICQ -------------------------------------------------------------------------------


def test_icq_seams_are_those_of_the_format_description():
    # v(I,J,F) of the description; all twelve edges and, through them, the eight corners.
    q = 5
    number, first = _shared_numbers(q)

    def v(i, j, face):
        return int(number[((face - 1) * (q + 1) + j) * (q + 1) + i])

    for k in range(q + 1):
        assert v(k, q, 6) == v(q - k, q, 4)
        assert v(k, 0, 6) == v(k, q, 2)
        assert v(k, 0, 5) == v(q, q - k, 1)
        assert v(k, 0, 4) == v(q - k, 0, 1)
        assert v(k, 0, 3) == v(0, k, 1)
        assert v(k, 0, 2) == v(k, q, 1)
        assert v(q, k, 6) == v(k, q, 5)
        assert v(q, k, 5) == v(0, k, 4)
        assert v(q, k, 4) == v(0, k, 3)
        assert v(q, k, 3) == v(0, k, 2)
        assert v(0, k, 6) == v(q - k, q, 3)
        assert v(0, k, 5) == v(q, k, 2)
    assert len(first) == len(set(number.tolist())) == 6 * q * q + 2


@pytest.mark.parametrize("mirror", [1.0, -1.0])
@pytest.mark.parametrize(("q", "name"), [(1, "body.icq"), (2, "body.tab"), (8, "body.txt")])
def test_icq_gives_a_closed_body_whichever_way_it_is_laid_out(tmp_path, q, name, mirror):
    points = icq_points(q, warp=lambda p: p * [mirror, 1.0, 1.0])
    mesh = Mesh.read(write(tmp_path, name, icq_text(q, points)), unit="km")
    assert mesh.n_faces == 12 * q * q
    assert mesh.n_vertices == 6 * q * q + 2
    assert mesh.health.ok
    assert mesh.volume > 0.0
    assert mesh.repairs == ()
    if q == 8:  # cells of angle pi/16: short of the sphere by about their square
        assert mesh.volume == pytest.approx(4 / 3 * np.pi * 1e9, rel=(np.pi / 16) ** 2)


def test_icq_cells_are_cut_along_the_shorter_diagonal(tmp_path):
    points = icq_points(4, warp=lambda p: p * [3.0, 1.0, 1.0] + 0.3 * p[[1, 0, 2]])
    mesh = Mesh.read(write(tmp_path, "body.icq", icq_text(4, points)), unit="m")
    # Facets come in pairs per cell; the side they share must not exceed the other diagonal.
    for one, two in mesh.faces.reshape(-1, 2, 3):
        shared = list(set(one) & set(two))
        apart = list(set(one) ^ set(two))
        cut, other = (np.linalg.norm(np.subtract(*mesh.vertices[e])) for e in (shared, apart))
        assert cut <= other * (1 + 1e-12)


def test_icq_of_a_real_resolution_is_quick(tmp_path):
    text = icq_text(64, icq_points(64))
    mesh = Mesh.read(write(tmp_path, "body.icq", text), unit="km")
    assert (mesh.n_vertices, mesh.n_faces) == (24578, 49152)


def test_icq_with_grids_in_another_order_is_refused(tmp_path):
    points = icq_points(4).reshape(6, 5, 5, 3).transpose(0, 2, 1, 3).reshape(-1, 3)
    path = write(tmp_path, "body.icq", icq_text(4, points))
    with pytest.raises(FileError, match=r"line \d+: this vertex lies on a seam but .*I fastest"):
        Mesh.read(path, unit="km")


# -- bad files ---------------------------------------------------------------------------------


def quad_obj():
    return obj_text(SPHERE) + "\nf 1 2 3 4\nf 1 2 3 4 5\n"


def spoilt(text, line, word, replacement):
    """``text`` with one word of one line (from 1) replaced."""
    lines = text.split("\n")
    words = lines[line - 1].split(" ")
    words[word] = replacement
    lines[line - 1] = " ".join(words)
    return "\n".join(lines)


def changed(faces):
    return Mesh(SPHERE.vertices, faces, check=False)


FLIPPED = np.where((np.arange(80) == 17)[:, None], SPHERE.faces[:, ::-1], SPHERE.faces)
BAD_INDEX = np.where((np.arange(240) == 17).reshape(80, 3), 42, SPHERE.faces)
PLY_QUAD = (
    b"ply\nformat binary_little_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
    b"property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    + struct.pack("<12f", *range(12))
    + struct.pack("<B4i", 4, 0, 1, 2, 3)
)
ASCII_PLY_QUAD = (
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
    "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    "0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n"
)
GARBAGE = np.random.default_rng(0).integers(0, 256, size=5000, dtype=np.uint8).tobytes()

BAD_FILES = {
    "open": ("b.obj", obj_text(changed(SPHERE.faces[:-1])), MeshError, "3 open edges"),
    "flipped": ("b.obj", obj_text(changed(FLIPPED)), MeshError, "1 facet winds .*facet 17"),
    "nan": ("b.obj", spoilt(obj_text(SPHERE), 5, 2, "nan"), MeshError, "1 vertex is not finite"),
    "index": (
        "b.obj",
        obj_text(changed(BAD_INDEX)),
        MeshError,
        r"facet 5, .*there are 42 vertices",
    ),
    "index zero": (
        "b.obj",
        obj_text(changed(SPHERE.faces - 1)),
        MeshError,
        "count vertices from 1",
    ),
    "back too far": ("b.obj", obj_text(SPHERE) + "\nf -43 1 2", MeshError, "before the first one"),
    "quads": (
        "b.obj",
        quad_obj(),
        MeshError,
        r"2 of 82 faces are not tri.*line 123, 4 corners.*Tri",
    ),
    "two pieces": (
        "b.obj",
        obj_text(SPHERE)
        + "\n"
        + "\n".join("v " + r for r in rows(SPHERE.vertices + 900.0))
        + "\n"
        + "\n".join("f " + r for r in rows(SPHERE.faces + 43)),
        MeshError,
        "1 piece lies apart from the first",
    ),
    "empty obj": ("b.obj", "", FileError, "is empty"),
    "blank": ("b.tab", " \n\n", FileError, "is empty"),
    "empty npz": ("b.npz", b"", FileError, "is empty"),
    "empty ply": ("b.ply", b"", FileError, "is empty"),
    "empty stl": ("b.stl", b"", FileError, "is empty"),
    "only comments": ("b.tab", "# nothing\n", FileError, "holds no numbers"),
    "no faces": ("b.obj", "v 0 0 0\nv 1 0 0\n", FileError, "holds no facets"),
    "no vertices": ("b.obj", "f 1 2 3\n", FileError, "holds no vertices"),
    "garbage obj": ("b.obj", GARBAGE, FileError, "not a text file: it holds binary data"),
    "garbage tab": ("b.tab", GARBAGE, FileError, "not a text file"),
    "garbage npz": ("b.npz", GARBAGE, FileError, "damaged, or no NumPy archive"),
    "garbage ply": ("b.ply", GARBAGE, FileError, "not a PLY file"),
    "garbage stl": ("b.stl", GARBAGE, FileError, "not an STL file"),
    "prose obj": ("b.obj", "once upon a time\n", FileError, "holds no vertices"),
    "word in obj": (
        "b.obj",
        spoilt(obj_text(SPHERE), 5, 2, "x1"),
        FileError,
        'line 5: "x1" is not',
    ),
    "short vertex": ("b.obj", "v 1 2\nf 1 2 3\n", FileError, "line 1: a vertex with 2 numbers"),
    "broken index": ("b.obj", "v 1 2 3\nf 1 1.5 1\n", FileError, "line 2: an index is not a whole"),
    "too few rows": (
        "b.tab",
        plate_text(SPHERE).rsplit("\n", 2)[0],
        FileError,
        "42 vertices and 80 facets, which makes 123 rows .*holds 122",
    ),
    "wrong vertex count": (
        "b.tab",
        plate_text(SPHERE).replace("42 80", "41 80"),
        FileError,
        "41 vertices and 80 facets, which makes 122 rows .*holds 123",
    ),
    "counts swapped": (
        "b.tab",
        plate_text(SPHERE).replace("42 80", "80 42"),
        FileError,
        "80 vertices and 42 facets, .*counts may have been swapped",
    ),
    "wrong lone count": (
        "b.tab",
        "41\n" + plate_text(SPHERE, "apart").split("\n", 1)[1],
        FileError,
        "a facet count must follow 41 rows later; a lone count stands after 42 rows, on line 44",
    ),
    "wrong second count": (
        "b.tab",
        plate_text(SPHERE, "apart").replace("\n80\n", "\n79\n"),
        FileError,
        "42 vertices and 79 facets",
    ),
    "no counts": (
        "b.tab",
        plate_text(SPHERE).split("\n", 1)[1],
        FileError,
        "line 1: .*where counts",
    ),
    "negative count": ("b.tab", "-4 4\n1 2 3\n", FileError, "where counts are needed"),
    "word in table": (
        "b.tab",
        spoilt(plate_text(SPHERE), 7, 1, "north"),
        FileError,
        'line 7: "north" is not a number',
    ),
    "ragged table": (
        "b.tab",
        spoilt(plate_text(SPHERE), 7, 1, "1.0 2.0"),
        FileError,
        "line 7: 4 numbers where the rows of vertices above have 3",
    ),
    "quads in table": (
        "b.tab",
        "4 2\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n1 2 3 4\n4 3 2 1\n",
        MeshError,
        "4 corners.*triangulate",
    ),
    "five columns": ("b.tab", "1 1\n1 2 3 4 5\n1 1 1\n", FileError, "must have 3, or 4 with"),
    "half an index": ("b.tab", "1 1\n1 2 3\n1 1.5 1\n", FileError, "line 3: a vertex index"),
    "two numbers run together": (
        "b.tab",
        spoilt(plate_text(SPHERE), 9, 1, "1.0-2.0"),
        FileError,
        'line 9: "1.0-2.0" is not a number',
    ),
    "underscore": (
        "b.tab",
        spoilt(plate_text(SPHERE), 9, 1, "1_0"),
        FileError,
        '"1_0" is not a num',
    ),
    "short icq": (
        "b.icq",
        icq_text(4, icq_points(4)[:-1]),
        FileError,
        r"Q = 4 needs 6 \(Q\+1\)\^2 = 150 rows",
    ),
    "quad ply": (
        "b.ply",
        PLY_QUAD,
        MeshError,
        r"1 of 1 faces are not triangles .*face 0, 4 corners",
    ),
    "quad text ply": ("b.ply", ASCII_PLY_QUAD, MeshError, "1 of 1 faces .*line 14, 4 corners"),
    "cut ply": ("b.ply", PLY_QUAD[:-25], FileError, 'cut short: .*4 entries of "vertex"'),
    "odd ply": ("b.ply", b"ply\nformat ascii\nelement vertex x\nend_header\n", FileError, "line 3"),
    "bare ply": ("b.ply", b"ply\nformat ascii 1.0\nend_header\n", FileError, 'element "vertex"'),
    "short text ply": ("b.ply", ASCII_PLY_QUAD[:-20], FileError, "states 5 entries .*holds"),
    "cut stl": ("b.stl", bytes(80) + struct.pack("<I", 9) + bytes(50), FileError, "9 facets that"),
    "quad stl": (
        "b.stl",
        "solid q\nfacet\nouter loop\n" + "vertex 0 0 0\n" * 4 + "endloop\nendfacet\nendsolid",
        MeshError,
        "4 corners in 1 facets",
    ),
    "extension": ("b.objj", obj_text(SPHERE), InputError, 'ends in ".objj".* Did you mean ".obj"'),
    "no extension": (
        "body",
        obj_text(SPHERE),
        InputError,
        'ends in "", which names no mesh format',
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_every_bad_file_gives_one_clear_error(tmp_path, name):
    file, content, kind, message = BAD_FILES[name]
    path = write(tmp_path, file, content)
    with pytest.raises(kind, match=message) as caught:
        Mesh.read(path, unit="m")
    assert isinstance(caught.value, AlightError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["flipped"])
def test_what_can_be_mended_is_mended_on_reading(tmp_path, name):
    file, content, *_ = BAD_FILES[name]
    mesh = Mesh.read(write(tmp_path, file, content), unit="m", repair=True)
    assert mesh.volume == pytest.approx(SPHERE.volume, rel=1e-14)


@pytest.mark.parametrize("name", ["open", "two pieces", "nan", "index"])
def test_what_cannot_be_mended_stays_an_error(tmp_path, name):
    file, content, kind, message = BAD_FILES[name]
    with pytest.raises(kind, match=message):
        Mesh.read(write(tmp_path, file, content), unit="m", repair=True)


def test_a_missing_file_suggests_its_neighbour(tmp_path):
    write(tmp_path, "itokawa.obj", obj_text(SPHERE))
    with pytest.raises(
        FileError, match=r'no such file: .*itokwa.obj".* Did you mean "itokawa.obj"'
    ):
        Mesh.read(tmp_path / "itokwa.obj", unit="km")
    with pytest.raises(FileError, match="no such file"):
        Mesh.read(tmp_path / "nowhere" / "itokawa.obj", unit="km")


def test_a_folder_is_not_a_mesh(tmp_path):
    with pytest.raises(FileError, match="is a folder"):
        Mesh.read(tmp_path, unit="km")


def test_an_archive_without_the_arrays_says_what_it_has(tmp_path):
    np.savez(tmp_path / "b.npz", vertex=SPHERE.vertices, faces=SPHERE.faces)
    with pytest.raises(
        FileError, match=r'no array "vertices". Did you mean "vertex".*has: vertex, fa'
    ):
        Mesh.read(tmp_path / "b.npz", unit="m")
    np.savez(tmp_path / "c.npz", vertices=SPHERE.vertices, faces=np.zeros((5, 4), int))
    with pytest.raises(MeshError, match="4 corners"):
        Mesh.read(tmp_path / "c.npz", unit="m")


def test_saving_goes_where_it_can(tmp_path):
    with pytest.raises(InputError, match=r'extension to write "\.tab"'):
        SPHERE.save(tmp_path / "body.tab")
    with pytest.raises(FileError, match=r"cannot write .*No such file"):
        SPHERE.save(tmp_path / "nowhere" / "body.obj")
    with pytest.raises(InputError, match="unknown unit"):
        SPHERE.save(tmp_path / "body.obj", unit="mi")


# -- real and large files ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Itokawa_768.obj", "Bennu_1024.obj", "Geographos_16380.obj"])
def test_real_files_agree_with_another_reader(shapes_dir, name):
    mesh = Mesh.read(shapes_dir / name, unit="km")
    other = trimesh.load(shapes_dir / name, process=False, maintain_order=True)
    np.testing.assert_array_equal(mesh.faces, other.faces)
    np.testing.assert_array_equal(mesh.vertices, other.vertices * 1000.0)


def test_every_real_file_is_sound(shapes_dir):
    for path in sorted(shapes_dir.glob("*_[0-9]*.obj")):
        facets = int(path.stem.split("_")[1])
        assert Mesh.read(path, unit="km").n_faces == facets


#: VmHWM begins with the program; ru_maxrss would begin with what the tests before it held.
LARGE = """
import re, sys
from alight.shapes import Mesh
mesh = Mesh.read(sys.argv[1], unit="km")
mesh.volume, mesh.center_of_mass, mesh.inertia(532.0)
peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]
print(mesh.n_faces, int(peak) / 2**20)
"""


@pytest.mark.validate
def test_a_million_and_a_half_facets_take_under_3_gb(shapes_dir):
    path = shapes_dir / "67P_1549344_upsampled.npz"
    if not path.exists():
        pytest.skip(f"no {path.name}")
    out = subprocess.run(
        [sys.executable, "-c", LARGE, str(path)], capture_output=True, text=True, check=True
    )
    facets, gigabytes = (float(x) for x in out.stdout.split()[-2:])
    assert facets == 1549344
    assert gigabytes < 3.0


def test_row_counts_of_icq():
    assert grid_rows(64) == 25350


def test_infinite_vertex_is_named_and_not_blamed_on_the_unit(tmp_path):
    file = tmp_path / "far.obj"
    file.write_text("v inf 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\nf 1 4 2\nf 2 4 3\n")
    with pytest.raises(MeshError, match="vertex is not finite"):
        Mesh.read(file, unit="km")


def test_unknown_ending_names_the_file(tmp_path):
    file = tmp_path / "noext"
    file.write_text("hello")
    with pytest.raises(InputError, match=r'noext" ends in "".*\.obj'):
        Mesh.read(file, unit="km")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("flip", [0xFF, 0x10])
def test_a_flipped_byte_of_an_archive(tmp_path, save, flip):
    """One clear error, or the same mesh: never another one, never a traceback."""
    file = tmp_path / "body.npz"
    save(file, vertices=SPHERE.vertices, faces=SPHERE.faces, unit=np.array("m"))
    data = file.read_bytes()
    places = range(len(data))
    if len(data) > 1000:  # the numbers themselves are many and all alike
        places = [*range(400), *range(400, len(data) - 400, 7), *range(len(data) - 400, len(data))]
    refused = 0
    for at in places:
        file.write_bytes(data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :])
        try:
            found = Mesh.read(file, unit="m")
        except AlightError as error:
            refused += str(file) in str(error)
        else:
            assert found == SPHERE
    assert refused > 0.6 * len(places)
