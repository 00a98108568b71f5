"""DistanceField: what can be asked, what is kept on disk, what is reported, what is refused."""

import dataclasses
import itertools
import re

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.shapes.icosphere import icosphere
from alight.surfaces import DistanceField, FractalNoise, Rough
from alight.surfaces.field import build, store
from alight.surfaces.field.bricks import BRICK, CORE, VOLUME

BALL = icosphere(3, 10.0)


@pytest.fixture(scope="module")
def ball():
    return DistanceField.from_mesh(BALL, 1.0, store=False, device="cpu")


def test_report_is_what_is_found(ball):
    report = ball.report
    rng = np.random.default_rng(0)
    corner = BALL.vertices[BALL.faces[rng.integers(0, BALL.n_faces, 5000)]]
    points = np.einsum("ij,ijk->ik", rng.dirichlet([1, 1, 1], 5000), corner)
    error = ball.query(points)[0]
    # Facets of this ball are equal within a tenth: picking them evenly is picking areas evenly.
    assert report.rms_error == pytest.approx(np.sqrt(np.mean(error**2)), rel=0.05)
    assert np.abs(error).max() <= 1.2 * report.max_error
    assert 0.0 < report.rms_normal_error < report.max_normal_error < 0.2
    assert report.levels == len(ball.tables.levels)
    assert report.nbytes == ball.tables.nbytes > report.bricks * VOLUME * 4
    assert report.seconds > 0.0
    assert (ball.bounds.slope, ball.bounds.curvature) == (report.slope, report.curvature)
    for words in ("surface within", "slope up to", "MB"):
        assert words in str(report)
    assert repr(ball).startswith("DistanceField(smooth, spacing 1 m, band 4 m")


def test_bounds_are_not_wasteful(ball):
    """A ball's own slope and curvature are 1 and 0.1 /m."""
    assert 1.0 <= ball.bounds.slope < 1.1
    assert 0.1 < ball.bounds.curvature < 1.0


def test_built_on_any_device_it_is_the_same(ball, device):
    other = DistanceField.from_mesh(BALL, 1.0, store=False, device=device)
    for one, two in zip(ball.tables.levels, other.tables.levels, strict=True):
        assert np.array_equal(one.bricks, two.bricks)
    a, b = ball.tables.coefficient, other.tables.coefficient
    assert np.abs(a - b).max() <= 2.0**-22 * np.abs(a).max()
    assert other.report.slope == pytest.approx(ball.report.slope, rel=1e-6)
    assert other.report.curvature == pytest.approx(ball.report.curvature, rel=1e-4)


def test_stored_fields_come_back_with_the_same_bits(tmp_path):
    first = DistanceField.from_mesh(BALL, 1.5, store=tmp_path, device="cpu")
    assert len(list(tmp_path.iterdir())) == 1
    again = DistanceField.from_mesh(BALL, 1.5, store=str(tmp_path), device="cpu")
    assert np.array_equal(first.tables.coefficient, again.tables.coefficient)
    assert again.report == dataclasses.replace(first.report, seconds=0.0)
    points = np.random.default_rng(1).normal(size=(500, 3)) * 15.0
    for a, b in zip(first.sample(points), again.sample(points), strict=True):
        assert np.array_equal(a, b)
    assert again.bounds == first.bounds


def test_anything_that_matters_makes_another_file(tmp_path):
    DistanceField.from_mesh(BALL, 1.5, store=tmp_path, device="cpu")
    DistanceField.from_mesh(BALL, 1.5, band=7.0, store=tmp_path, device="cpu")
    DistanceField.from_mesh(BALL, 1.5, interpolation="trilinear", store=tmp_path, device="cpu")
    DistanceField.from_mesh(BALL.scaled(1.01), 1.5, store=tmp_path, device="cpu")
    assert len(list(tmp_path.iterdir())) == 4


def test_a_damaged_file_is_built_again(tmp_path):
    first = DistanceField.from_mesh(BALL, 1.5, store=tmp_path, device="cpu")
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:2000])
    again = DistanceField.from_mesh(BALL, 1.5, store=tmp_path, device="cpu")
    assert again.report.seconds > 0.0
    assert np.array_equal(first.tables.coefficient, again.tables.coefficient)
    assert store.load(file.stem, tmp_path) is not None


