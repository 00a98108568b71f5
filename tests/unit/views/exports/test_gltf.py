"""glTF scenes, read by independent readers (pygltflib, trimesh)."""

import json
import struct

import numpy as np
import pytest
import trimesh

from alight.core import frames
from alight.core.interpolation import turned
from alight.views.exports import keys
from alight.views.exports.gltf import SHAPES, write_glb

gltf = pytest.importorskip("pygltflib", reason="pygltflib is not installed")


@pytest.fixture
def scene(runs, epoch, tmp_path):
    write_glb(runs, tmp_path / "runs.glb", epoch, "fixed", [runs.title])
    return gltf.GLTF2().load(str(tmp_path / "runs.glb"))


def values(scene, number):
    """The numbers of an accessor."""
    about = scene.accessors[number]
    view = scene.bufferViews[about.bufferView]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[about.type]
    kind = {5126: "<f4", 5125: "<u4"}[about.componentType]
    data = scene.binary_blob()[view.byteOffset : view.byteOffset + view.byteLength]
    return np.frombuffer(data, kind).reshape(about.count, width)


def named(scene, name):
    (found,) = (i for i, node in enumerate(scene.nodes) if node.name == name)
    return found


def animated(scene, node, path):
    """Times and values of a channel."""
    (channel,) = (
        c for c in scene.animations[0].channels if (c.target.node, c.target.path) == (node, path)
    )
    sampler = scene.animations[0].samplers[channel.sampler]
    assert sampler.interpolation == "LINEAR"
    return values(scene, sampler.input)[:, 0], values(scene, sampler.output)


def test_parts_move_as_their_tracks(runs, scene):
    origin = np.array(scene.asset.extras["origin_m"])
    fine = scene.asset.extras["error_of_straight_ways"]
    assert fine["place_m"] <= keys.place_tolerance(runs)
    track = runs.tracks[1]
    node = named(scene, "run 17: leg '; DROP")
    probe = np.random.default_rng(0).uniform(0.0, track.end, 300)
    places, turns, _ = track.at(probe)
    t, x = animated(scene, node, "translation")
    found = np.stack([np.interp(probe, t, x[:, k]) for k in range(3)], axis=1) + origin
    # The error stated, and 32 bits: of times at 0.1 m/s, and of places near the origin.
    assert np.linalg.norm(found - places[:, 1], axis=1).max() < keys.place_tolerance(runs) + 1e-4
    t, q = animated(scene, node, "rotation")
    left = np.clip(np.searchsorted(t, probe, side="right") - 1, 0, len(t) - 2)
    share = (probe - t[left]) / (t[left + 1] - t[left])
    even = turned(q[left].astype(float), q[left + 1].astype(float), share)
    assert keys.angle_between(even, turns[:, 1]).max() < keys.TURN + 1e-4


def test_keys_at_hits_and_no_way_beyond(runs, scene):
    """The corner of a bounce is a key; nothing is lower than the track is."""
    track = runs.tracks[0]
    t, _ = animated(scene, _first(scene), "translation")
    for jump in track.jumps:
        assert np.abs(t - jump).min() < 1e-4
    assert (np.diff(t) > 0.0).all()


def _first(scene):
    (found,) = (
        i for i, n in enumerate(scene.nodes) if (n.name or "").startswith('run 3: a "title"')
    )
    return found


def test_an_independent_reader_has_the_meshes(runs, epoch, tmp_path):
    """The body where it stands, z up made y up, counted from the origin."""
    write_glb(runs, tmp_path / "runs.glb", epoch, "fixed", [])
    read = trimesh.load(tmp_path / "runs.glb")
    box = read.geometry["body"].bounding_box.bounds
    place = read.graph.get("body")[0]
    origin = runs.focus[0]
    corners = trimesh.transform_points(read.geometry["body"].vertices, place)
    wanted = (runs.target.vertices - origin) @ np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    assert corners == pytest.approx(wanted, abs=1e-4)
    assert box[1, 0] - box[0, 0] == pytest.approx(900.0, rel=1e-3)


