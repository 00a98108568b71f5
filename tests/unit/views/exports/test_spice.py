"""SPICE kernels, read back by SPICE: 1 mm and 1e-6 rad between hits, and both sides of each."""

import contextlib

import numpy as np
import pytest

import alight
from alight.core import frames
from alight.core.errors import InputError
from alight.shapes import Mesh
from alight.views.exports import arcs
from alight.views.exports.spice.kernels import write_kernels

spice = pytest.importorskip("spiceypy", reason="spiceypy is not installed")


@pytest.fixture
def loaded(monkeypatch):
    """``with loaded(kernels):`` the meta-kernel is loaded, from its own folder."""

    @contextlib.contextmanager
    def load(kernels):
        monkeypatch.chdir(kernels.meta.parent)
        with spice.KernelPool([kernels.meta.name]):
            yield

    return load


def state(kernels, one, et, frame=None):
    """Place [m] and velocity [m/s] in the body's axes."""
    ids = kernels.ids
    found, _ = spice.spkezr(
        str(one.number), et, frame or ids.body.frame, "NONE", str(ids.body.number)
    )
    return 1e3 * found[:3], 1e3 * found[3:]


def attitude(kernels, one, et):
    R = spice.pxform(one.frame, kernels.ids.body.frame, et)
    return frames.quat_from_matrix(R)


@pytest.mark.parametrize("axes", ["inertial", "fixed"])
def test_kernels_are_the_tracks(runs, epoch, tmp_path, loaded, axes):
    made = write_kernels(runs, tmp_path, epoch, "Ryugu", axes, ["a note"])
    rng = np.random.default_rng(0)
    with loaded(made):
        for track, named in zip(runs.tracks, made.ids.parts, strict=True):
            times = np.concatenate([track.time, rng.uniform(0.0, track.end, 200)])
            places, turns, _ = track.at(times)
            for k, one in enumerate(named):
                for t, x, q in zip(times.tolist(), places[:, k], turns[:, k], strict=True):
                    assert np.linalg.norm(state(made, one, epoch.et(t))[0] - x) < 1e-3
                    assert arcs.angle_between(attitude(made, one, epoch.et(t)), q) < 1e-6


@pytest.mark.parametrize("axes", ["inertial", "fixed"])
def test_both_sides_of_a_hit_are_right(runs, epoch, tmp_path, loaded, axes):
    """At the time of a hit the velocity after it, at the last date before it that before it."""
    made = write_kernels(runs, tmp_path, epoch, "Ryugu", axes, [])
    track, (one, _) = runs.tracks[0], made.ids.parts[0]
    with loaded(made):
        for piece in track.segments[:-1]:
            last = piece.stop - 1
            after = epoch.et(float(track.time[last]))
            before = np.nextafter(after, -np.inf)
            for et, line in ((before, last), (after, last + 1)):
                x, v = state(made, one, et)
                assert np.linalg.norm(x - track.position[line, 0]) < 1e-3
                assert v == pytest.approx(track.velocity[line, 0], rel=1e-6, abs=1e-9)
                assert arcs.angle_between(attitude(made, one, et), track.attitude[line, 0]) < 1e-6


def test_a_history_with_rigid_hits(landing, tmp_path, loaded, monkeypatch):
    """The whole way, against ``Solution.sample``, which is exact in free flight."""
    scenario, solution = landing
    made = alight.export(solution, "spice", tmp_path, scenario=scenario, epoch="2018-10-03")
    assert any("taken as TDB" in note for note in made.notes)
    monkeypatch.chdir(tmp_path / "spice")
    from alight.views.exports.epoch import epoch_of

    epoch, center, body = epoch_of("2018-10-03", None), "999000001", "ALIGHT_TARGET_FIXED"
    hits = np.flatnonzero((np.diff(solution.time) == 0.0) & (solution.time[1:] > 0.0))
    assert len(hits) > 3
    rng = np.random.default_rng(1)
    times = np.concatenate([solution.time, rng.uniform(0.0, solution.time[-1], 1000)])
    places, turns = solution.sample(times)
    with spice.KernelPool(["target.tm"]):
        for t, x, q in zip(times.tolist(), places, turns, strict=True):
            found = spice.spkezr("RUN_0", epoch.et(t), body, "NONE", center)[0]
            assert np.linalg.norm(1e3 * found[:3] - x) < 1e-3
            R = spice.pxform("RUN_0", body, epoch.et(t))
            assert arcs.angle_between(frames.quat_from_matrix(R), q) < 1e-6
        for i in hits.tolist():
            after = epoch.et(float(solution.time[i]))
            sides = (
                (np.nextafter(after, -np.inf), _first(solution, i)),
                (after, _last(solution, i)),
            )
            for et, line in sides:
                found = spice.spkezr("RUN_0", et, body, "NONE", center)[0]
                assert np.linalg.norm(1e3 * found[:3] - solution.position[line]) < 1e-3
                assert 1e3 * found[3:] == pytest.approx(solution.velocity[line], rel=1e-5, abs=1e-7)


