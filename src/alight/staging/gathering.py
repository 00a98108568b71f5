"""``playback(what)``: runs of any kind, gathered to be shown, filmed or exported."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alight.campaign.reader import Campaign, open_campaign
from alight.core.errors import InputError
from alight.scenario import load
from alight.scenario.document import Document
from alight.shapes.mesh import Mesh
from alight.staging import campaigns
from alight.staging.assembly import caught_playback, landing_playback, release_track
from alight.staging.landings import landers_of
from alight.views.playback import Playback
from alight.views.viewer.page import View

if TYPE_CHECKING:
    from alight.campaign.replay import Replay


def playback(
    what: Any,
    *,
    scenario: Any = None,
    runs: Sequence[int] | None = None,
    title: str | None = None,
    device: str = "cpu",
    show: str = "silent",
    mesh: Mesh | None = None,
) -> Playback:
    """What moves, where and when.

    Parameters
    ----------
    what:
        A solution (as ``alight.simulate`` returns it), a ``Replay``, a campaign or its folder, a
        scenario or its file. Of a scenario one run is made, with nothing dispersed.
    scenario:
        The scenario of a solution, for title and Sun; the ``Study`` of a campaign made in Python.
    runs:
        Of a campaign, the runs that are shown; the kept trajectories if not given. Those that were
        not kept are computed again (``Campaign.replay``).
    title:
        What it is called; the scenario's title if not given.
    device, show:
        Where runs are computed, and how progress is reported, where they are.
    mesh:
        Of a campaign, the body to be shown; that of the scenario if not given.
    """
    if isinstance(what, str | os.PathLike):
        path = Path(what)
        what = open_campaign(path) if path.is_dir() else load(what)
    if isinstance(what, Campaign):
        return campaigns.campaign_playback(what, runs, scenario, title, device, show, mesh)
    if runs is not None:
        raise InputError("runs are chosen of a campaign; this is a single run.")
    if isinstance(what, Document):
        return _of_scenario(what, title, device, show)
    if hasattr(what, "stored_outcome"):
        return _of_replay(what, scenario, title)
    return of_solution(what, scenario, title)


def view(what: Any, **options: Any) -> View:
    """Runs in three dimensions: inline in a notebook; ``view(what).save("page.html")`` elsewhere.

    ``what`` is a ``Playback``, or what ``playback`` takes, with its options.
    """
    return View(what if isinstance(what, Playback) else playback(what, **options))


def still_playback(scenario: Document, title: str | None = None, device: str = "cpu") -> Playback:
    """A scenario at its release: nothing is simulated."""
    from alight.scenario import prepare

    group = prepare(scenario, device).nominal()
    if scenario.KIND != "landing":
        raise InputError("a scenario at its release is shown of landings; run this one instead.")
    track = release_track(group.model, group.release)
    return landing_playback(group.model, [track], scenario, title)


def of_solution(solution: Any, scenario: Any = None, title: str | None = None) -> Playback:
    """Of one run, whatever its motion."""
    model = getattr(solution, "model", None)
    if hasattr(solution, "records"):
        if len(solution) != 1:
            raise InputError(f"these are {len(solution)} runs; take one of them: flight[0].")
        from alight.staging.caught import Caught

        caught = Caught(model)
        return caught_playback(caught, [caught.of_flight(solution, 0, {})], scenario, title)
    if not hasattr(solution, "events") or model is None:
        raise InputError(
            f"{type(solution).__name__} cannot be shown: give a solution of alight.simulate, a "
            "replay, a campaign or its folder, or a scenario."
        )
    track = landers_of(model).of_solution(solution, 0, {})
    return landing_playback(model, [track], scenario, title)


def _of_scenario(scenario: Document, title: str | None, device: str, show: str) -> Playback:
    from alight.scenario.building.prepare import simulate

    return of_solution(simulate(scenario, device=device, progress=show), scenario, title)


def _of_replay(replay: Replay, scenario: Any, title: str | None) -> Playback:
    if replay.solution is None:
        raise InputError(f"run {replay.run} was released inside the ground: it has no history.")
    campaign = replay.campaign
    given = scenario or campaigns.scenario_of(campaign)
    (row,) = replay.row.to_pylist()
    named = title or f"{campaigns.title_of(campaign)}, run {replay.run}"
    model = replay.model
    if hasattr(replay.solution, "records"):
        from alight.staging.caught import Caught

        caught = Caught(model)
        track = caught.of_flight(replay.solution, replay.run, row)
        return caught_playback(caught, [track], given, named, folder=str(campaign.folder))
    track = landers_of(model).of_solution(replay.solution, replay.run, row)
    return landing_playback(model, [track], given, named, folder=str(campaign.folder))