def test_the_body_turns_in_inertial_axes(runs, epoch, tmp_path):
    write_glb(runs, tmp_path / "runs.glb", epoch, "inertial", [], speed=60.0)
    scene = gltf.GLTF2().load(str(tmp_path / "runs.glb"))
    t, q = animated(scene, named(scene, "axes of the body"), "rotation")
    right = runs.attitude(60.0 * t.astype(float))
    assert keys.angle_between(q.astype(float), right).max() < 1e-6
    assert t[-1] == pytest.approx(runs.end / 60.0, rel=1e-6)
    assert scene.asset.extras["origin_m"] == [0.0, 0.0, 0.0]


def test_a_surface_bends(bending, epoch, tmp_path):
    """At the times of its shapes it is the shape, by weights of 0 and 1."""
    write_glb(bending, tmp_path / "runs.glb", epoch, "fixed", [])
    scene = gltf.GLTF2().load(str(tmp_path / "runs.glb"))
    node = named(scene, "membrane")
    piece = scene.meshes[scene.nodes[node].mesh].primitives[0]
    t, weights = animated(scene, node, "weights")
    weights = weights.reshape(SHAPES, SHAPES - 1)
    base = values(scene, piece.attributes.POSITION).astype(float)
    moved = np.stack([values(scene, target["POSITION"]) for target in piece.targets])
    origin = np.array(scene.asset.extras["origin_m"])
    for k in (0, 7, SHAPES - 1):
        found = base + np.einsum("s,svi->vi", weights[k], moved) + origin
        right = bending.tracks[0].at([t[k]])[2][0]
        assert found == pytest.approx(right, abs=1e-3)


def test_the_container_is_as_the_standard_has_it(runs, epoch, tmp_path):
    """Lengths, alignment, bounds of accessors, quaternions of length 1."""
    write_glb(runs, tmp_path / "runs.glb", epoch, "fixed", [])
    data = (tmp_path / "runs.glb").read_bytes()
    magic, version, total = struct.unpack_from("<4sII", data)
    assert (magic, version, total) == (b"glTF", 2, len(data))
    size, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON"
    assert size % 4 == 0
    root = json.loads(data[20 : 20 + size])
    rest = len(data) - 20 - size - 8
    assert root["buffers"][0]["byteLength"] == rest
    for view in root["bufferViews"]:
        assert view["byteOffset"] % 4 == 0
        assert view["byteOffset"] + view["byteLength"] <= rest
    scene = gltf.GLTF2().load(str(tmp_path / "runs.glb"))
    for mesh in scene.meshes:
        for piece in mesh.primitives:
            points = values(scene, piece.attributes.POSITION)
            about = scene.accessors[piece.attributes.POSITION]
            assert np.array_equal(points.min(axis=0), np.float32(about.min))
            assert np.array_equal(points.max(axis=0), np.float32(about.max))
    for channel in scene.animations[0].channels:
        if channel.target.path == "rotation":
            q = values(scene, scene.animations[0].samplers[channel.sampler].output)
            assert np.linalg.norm(q, axis=1) == pytest.approx(1.0, abs=1e-6)


def test_keys_are_few_where_the_way_is_straight(runs):
    """Evenly moved, two keys; the error that is stated is the error there is."""
    from alight.views.playback import Track

    t = np.linspace(0.0, 10.0, 200)
    x = t[:, None, None] * np.array([1.0, 2.0, 3.0])
    v = np.tile([1.0, 2.0, 3.0], (200, 1, 1))
    q = np.tile([0.0, 0.0, 0.0, 1.0], (200, 1, 1))
    found = keys.place_keys(Track(0, "", t, x, v, q), 0, 1e-3)
    assert found.time.tolist() == [0.0, 10.0]
    assert found.error == pytest.approx(2.5e-4)  # what is left for between lines
    bent = keys.place_keys(runs.tracks[0], 0, 0.05)
    probe = np.linspace(0.0, runs.tracks[0].end, 5000)
    straight = np.stack([np.interp(probe, bent.time, bent.value[:, k]) for k in range(3)], axis=1)
    away = np.linalg.norm(straight - runs.tracks[0].at(probe)[0][:, 0], axis=1).max()
    assert 0.01 < away < 0.1


def test_one_sign_keeps_attitudes(runs):
    q = runs.tracks[0].attitude[:, 0] * np.where(np.arange(93) % 2, 1.0, -1.0)[:, None]
    same = keys.one_sign(q)
    assert ((same[1:] * same[:-1]).sum(axis=1) >= 0.0).all()
    assert frames.quat_to_matrix(same) == pytest.approx(frames.quat_to_matrix(q), abs=1e-15)
