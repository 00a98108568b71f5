"""VTK files, read by an independent reader (fieldcompare)."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from alight.views.exports.vtk import Poly, _array, vtp, write_vtk

reader = pytest.importorskip("fieldcompare.io.vtk", reason="fieldcompare is not installed")


def read(path):
    """Points, cells by type, and fields of a file."""
    found = reader.read(str(path))
    mesh = found.domain
    fields = {one.name.partition(" @ ")[0]: np.asarray(one.values) for one in found}
    return np.asarray(mesh.points), mesh, fields


@pytest.fixture
def written(runs, tmp_path):
    write_vtk(runs, tmp_path, [runs.title], 10)
    return tmp_path


def test_the_body_is_the_mesh(runs, written):
    points, mesh, _ = read(written / "body.vtp")
    assert np.array_equal(points, runs.target.vertices)
    (kind,) = mesh.cell_types
    assert np.array_equal(mesh.connectivity(kind), runs.target.faces)


def test_paths_have_times_and_speeds(runs, written):
    points, _, fields = read(written / "paths.vtp")
    time = fields["time_s"]
    cut = int(np.flatnonzero(np.diff(time) < 0.0)[0]) + 1
    first = runs.tracks[0]
    assert points[:cut] == pytest.approx(first.at(time[:cut])[0][:, 0], abs=1e-9)
    assert fields["speed_m_per_s"][:cut] == pytest.approx(first.speed_at(time[:cut]))
    assert sorted(fields["run"].reshape(-1).tolist()) == [3, 17]


def test_contacts_and_sites_have_their_columns(runs, written):
    points, _, fields = read(written / "contacts.vtp")
    assert fields["run"].tolist() == [3, 3, 17, 17]
    assert points == pytest.approx(np.concatenate([t.contacts.place for t in runs.tracks]))
    points, _, fields = read(written / "rest_sites.vtp")
    assert points == pytest.approx(runs.sites.place[:2])
    assert fields["end_time_s"].tolist() == [3.0, 4.0]
    (coded,) = (v for name, v in fields.items() if name.startswith("outcome ("))
    assert coded.tolist() == [1, 0]


def test_moments_show_the_parts_where_they_are(runs, written):
    listed = ET.parse(written / "landers.pvd").getroot().findall(".//DataSet")
    times = [float(one.get("timestep")) for one in listed]
    assert len(times) == 14  # ten even ones, and four hits
    assert set(np.concatenate([t.jumps for t in runs.tracks])) <= set(times)
    t, name = times[5], listed[5].get("file")
    points, mesh, fields = read(written / name)
    place, turn, _ = runs.tracks[0].at([t])
    from alight.core import frames

    first = place[0, 0] + frames.quat_rotate(turn[0, 0], runs.parts[0].vertices)
    assert points[:8] == pytest.approx(first, abs=1e-12)
    assert len(points) == 2 * (8 + 8)
    (kind,) = mesh.cell_types
    assert set(fields["run"].reshape(-1).tolist()) == {3, 17}
    assert len(mesh.connectivity(kind)) == 4 * 12


def test_a_surface_that_bends_is_among_them(bending, tmp_path):
    write_vtk(bending, tmp_path, [], 4)
    points, _, _ = read(tmp_path / "landers" / "landers_00000.vtp")
    assert points[-4:] == pytest.approx(bending.tracks[0].surface[0], abs=1e-12)


def test_hostile_names_are_text(runs, written):
    """Every file is one that a strict parser takes, with no element that a name brought."""
    for path in [*written.rglob("*.vtp"), written / "landers.pvd"]:
        tags = {element.tag for element in ET.parse(path).iter()}
        assert "script" not in tags
        assert "b" not in tags
        path.read_text("ascii")


def test_large_arrays_come_in_blocks(tmp_path):
    points = np.random.default_rng(0).normal(size=(100_000, 3))
    (tmp_path / "a.vtp").write_text(
        vtp(Poly(points, "Verts", np.arange(100_000)[:, None])), "ascii"
    )
    assert np.array_equal(read(tmp_path / "a.vtp")[0], points)


def test_the_head_of_an_array_is_as_vtk_counts(tmp_path):
    """Blocks, size of a block, size of the last one if it is shorter (else 0), compressed sizes."""
    import base64
    import zlib

    for count in (4, 1 << 17, 200_000):
        values = np.arange(count, dtype=float)
        text = _array("a", values).partition(">")[2].partition("<")[0]
        blocks = -(-8 * count // (1 << 20))
        size = 4 * -(-8 * (3 + blocks) // 3)
        head = np.frombuffer(base64.b64decode(text[:size]), "<u8")
        assert head[:3].tolist() == [blocks, 1 << 20, 8 * count % (1 << 20)]
        data, at, raw = base64.b64decode(text[size:]), 0, b""
        for piece in head[3:].tolist():
            raw += zlib.decompress(data[at : at + piece])
            at += piece
        assert np.array_equal(np.frombuffer(raw), values)
