"""Playbacks of every motion: parts stand where solutions have them, fabrics hang where hulls do."""

import pathlib
import sys

import numpy as np
import pytest
from tests.conftest import CUBE
from tests.unit.campaign.jobs.membrane_cases import CAPTURE, DROP

import alight
from alight.core import frames
from alight.core.errors import InputError
from alight.scenario import loads, toml_text
from alight.staging.caught import CLEAR, RINGS
from alight.staging.tracks import TURN

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "scenario"))  # tests are no package

from tree_case import TEXT as TREE

TEXTS = {"rigid": toml_text.dumps(CUBE), "tree": TREE, "capture": CAPTURE, "drop": DROP}


@pytest.fixture(scope="module")
def solved():
    """``solved(name)``: a small run of a motion, and its playback."""
    known = {}

    def solve(name):
        if name not in known:
            solution = alight.simulate(loads(TEXTS[name]))
            known[name] = solution, alight.playback(solution)
        return known[name]

    return solve


LATER = [pytest.param(name, marks=pytest.mark.validate) for name in ("capture", "drop")]


@pytest.mark.parametrize(
    "name", [*(name for name in TEXTS if name not in ("capture", "drop")), *LATER]
)
def test_tracks_have_parts_of_their_own(solved, name):
    solution, shown = solved(name)
    (track,) = shown.tracks
    assert track.position.shape[1] == len(shown.parts)
    assert len(track.contacts) == len(solution.events)
    assert np.linalg.norm(track.attitude, axis=2) == pytest.approx(1.0, abs=1e-12)
    assert (np.diff(track.time) >= 0.0).all()
    for part in shown.parts:
        corner = part.vertices[part.faces]
        volume = np.linalg.det(corner).sum() / 6.0
        assert part.faces.max() < len(part.vertices)
        if part.role in ("lander", "leg", "pad", "asteroid"):
            assert volume > 0.0, part.name  # faces look outward


def test_a_rigid_lander_is_where_its_solution_has_it(solved):
    solution, shown = solved("rigid")
    (track,) = shown.tracks
    inside = np.linspace(solution.time[0], solution.time[-1], 301)[1:-1]
    # Not within rounding of a line: at jumps either side may be meant.
    inside = inside[np.abs(inside[:, None] - solution.time).min(axis=1) > 1e-6]
    place, turn, _ = track.at(inside)
    asked, attitude = solution.sample(inside)
    size = np.abs(solution.position).max()
    assert np.abs(place[:, 0] - asked).max() < 1e-12 * size
    # Even turns between lines at most TURN apart: free ones bend by less than its square / 8.
    away = 2.0 * np.arccos(np.clip(np.abs((turn[:, 0] * attitude).sum(axis=1)), 0.0, 1.0))
    assert away.max() < TURN**2 / 8.0


def test_hits_cut_tracks_into_segments(solved):
    _, shown = solved("rigid")
    (track,) = shown.tracks
    assert len(track.segments) == len(track.jumps) + 1
    joined = np.concatenate([np.arange(one.start, one.stop) for one in track.segments])
    assert np.array_equal(joined, np.arange(len(track.time)))
    for one, after in zip(track.segments, track.segments[1:], strict=False):
        assert track.time[one.stop - 1] == track.time[after.start]
        assert np.array_equal(track.position[one.stop - 1], track.position[after.start])


def test_parts_of_a_tree_are_its_bodies(solved):
    solution, shown = solved("tree")
    (track,) = shown.tracks
    names = [body.name for body in solution.model.tree.bodies]
    for k, part in enumerate(shown.parts):
        if part.role in ("lander", "leg"):
            own = names.index(part.name)
            assert np.array_equal(track.position[:, k], solution.bodies.position[:, own])
            assert np.array_equal(track.attitude[:, k], solution.bodies.attitude[:, own])


@pytest.mark.validate  # a kernel of its own
@pytest.mark.parametrize("name", ["capture", "drop"])
def test_a_fabric_is_the_lower_side_of_its_hull(solved, name):
    """On the grid no point lies below a facet's plane, and where a body presses some lie on one."""
    solution, shown = solved(name)
    (track,) = shown.tracks
    model = solution.model
    ring = model.membrane.ring
    assert shown.parts[1].role in ("bus", "ring")
    deepest = int(np.argmax(np.maximum(0.0, -solution.loads["lowest"][0, : len(track.time)])))
    place, turn = track.position[deepest], track.attitude[deepest]
    local = frames.quat_rotate_inv(turn[1], track.surface[deepest] - place[1])
    in_ring = (local - ring.origin) @ ring.R
    assert in_ring[:, 2].max() < 1e-9 * ring.reach
    depth = -in_ring[:, 2].min()
    told = -float(solution.loads["lowest"][0, deepest])
    # The lowest vertex hangs between points of the grid: but for how far it is drawn clear of the
    # body none is deeper, and the nearest is no farther than a cell, on a fabric as steep as the
    # vertex is deep over its way to the rim.
    assert depth <= told * (1.0 + 1e-9) + CLEAR * float(ring.reach)
    assert depth > told * (1.0 - 4.0 / RINGS)


def test_flat_ground_is_shown_about_where_runs_end(solved):
    _, shown = solved("rigid")
    middle, reach = shown.focus
    assert shown.lander_size > 0.0
    if shown.target is None:
        assert shown.terrain is not None
        assert np.abs(shown.terrain.vertices - middle).max() >= reach


def test_a_scenario_is_shown_at_its_release():
    from alight.staging.gathering import still_playback

    given = loads(TEXTS["rigid"])
    shown = still_playback(given)
    (track,) = shown.tracks
    assert track.time.tolist() == [0.0]
    with pytest.raises(InputError, match="of landings"):
        still_playback(loads(TEXTS["drop"]))


def test_what_cannot_be_shown():
    with pytest.raises(InputError, match="cannot be shown"):
        alight.playback(3.0)
    with pytest.raises(InputError, match="single run"):
        alight.playback(loads(TEXTS["rigid"]), runs=[1])
