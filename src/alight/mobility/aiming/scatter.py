"""A campaign of one push-off: where it first touches, against the ellipse, and where it rests.

The hop becomes a scenario of its own (``push_off.thrown``), with errors of the push-off beside what
the scenario itself holds uncertain, and runs as any campaign does.
"""

from __future__ import annotations

import os
import pathlib
import tempfile
from dataclasses import dataclass

import numpy as np

from alight.analysis.intervals import Estimate, wilson
from alight.campaign import open_campaign, run_campaign
from alight.campaign.reader import Campaign
from alight.core.checks import Array, checked_number, checked_whole
from alight.mobility.aiming.aimer import Aimer
from alight.mobility.aiming.ellipse import Ellipse
from alight.mobility.aiming.hop import Aim, Hop
from alight.mobility.aiming.push_off import thrown


@dataclass(frozen=True)
class ThrowErrors:
    """Standard deviations of a push-off."""

    speed: float = 0.01
    """As a share of the speed."""
    angle: float = np.radians(1.0)
    """Of elevation, and of the heading across it [rad]."""

    def __post_init__(self) -> None:
        checked_number("the error of the speed", self.speed, above=False)
        checked_number("the error of angles [rad]", self.angle, above=False)

    def sigma(self, hop: Hop) -> Array:
        """(3,) of speed [m/s], azimuth and elevation [rad] of a hop.

        An error across the heading turns the azimuth by so much over the cosine of the elevation.
        """
        level = max(np.cos(hop.elevation), 1e-3)
        return np.array([self.speed * hop.speed, self.angle / level, self.angle])


@dataclass(frozen=True, eq=False)
class Scatter:
    """What became of the runs of one hop."""

    ellipse: Ellipse
    """The linear one."""
    impacts: Array
    """(n, 3) places of first contact [m]."""
    rests: Array
    """(m, 3) where runs came to rest [m]."""
    outcomes: dict[str, int]
    """How many runs ended in each way."""
    runs: int

    @property
    def within(self) -> tuple[Estimate, Estimate]:
        """Shares of first impacts within one and two standard deviations of the ellipse."""
        off = self.ellipse.deviations(self.impacts)
        first, second = (wilson(int((off <= k).sum()), len(off)) for k in (1.0, 2.0))
        return first, second

    @property
    def rest_distance(self) -> Array:
        """(m,) from the target to where runs rest [m], straight."""
        return np.asarray(np.linalg.norm(self.rests - self.ellipse.centre, axis=1))


def scatter(
    aimer: Aimer,
    aim: Aim,
    hop: Hop,
    errors: ThrowErrors | None = None,
    *,
    runs: int = 200,
    out: str | os.PathLike[str] | None = None,
    device: str = "auto",
    show: str = "silent",
) -> Scatter:
    """Fly a hop ``runs`` times with errors of the push-off; into ``out`` if it is given."""
    sigma = (errors or ThrowErrors()).sigma(hop)
    given = (float(sigma[0]), float(sigma[1]), float(sigma[2]))
    checked_whole("runs", runs, 1)
    one = thrown(aimer.scenario, aim.place, hop.throw, given, runs)
    with tempfile.TemporaryDirectory(prefix="alight-") as spare:
        folder = pathlib.Path(spare) / "hop" if out is None else out
        found = run_campaign(one, out=folder, device=device, show=show)
        return _read(open_campaign(found.folder), hop.ellipse(sigma))


def _read(campaign: Campaign, ellipse: Ellipse) -> Scatter:
    impacts, rests = (
        _places(campaign, [f"{name}_{axis}_m" for axis in "xyz"])
        for name in ("first_contact", "rest")
    )
    ended = {ending.name.lower(): count for ending, count in campaign.count().items()}
    return Scatter(ellipse, impacts, rests, ended, len(campaign))


def _places(campaign: Campaign, columns: list[str]) -> Array:
    """(n, 3) places of the runs that have them [m]."""
    table = campaign.read("runs", columns)
    found = np.stack([table[name].to_numpy().astype(np.float64) for name in columns], -1)
    return np.asarray(found[np.isfinite(found).all(axis=1)])
