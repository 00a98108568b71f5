"""``alight.film(what, out)``: a film of a run, of runs of a campaign, or of a scenario."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from alight.staging.gathering import playback
from alight.views.film import encoding
from alight.views.film.making import Film, Settings, make
from alight.views.playback import Playback


def film(
    what: Any,
    out: str | os.PathLike[str],
    *,
    runs: Sequence[int] | None = None,
    scenario: Any = None,
    title: str | None = None,
    camera: str | None = None,
    frame: str = "body",
    size: tuple[int, int] | None = None,
    fps: float = 24.0,
    seconds: float = 10.0,
    slow_motion: float = 0.5,
    start: float | None = None,
    end: float | None = None,
    light: str = "auto",
    grain: float = 0.2,
    device: str = "auto",
    progress: str = "auto",
) -> Film:
    """Write a film: mp4, webm (both with the extra ``film``) or gif, by the ending of ``out``.

    Parameters
    ----------
    what:
        A scenario or its file (one run is made, with nothing dispersed), a solution of
        ``alight.simulate``, a replay, a campaign or its folder, a ``Playback``.
    out:
        The file to write.
    runs:
        Of a campaign: which runs, shown together; its kept trajectories if not given. Those that
        were not kept are computed again.
    scenario, title:
        The scenario of a solution, for its Sun and title; a title to show instead.
    camera, frame, size, fps, seconds, slow_motion, start, end, light, grain:
        See ``alight.views.film.making.Settings``: ``size`` in pixels, ``fps`` [1/s], ``seconds``,
        ``start`` and ``end`` [s].
    device:
        Where runs are computed and rays are traced: "auto", "cpu", "cuda:0".
    progress:
        "auto", "silent", "text" or "rich".
    """
    encoding.checked_out(out)  # before anything is computed
    how = (fps, seconds, slow_motion, start, end, light, grain)
    given = Settings(camera or "", frame, size or (0, 0), *how)
    given.checked(several=False, gif=False)
    chosen: Any = {"scenario": scenario, "runs": runs, "title": title}
    shown = what if isinstance(what, Playback) else playback(what, show=progress, **chosen)
    return make(shown, out, given, device=device, show=progress)
