"""Meshes from glTF and DSK files: those of others, and what is wrong with broken ones."""

import base64
import json
import os
import struct

import numpy as np
import pytest
import trimesh

from alight.core.errors import FileError, MissingExtraError
from alight.shapes import Mesh
from alight.shapes.icosphere import icosphere
from alight.shapes.readers import read_arrays

BALL = icosphere(2, 5.0)


def glb(root, data=b"", **head):
    """A binary file from its JSON and its data."""
    text = json.dumps(root).encode()
    text += b" " * (-len(text) % 4)
    total = head.get("total", 12 + 8 + len(text) + 8 + len(data))
    parts = [struct.pack("<4sII", b"glTF", head.get("version", 2), total)]
    parts += [struct.pack("<I4s", len(text), b"JSON"), text]
    parts += [struct.pack("<I4s", len(data), b"BIN\0"), data]
    return b"".join(parts)


def ball_root(**more):
    """The JSON of a file with one ball, and its data."""
    points = BALL.vertices.astype("<f4")
    faces = BALL.faces.astype("<u2")
    data = points.tobytes() + faces.tobytes()
    root = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(points), "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": faces.size, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": points.nbytes},
            {"buffer": 0, "byteOffset": points.nbytes, "byteLength": faces.nbytes},
        ],
        "buffers": [{"byteLength": len(data)}],
    }
    return {**root, **more}, data


def turned(points):
    """y up to z up."""
    return points @ np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])


@pytest.fixture
def read(tmp_path):
    """``read(data)``: a mesh from the bytes of a .glb file."""

    def make(data, name="a.glb"):
        (tmp_path / name).write_bytes(data)
        return Mesh.read(tmp_path / name, unit="m")

    return make


def same(mesh, vertices):
    """Whether a mesh has these vertices, in any order, and the volume of the ball."""
    order = [np.lexsort(np.round(v, 4).T) for v in (mesh.vertices, vertices)]
    assert mesh.vertices[order[0]] == pytest.approx(vertices[order[1]], abs=1e-5)


@pytest.mark.parametrize("ending", [".glb", ".gltf"])
def test_files_of_an_independent_writer(tmp_path, ending):
    """What trimesh writes; y is up there."""
    made = trimesh.Trimesh(BALL.vertices, BALL.faces, process=False)
    scene = trimesh.Scene()
    scene.add_geometry(made, transform=trimesh.transformations.translation_matrix([1.0, 2.0, 3.0]))
    if ending == ".glb":
        (tmp_path / "a.glb").write_bytes(scene.export(file_type="glb"))
    else:
        for name, data in scene.export(file_type="gltf").items():
            (tmp_path / name.replace("model", "a")).write_bytes(data)
    mesh = Mesh.read(tmp_path / f"a{ending}", unit="m")
    same(mesh, turned(BALL.vertices + np.array([1.0, 2.0, 3.0])))
    assert mesh.volume == pytest.approx(BALL.volume, rel=1e-6)


def test_nodes_place_meshes(tmp_path):
    """Turned, moved, made larger and mirrored, one below the other; copies are copies."""
    half = 0.5**0.5
    root, data = ball_root(
        nodes=[
            {"children": [1, 2], "rotation": [0.0, 0.0, half, half]},
            {"mesh": 0, "translation": [10.0, 0.0, 0.0], "scale": [2.0, 2.0, 2.0]},
            {"mesh": 0, "matrix": [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -10, 0, 0, 1]},
        ]
    )
    (tmp_path / "two.glb").write_bytes(glb(root, data))
    mesh = Mesh(*read_arrays(tmp_path / "two.glb", "m"), check=False)  # two pieces are no solid
    assert mesh.volume == pytest.approx(9.0 * BALL.volume, rel=1e-5)
    # x there turns to y, which is z here.
    assert mesh.center_of_mass == pytest.approx([0.0, 0.0, (80.0 - 10.0) / 9.0], abs=1e-4)


