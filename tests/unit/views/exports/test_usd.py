"""USD scenes, read back by usd-core."""

import numpy as np
import pytest

from alight.views.exports import keys
from alight.views.exports.usd import RATE, write_usd

pytest.importorskip("pxr", reason='usd-core is not installed: pip install "alight[usd]"')


@pytest.fixture
def stage(runs, epoch, tmp_path):
    from pxr import Usd

    write_usd(runs, tmp_path / "runs.usdc", epoch, "fixed", [runs.title], speed=10.0)
    return Usd.Stage.Open(str(tmp_path / "runs.usdc"))


def test_parts_move_as_their_tracks(runs, stage):
    from pxr import UsdGeom

    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    track, origin = runs.tracks[1], runs.focus[0]
    assert stage.GetEndTimeCode() == pytest.approx(runs.end / 10.0 * RATE)
    (part,) = (p for p in stage.Traverse() if str(p.GetPath()).startswith("/Alight/run_17/leg")
               and p.GetTypeName() == "Xform")  # fmt: skip
    shape = UsdGeom.Xformable(part)
    for t in np.linspace(0.0, track.end, 40):
        found = np.array(shape.GetLocalTransformation(t / 10.0 * RATE))
        place, turn, _ = track.at([t])
        assert (
            np.linalg.norm(found[3, :3] + origin - place[0, 1]) < keys.place_tolerance(runs) + 1e-9
        )
        from alight.core import frames

        assert (
            pytest.approx(frames.quat_to_matrix(turn[0, 1]), abs=2 * keys.TURN) == found[:3, :3].T
        )


def test_shapes_and_names(runs, stage):
    from pxr import UsdGeom

    body = UsdGeom.Mesh(stage.GetPrimAtPath("/Alight/body"))
    assert np.array(body.GetPointsAttr().Get()) == pytest.approx(
        runs.target.vertices - runs.focus[0], abs=1e-4
    )
    paths = [str(p.GetPath()) for p in stage.Traverse()]
    assert len(paths) == len(set(paths))
    assert "/Alight/rest_sites" in paths
    assert not any(set(path) - set(_PLAIN) for path in paths)


_PLAIN = "/_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def test_the_body_turns_in_inertial_axes(runs, epoch, tmp_path):
    from pxr import Usd, UsdGeom

    from alight.core import frames

    write_usd(runs, tmp_path / "runs.usdc", epoch, "inertial", [])
    stage = Usd.Stage.Open(str(tmp_path / "runs.usdc"))
    root = UsdGeom.Xformable(stage.GetPrimAtPath("/Alight"))
    found = np.array(root.GetLocalTransformation(runs.end * RATE))[:3, :3].T
    right = frames.quat_to_matrix(runs.attitude(np.array([runs.end]))[0])
    assert found == pytest.approx(right, abs=1e-9)


def test_a_surface_bends(bending, epoch, tmp_path):
    from pxr import Usd, UsdGeom

    write_usd(bending, tmp_path / "runs.usdc", epoch, "fixed", [])
    stage = Usd.Stage.Open(str(tmp_path / "runs.usdc"))
    track = bending.tracks[0]
    cloth = UsdGeom.Mesh(stage.GetPrimAtPath("/Alight/run_0/membrane"))
    found = np.array(cloth.GetPointsAttr().Get(track.end * RATE)) + bending.focus[0]
    assert found == pytest.approx(track.surface[-1], abs=1e-3)
