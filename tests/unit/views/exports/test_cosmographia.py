"""Catalogues of Cosmographia: what they name is there, and says what it should."""

import json

import pytest

from alight.shapes.readers import read_arrays
from alight.views.exports.cosmographia import write_catalogue

pytest.importorskip("spiceypy", reason="spiceypy is not installed")


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
    vertices, faces = read_arrays(tmp_path / parts[0]["geometry"]["source"], "km")
    assert vertices == pytest.approx(runs.parts[0].vertices, rel=1e-15)
    assert faces.tolist() == runs.parts[0].faces.tolist()


def test_the_body_stands_opposite_the_sun(runs, scene):
    """Without a Sun it is along -x, an astronomical unit away."""
    place = scene["scene.json"]["items"][0]["trajectory"]["position"]
    assert place == pytest.approx([-149597870.7, 0.0, 0.0], rel=1e-9)
