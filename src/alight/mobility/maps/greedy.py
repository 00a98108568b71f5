"""The greedy rule to compare a plan with: straight at the goal, as a throw on a plane goes."""

from __future__ import annotations

import numpy as np

from alight.core import frames
from alight.core.checks import Array
from alight.mobility.maps.cells import Cells
from alight.mobility.maps.commands import Commands
from alight.mobility.maps.decisions import Plan


def greedy_plan(cells: Cells, commands: Commands, pull: Array, goal: Array, hops: int) -> Plan:
    """(hops, n) in each cell the command whose throw on level ground would land nearest the goal.

    ``pull`` (n, 3) is what a plumb line feels at the centres [m/s^2]: a throw of speed v at the
    elevation e goes v^2 sin(2 e) / g along its azimuth.
    """
    g = np.linalg.norm(pull, axis=1)
    axes = frames.local_frame(-pull)
    local = np.einsum("nij,ni->nj", axes, goal - cells.centres)
    way = np.linalg.norm(goal - cells.centres, axis=1)
    heading = np.arctan2(local[:, 0], local[:, 1])
    v, azimuth, elevation = commands.throws.T
    far = v**2 * np.sin(2.0 * elevation) / g[:, None]
    turn = azimuth - heading[:, None]
    # The third side of the triangle of the throw and the way that is left.
    off = far**2 + way[:, None] ** 2 - 2.0 * far * way[:, None] * np.cos(turn)
    return np.tile(np.argmin(off, axis=1), (hops, 1))
