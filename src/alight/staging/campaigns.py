"""Campaigns as playbacks: kept trajectories, replays of others, and all rest sites."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from alight.analysis import columns
from alight.campaign.reader import Campaign
from alight.core.errors import AlightError, InputError
from alight.scenario.ephemeris import rotation_of
from alight.shapes.mesh import Mesh
from alight.staging.assembly import caught_playback, landing_playback, masses_of
from alight.staging.colours import colours_of
from alight.staging.ground import body_mesh, body_table
from alight.staging.landings import Setting, landers_of
from alight.staging.sky import attitude_of, sun_of
from alight.views.playback import Playback, Sites, Track

#: Kept trajectories that are shown if no runs are named.
COURSES = 100
#: Rest sites that are shown: runs are drawn at random, and the first are as good as any.
SITES = 4_000
#: Columns that say nothing as a colour.
PLAIN = ("run", "outcome_code", "outcome")


def title_of(campaign: Campaign) -> str:
    """What a campaign is called."""
    return str(campaign.scenario.get("title") or f"{campaign.kind.noun} in {campaign.folder.name}")


def scenario_of(campaign: Campaign) -> Any:
    """Its scenario, with nothing dispersed; None of a study made in Python, or if it cannot be
    read here."""
    from alight.scenario import from_dict

    if "study" in campaign.scenario:
        return None
    left = ("made_by", "dispersions")
    rest = {key: value for key, value in campaign.scenario.items() if key not in left}
    try:
        return from_dict(rest, "the campaign's scenario", campaign.folder)
    except AlightError:
        return None


def campaign_playback(
    campaign: Campaign,
    runs: Sequence[int] | None,
    scenario: Any,
    title: str | None,
    device: str,
    show: str,
    mesh: Mesh | None = None,
) -> Playback:
    """Runs of a campaign; see ``playback``."""
    from alight.campaign.replay import checked_run_number

    if not len(campaign):
        raise InputError(f"{campaign.folder} has no finished shard yet: there is nothing to show.")
    chosen = [checked_run_number(campaign, run) for run in runs or ()]
    chosen = chosen or campaign.trajectories[:COURSES]
    given = scenario if scenario is not None else scenario_of(campaign)
    named: dict[str, Any] = {"folder": str(campaign.folder), "sites": sites_of(campaign)}
    named["target"] = mesh
    if campaign.kind.word != "landing":
        return _caught(campaign, chosen, given, title or title_of(campaign), device, show)
    return _landings(campaign, chosen, given, title or title_of(campaign), device, show, named)


def _landings(
    campaign: Campaign, runs: list[int], given: Any, title: str, device: str, show: str, named: Any
) -> Playback:
    known = set(campaign.trajectories)
    replays = [campaign.replay(run, _study(given), show=show) for run in runs if run not in known]
    model = replays[0].model if replays else _model(given, device, show) if runs else None
    if model is None:
        return _without_tracks(campaign, title, given, named)
    lander = landers_of(model)
    tracks = [_kept(campaign, lander, run) for run in runs if run in known]
    for one in (r for r in replays if r.solution is not None):
        tracks.append(lander.of_solution(one.solution, one.run, row_of(campaign, one.run)[0]))
    tracks.sort(key=lambda track: track.run)
    return landing_playback(model, tracks, None if _is_study(given) else given, title, **named)


def _without_tracks(campaign: Campaign, title: str, given: Any, named: Any) -> Playback:
    """Rest sites alone: ground and lander, which take long to build, are not looked at."""
    mesh, note = named.pop("target"), ""
    if mesh is None:
        mesh, note = body_mesh(body_table(campaign))
    told = [note] if note else []
    made_here = "study" in campaign.scenario and given is None and bool(campaign.trajectories)
    if made_here:
        told.append("paths are not shown: the study was made in Python.")
    elif not campaign.trajectories:
        told.append("no trajectory was kept: rest sites alone are shown.")
    rotation = None if given is None or _is_study(given) else rotation_of(given.body.rotation)
    sun, why = sun_of(None if rotation is None else given, rotation)
    told += [why] if why else []
    about: dict[str, Any] = {"target": mesh, "sun": sun, "attitude": attitude_of(rotation)}
    if rotation is not None:
        about["colours"] = colours_of(mesh, *masses_of(given), rotation, sun)
    return Playback(title, (), (), notes=tuple(told), **about, **named)


def _kept(campaign: Campaign, lander: Any, run: int) -> Track:
    """The track of a kept trajectory."""
    table, met = campaign.trajectory(run), contacts_of(campaign, run)
    track: Track = lander.of_table(table, met, run, *row_of(campaign, run))
    return track


def _is_study(given: Any) -> bool:
    from alight.campaign.study.study import Study

    return isinstance(given, Study)


def _study(given: Any) -> Any:
    """What a replay is given: a study; of scenarios the folder has its own."""
    return given if _is_study(given) else None


def _model(given: Any, device: str, show: str) -> Any:
    """The model of a study, or what is seen of the one of a scenario, nothing dispersed."""
    if given is None or _is_study(given):
        return None if given is None else given.model
    return Setting.of(given, device, show)


def _caught(
    campaign: Campaign, runs: list[int], given: Any, title: str, device: str, show: str
) -> Playback:
    """Captures or drops; each run may have a body of its own."""
    from alight.campaign.dispersions.sampling import sample
    from alight.scenario import from_dict, prepare
    from alight.staging.caught import Caught

    if "study" in campaign.scenario and not _is_study(given):
        raise InputError("the study was made in Python: give it, playback(folder, scenario=study).")
    if not runs:
        raise InputError(
            f"{campaign.folder} has no kept trajectories: name runs, which are computed again "
            "(--run 17; in Python playback(folder, runs=[17]))."
        )
    known = set(campaign.trajectories)
    tracks: list[Track] = []
    first: Caught | None = None
    prepared: Any = None
    for run in runs:
        row, outcome = row_of(campaign, run)
        if run in known and not _is_study(given):
            if prepared is None:
                left = {k: v for k, v in campaign.scenario.items() if k != "made_by"}
                whole = from_dict(left, "the campaign's scenario", campaign.folder)
                prepared = prepare(whole, device, show)
            values = sample(whole, np.array([run]), total=campaign.plan.total)
            caught = Caught(prepared.groups(values)[0].model)
            table = campaign.trajectory(run)
            track = caught.of_table(table, contacts_of(campaign, run), run, row, outcome)
        else:
            again = campaign.replay(run, _study(given), show=show)
            caught = Caught(again.model)
            track = caught.of_flight(again.solution, run, row)
        first = first or caught
        tracks.append(dataclasses.replace(track, parts=caught.parts))
    assert first is not None
    shown = None if _is_study(given) else given
    return caught_playback(first, tracks, shown, title, folder=str(campaign.folder))


# -- tables -----------------------------------------------------------------------------------


def row_of(campaign: Campaign, run: int) -> tuple[dict[str, Any], str]:
    """The stored row of a run, and how it ended in a word."""
    shard = run // campaign.plan.shard
    table = _read(campaign.files()[sorted(campaign.seals).index(shard)])
    (row,) = table.slice(run - shard * campaign.plan.shard, 1).to_pylist()
    code = row["outcome_code"] if "outcome_code" in row else row["outcome"]
    return row, campaign.kind.ending(int(code)).name.lower()


def contacts_of(campaign: Campaign, run: int) -> Any:
    """The stored contacts of a run."""
    shard = run // campaign.plan.shard
    file = campaign.files("contacts")[sorted(campaign.seals).index(shard)]
    table = _read(file)
    own = np.flatnonzero(columns.column(table, "run") == run)
    if not len(own) or own[-1] - own[0] == len(own) - 1:
        return table.slice(own[0] if len(own) else 0, len(own))
    return table.take(own)


def _read(file: Any) -> Any:
    """A stored table, without ``read_table`` and filters: they load pandas first, which takes
    longer than a shard takes to read."""
    with pq.ParquetFile(file) as opened:
        return opened.read()


def sites_of(campaign: Campaign, most: int = SITES) -> Sites | None:
    """Where the first ``most`` runs ended; None of captures and drops, which end nowhere."""
    schema = campaign.schema()
    if "end_x_m" not in schema.names:
        return None
    parts: list[Any] = []
    for part in campaign.shards():
        parts.append(part)
        if sum(one.num_rows for one in parts) >= most:
            break
    table = pa.concat_tables(parts).slice(0, most)
    places = [columns.points(_columns(table, p), p) for p in ("rest_", "end_")]
    place = np.where(np.isfinite(places[0]), places[0], places[1])
    kind, codes = campaign.kind, columns.column(table, "outcome_code").astype(np.int64)
    words = {int(code): kind.ending(int(code)).name.lower() for code in np.unique(codes)}
    units = {f.name: (f.metadata or {}).get(b"unit", b"").decode() for f in schema}
    numbers = [f.name for f in schema if f.name not in PLAIN and _is_number(f)]
    found = {name: columns.column(table, name) for name in numbers}
    run = columns.column(table, "run").astype(np.int64)
    ended = [words[int(code)] for code in codes]
    return Sites(run, place, ended, found, units, total=len(campaign))


def _is_number(field: Any) -> bool:
    return bool(pa.types.is_floating(field.type) or pa.types.is_integer(field.type))


def _columns(table: Any, prefix: str) -> dict[str, Any]:
    return {name: columns.column(table, name) for name in columns.point_names(prefix)}