def _first(solution, i):
    """The first of the lines of one time."""
    return int(np.searchsorted(solution.time, solution.time[i], side="left"))


def _last(solution, i):
    return int(np.searchsorted(solution.time, solution.time[i], side="right")) - 1


def test_rates_in_the_body_axes(runs, epoch, tmp_path, loaded):
    """CK has angular velocities: those of the body by its turning, of a part by its turns."""
    made = write_kernels(runs, tmp_path, epoch, "Ryugu", "inertial", [])
    track, (one, _) = runs.tracks[0], made.ids.parts[0]
    with loaded(made):
        for t in (10.0, 333.0):
            _, w = spice.xf2rav(spice.sxform("J2000", made.ids.body.frame, epoch.et(t)))
            assert np.linalg.norm(w) == pytest.approx(2.3e-4, rel=1e-9)
            _, w = spice.xf2rav(spice.sxform(made.ids.body.frame, one.frame, epoch.et(t)))
            step = 1e-2
            q = track.at([t - step, t + step])[1][:, 0]
            assert np.linalg.norm(w) == pytest.approx(
                float(arcs.angle_between(q[0], q[1])) / (2 * step), rel=1e-3
            )


def test_shapes_come_back_to_the_last_bit_but_rounding(runs, epoch, tmp_path):
    """km and back: one rounding each."""
    made = write_kernels(runs, tmp_path, epoch, "Ryugu", "inertial", [])
    (path,) = (f for f in made.files if f.suffix == ".bds")
    mesh = Mesh.read(path, unit="km")
    assert np.array_equal(mesh.faces, runs.target.faces)
    assert mesh.vertices == pytest.approx(runs.target.vertices, rel=1e-15, abs=1e-10)
    with pytest.raises(InputError, match='states that its unit is "km"'):
        Mesh.read(path, unit="m")


def test_rays_meet_the_shape(runs, epoch, tmp_path, loaded):
    """A ray towards the centre ends on the surface, by SPICE's own search of plates."""
    made = write_kernels(runs, tmp_path, epoch, "Ryugu", "inertial", [])
    ids = made.ids.body
    with loaded(made):
        for way in frames.quat_normalize(np.random.default_rng(3).normal(size=(20, 3))):
            found = spice.dskxsi(
                False, str(ids.number), [1], epoch.et(0.0), ids.frame, 2.0 * way, -way
            )[0]
            assert 0.43 < np.linalg.norm(found) < 0.4501


def test_names_and_notes_are_plain(runs, epoch, tmp_path):
    made = write_kernels(
        runs, tmp_path, epoch, 'x"; <b> \\begindata', "fixed", ["\\begindata\nA=1"]
    )
    for path in made.files:
        if path.suffix in (".tf", ".tsc", ".tm"):
            text = path.read_text("ascii")
            assert text.count("\\begindata") == 1
            assert max(map(len, text.splitlines())) <= 80
    assert made.ids.body.frame == "ALIGHT_X_B_BEGINDATA_FIXED"
    assert len({one.name for one in made.ids.all_parts}) == 4
    assert all(len(one.name) <= 26 for one in made.ids.all_parts)


def test_a_body_that_spice_knows_has_its_number(runs, epoch, tmp_path):
    made = write_kernels(runs, tmp_path, epoch, "Phobos", "fixed", [])
    assert made.ids.body.number == 401
    assert "NAIF_BODY_CODE += ( 401 )" not in made.files[0].read_text()
