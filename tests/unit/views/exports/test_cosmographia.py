"""Catalogues of Cosmographia: what they name is there, and says what it should."""

import json

import numpy as np
import pytest

from alight.views.exports.cosmographia import write_catalogue

pytest.importorskip("spiceypy", reason="spiceypy is not installed")


def read_cmod(path):
    """A model as the grammar of CMOD has it (wikibooks.org, Celestia/3D Models/CMOD File)."""
    words = iter(path.read_text("ascii").split())

    def expect(*wanted):
        assert [next(words) for _ in wanted] == list(wanted)

    expect("#celmodel__ascii", "material", "diffuse")
    assert all(0.0 <= float(next(words)) <= 1.0 for _ in range(3))
    expect("end_material", "mesh", "vertexdesc", "position", "f3", "normal", "f3")
    expect("end_vertexdesc", "vertices")
    count = int(next(words))
    rows = np.array([float(next(words)) for _ in range(6 * count)]).reshape(count, 6)
    expect("trilist", "0")
    faces = np.array([int(next(words)) for _ in range(int(next(words)))]).reshape(-1, 3)
    expect("end_mesh")
    assert next(words, None) is None
    assert faces.min() >= 0
    assert faces.max() < count
    return rows[:, :3], rows[:, 3:], faces


#: What Cosmographia's guide asks of items, and of files that list others (cosmoguide.org).
ITEM = {"class", "name", "center", "trajectory", "bodyFrame", "geometry"}
CLASSES = ("planet", "satellite", "asteroid", "dwarf planet", "comet", "spacecraft")


def test_it_is_what_the_guide_asks_for(scene):
    for content in scene.values():
        assert content["version"] == "1.0"
        assert isinstance(content["name"], str)
    assert set(scene["open_this.json"]) >= {"require"}
    known = {"Sun"}
    for item in scene["scene.json"]["items"]:
        assert set(item) >= ITEM
        assert item["class"] in CLASSES
        assert item["center"] in known  # of items before it
        known.add(item["name"])
        assert item["trajectory"]["type"] in ("Spice", "FixedPoint")
        assert item["bodyFrame"]["type"] == "Spice"
        assert item["geometry"]["type"] == "Mesh"
        assert item["geometry"]["source"].endswith((".cmod", ".3ds"))  # the two that it reads
        assert isinstance(item["startTime"], float)
        assert item["startTime"] < item["endTime"]


@pytest.fixture
def scene(runs, epoch, tmp_path):
    write_catalogue(runs, tmp_path, epoch, "Ryugu <b>", "inertial", [runs.title])
    return {path.name: json.loads(path.read_text("ascii")) for path in tmp_path.glob("*.json")}


def test_all_files_are_there(scene, tmp_path):
    for name in scene["open_this.json"]["require"]:
        assert (tmp_path / name).is_file()
    kernels = scene["spice.json"]["spiceKernels"]
    assert {name.rpartition(".")[2] for name in kernels} == {"tf", "tsc", "bc", "bsp", "bds"}
    assert all((tmp_path / name).is_file() for name in kernels)


def test_items_move_by_spice(runs, scene, tmp_path, epoch):
    body, *parts = scene["scene.json"]["items"]
    assert len(parts) == 4
    assert len({item["name"] for item in parts}) == 4
    assert body["startTime"] == pytest.approx(epoch.julian(), abs=1e-9)
    for item, number in zip(parts, ("-1000000", "-1000001", "-1001000", "-1001001"), strict=True):
        assert item["trajectory"]["target"] == number
        assert item["center"] == body["name"]
        assert (tmp_path / item["geometry"]["source"]).is_file()
    vertices, normals, faces = read_cmod(tmp_path / parts[0]["geometry"]["source"])
    given = runs.parts[0]
    assert 1e3 * vertices[faces] == pytest.approx(given.vertices[given.faces], rel=1e-8)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    out = np.cross(b - a, c - a)
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    assert np.einsum("fkj,fj->fk", normals[faces], out) == pytest.approx(1.0, abs=1e-6)  # flat


def test_the_body_stands_opposite_the_sun(runs, scene):
    """Without a Sun it is along -x, an astronomical unit away."""
    place = scene["scene.json"]["items"][0]["trajectory"]["position"]
    assert place == pytest.approx([-149597870.7, 0.0, 0.0], rel=1e-9)