def test_data_in_the_text_or_beside_it(read, tmp_path):
    root, data = ball_root()
    text = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    inside = json.dumps({**root, "buffers": [{"byteLength": len(data), "uri": text}]}).encode()
    (tmp_path / "data 1.bin").write_bytes(data)
    beside = {**root, "buffers": [{"byteLength": len(data), "uri": "data%201.bin"}]}
    meshes = [
        read(glb(root, data)),
        read(inside, "b.gltf"),
        read(json.dumps(beside).encode(), "c.gltf"),
    ]
    assert meshes[0] == meshes[1] == meshes[2]
    assert meshes[0].n_faces == BALL.n_faces


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"asset": {"version": "1.0"}}, "no version 2"),
        ({"extensionsRequired": ["KHR_draco_mesh_compression"]}, "KHR_draco"),
        ({"nodes": [{"mesh": 7}]}, "entry 7 of 'meshes'"),
        ({"nodes": [{"mesh": 0, "children": [0]}]}, "in a ring"),
        ({"nodes": [{"mesh": 0, "rotation": [0, 0, 0, 0]}]}, "all zeros"),
        ({"nodes": [{"mesh": 0, "scale": [1, "x", 1]}]}, "numbers that are none"),
        ({"nodes": []}, "entry 0 of 'nodes'"),
        ({"meshes": [{"primitives": []}]}, "no triangles"),
        ({"buffers": [{"uri": "../secret.bin"}]}, "its own folder"),
        ({"buffers": [{"uri": "/etc/passwd"}]}, "its own folder"),
        ({"buffers": [{"uri": "https://example.org/a.bin"}]}, "its own folder"),
        ({"buffers": [{"uri": "data:;base64,@@"}]}, "no base64"),
        ({"bufferViews": [{"buffer": 0, "byteOffset": 10**9}] * 2}, "a buffer of"),
        ({"bufferViews": [{"buffer": 0, "byteOffset": -4}] * 2}, "no whole numbers"),
    ],
)
def test_what_is_wrong_is_told(read, change, said):
    root, data = ball_root(**change)
    with pytest.raises(FileError, match=said) as caught:
        read(glb(root, data))
    assert "a.glb" in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"glTF", "byte 4: it is cut short"),
        (glb(*ball_root(), total=10**8), "byte 4: its header states version 2"),
        (glb(*ball_root(), version=1), "byte 4: its header states version 1"),
        (
            b"glTF" + struct.pack("<II", 2, 24) + struct.pack("<I4s", 999, b"JSON") + b"    ",
            "byte 12",
        ),
        (b"{", "its JSON"),
        (b"[" * 100_000, "its JSON"),
        (b"[]", "no glTF"),
    ],
)
def test_broken_files_name_the_byte(read, data, said):
    with pytest.raises(FileError, match=said):
        read(data)


def test_a_stride_leaves_out_what_lies_between(read):
    """Positions beside other numbers."""
    root, _ = ball_root()
    wide = np.zeros((BALL.n_vertices, 5), "<f4")
    wide[:, :3] = BALL.vertices
    faces = BALL.faces.astype("<u2").tobytes()
    root["bufferViews"] = [
        {"buffer": 0, "byteOffset": 0, "byteLength": wide.nbytes, "byteStride": 20},
        {"buffer": 0, "byteOffset": wide.nbytes, "byteLength": len(faces)},
    ]
    same(read(glb(root, wide.tobytes() + faces)), turned(BALL.vertices))


# -- DSK -------------------------------------------------------------------------------------------


def test_a_file_that_is_no_dsk(tmp_path):
    (tmp_path / "a.bds").write_bytes(b"DAF/SPK " + bytes(2000))
    with pytest.raises(FileError, match="byte 0: it is no SPICE shape model"):
        Mesh.read(tmp_path / "a.bds", unit="km")
    os.mkfifo(tmp_path / "pipe.bds")
    with pytest.raises(FileError, match="is a pipe"):
        Mesh.read(tmp_path / "pipe.bds", unit="km")


def test_a_dsk_that_is_cut_short(tmp_path):
    pytest.importorskip("spiceypy", reason="spiceypy is not installed")
    (tmp_path / "a.bds").write_bytes(b"DAS/DSK " + bytes(500))
    with pytest.raises(FileError, match="SPICE cannot read it"):
        Mesh.read(tmp_path / "a.bds", unit="km")


def test_without_spiceypy_a_line_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "spiceypy", None)
    (tmp_path / "a.bds").write_bytes(b"DAS/DSK " + bytes(2000))
    with pytest.raises(MissingExtraError, match=r'pip install "alight\[spice\]"'):
        Mesh.read(tmp_path / "a.bds", unit="km")