@pytest.mark.parametrize("name", ["coefficient", "level0_bricks", "radius"])
def test_a_sound_archive_without_an_array_or_with_a_short_one_is_built_again(tmp_path, name):
    first = DistanceField.from_mesh(BALL, 1.5, store=tmp_path, device="cpu")
    (file,) = tmp_path.iterdir()
    with np.load(file) as kept:
        arrays = dict(kept)
    whole = arrays.pop(name)
    if whole.ndim:
        arrays[name] = whole[: len(whole) // 2]
    np.savez(file, **arrays)
    again = DistanceField.from_mesh(BALL, 1.5, store=tmp_path, device="cpu")
    assert again.report.seconds > 0.0
    assert np.array_equal(first.tables.coefficient, again.tables.coefficient)


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path):
    (tmp_path / "file").write_text("in the way")
    field = DistanceField.from_mesh(BALL, 1.5, store=tmp_path / "file" / "below", device="cpu")
    assert field.query([20.0, 0.0, 0.0])[0] > 0.0


def test_rims_repeat_the_neighbours_cores(ball):
    """A coefficient has the same bits in every brick that holds it."""
    level = ball.tables.levels[0]
    bricks = ball.tables.coefficient.reshape(-1, BRICK, BRICK, BRICK)
    seen: dict[tuple[int, ...], float] = {}
    shared = 0
    for number, place in enumerate(level.bricks[:400]):
        for local in np.ndindex(BRICK, BRICK, BRICK):
            node = tuple(int(i) for i in CORE * place + np.array(local) - 1)
            value = float(bricks[(number, *local)])
            if node in seen:
                shared += 1
                assert seen[node] == value
            seen[node] = value
    assert shared > 10_000


def test_every_brick_has_its_parent(ball):
    levels = ball.tables.levels
    for fine, coarse in itertools.pairwise(levels):
        parents = {tuple(b) for b in (fine.bricks >> 1).tolist()}
        assert parents <= {tuple(b) for b in coarse.bricks.tolist()}


def test_a_wider_band_is_exact_farther_out():
    field = DistanceField.from_mesh(BALL, 1.0, band=8.0, store=False, device="cpu")
    u = BALL.vertices[:50] / 10.0
    assert field.query(17.0 * u)[0] == pytest.approx(7.0, abs=0.05)
    assert field.bounds_to(8.0) == field.bounds
    with pytest.raises(InputError, match="Build it with band=9"):
        field.bounds_to(9.0)


def test_hills_deeper_than_the_band_are_refused(ball):
    with pytest.raises(InputError, match="make the hills on it lower"):
        Rough(ball, FractalNoise(5.0, 10.0))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"spacing": 50.0}, "only 20 m across.*Use at most 10"),
        ({"spacing": 0.0}, "spacing .*positive, finite"),
        ({"spacing": np.nan}, "spacing"),
        ({"spacing": "2 m"}, "spacing"),
        ({"band": 1.0}, "at least 4 spacings"),
        ({"band": -1.0}, "band"),
        ({"interpolation": "cubic"}, 'unknown interpolation "cubic".*smooth, trilinear'),
        ({"interpolation": "smoth"}, 'Did you mean "smooth"'),
        ({"mesh": BALL.vertices}, "built from a Mesh"),
        ({"store": 3}, "store is 3"),
        ({"memory": 1e4}, "spacing of .* or more, or from Python raise memory"),
        ({"progress": "loud"}, "unknown progress"),
    ],
)
def test_what_cannot_be_built(change, says):
    given = {"mesh": BALL, "spacing": 1.0, "store": False, "device": "cpu", **change}
    with pytest.raises(InputError, match=says):
        DistanceField.from_mesh(given.pop("mesh"), given.pop("spacing"), **given)


def test_progress_is_reported(capsys):
    DistanceField.from_mesh(BALL, 2.0, store=False, device="cpu", progress="text")
    said = capsys.readouterr().err
    for stage in ("bricks", "distances", "coefficients"):
        assert f"Distance field: {stage}" in said


def test_a_body_far_from_the_origin():
    """Only differences of positions matter: the field moves with the body."""
    away = np.array([3.0e5, -2.0e5, 1.0e5])
    near = DistanceField.from_mesh(BALL, 2.0, store=False, device="cpu")
    far = DistanceField.from_mesh(BALL.translated(away), 2.0, store=False, device="cpu")
    points = np.random.default_rng(3).normal(size=(2000, 3)) * 15.0
    assert far.query(points + away)[0] == pytest.approx(near.query(points)[0], rel=1e-5, abs=1e-5)


def test_memory_is_counted_before_it_is_taken():
    plan = build.BuildPlan(BALL, 1.0, 4.0, 2, 1e6)
    with pytest.raises(InputError, match="GB to build"):
        build._require_memory(plan, 10_000, 0)
    build._require_memory(plan, 100, 0)
    said = []
    for level in (0, 2):  # two finer levels to come have sixteen times the bricks: a fourth of it
        with pytest.raises(InputError) as wrong:
            build._require_memory(plan, 10_000, level)
        said.append(float(re.search(r"spacing of (\S+) m or more", str(wrong.value)).group(1)))
    assert said[1] == pytest.approx(4.0 * said[0], rel=0.05)
