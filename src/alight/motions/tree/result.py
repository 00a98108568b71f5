"""How landings of articulated landers ended: last states, and the largest of everything."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from alight.core.checks import Array
from alight.engine.motion import Start
from alight.engine.result import BatchResult
from alight.motions.rigid.state import final_states
from alight.motions.tree.state import PEAKS, Sizes
from alight.vehicles.tree.tree import Tree

if TYPE_CHECKING:
    from alight.motions.tree.model import TreeModel

#: A time that does not come [s], as in kernels.
NEVER = 1e30


class TreePeaks(NamedTuple):
    """The largest of everything in each run; columns in the order of the tree and its devices."""

    acceleration: Array
    """(n,) of the first body's centre of mass, inertial [m/s^2]."""
    tilt: Array
    """(n,) between the lander's up and the local vertical [rad]."""
    speed: Array
    """(n,) of the centre of mass, relative to the target [m/s]."""
    rate: Array
    """(n,) of the first body, relative to the target [rad/s]."""
    joint_force: Array
    """(n, bodies) through the joint of each body [N]."""
    joint_moment: Array
    """(n, bodies) about the body's origin [N m]."""
    pad_force: Array
    """(n, pads) normal force [N]."""
    slosh: Array
    """(n, sloshes) angle of swing [rad]."""
    stroke: Array
    """(n, crushables) crushed for good by the end [m]."""
    belly_force: Array
    """(n, bellies) normal force on all points of each belly together [N]."""


@dataclass(frozen=True, eq=False)
class TreeResult(BatchResult):
    """How the runs of articulated landers ended; row i is run i.

    ``final`` has the fields of rigid landers, so that tables of campaigns take it: ``x`` and ``v``
    are of the centre of mass, ``q`` and ``w`` of the first body; ``energy``, ``gain`` and ``drift``
    are of E_J less the work of thrusters, motors and brakes, of pushes from outside and of a target
    that turns unevenly.
    """

    model: TreeModel
    q: Array
    """(n, n_q) last configurations."""
    v: Array
    """(n, n_v) last velocities."""
    peaks: TreePeaks
    tilt: Array
    """(n,) between the lander's up and the local vertical at the end [rad]."""
    manoeuvres: Any = None
    """(n, manoeuvres) records (``rigid.drive.manoeuvres.HOP_FIELDS``); None without."""


def final_tree_states(runs: Start, tree: Tree, threads: int | None) -> Any:
    """Last states with the fields that rigid landers have."""
    final = final_states(len(runs.runs))
    for source in (runs.runs, runs.notes):
        for name in set(source.dtype.names) & set(final.dtype.names):
            if name != "touch":
                final[name] = source[name]
    touched = runs.runs["touched"] < NEVER
    final["first_time"] = np.where(touched, runs.runs["touched"], 0.0)
    y = runs.rows["y"]
    q, v = y[:, : tree.n_q], y[:, tree.n_q : tree.n_q + tree.n_v]
    poses = tree.kinematics(q, v, device="cpu", threads=threads)
    final["q"], final["w"] = poses.attitude[:, 0], poses.rate[:, 0]
    return final


def named_peaks(runs: Start, sizes: Sizes, pads: int) -> TreePeaks:
    """The rows of peaks by their names, ``pads`` of all that touches being pads."""
    rows, b = runs.rows["peaks"], sizes.bodies
    edges = np.cumsum([int(PEAKS), b, b, pads, sizes.pads - pads, sizes.sloshes, sizes.bellies])
    parts = [rows[:, i:j].copy() for i, j in itertools.pairwise(edges)]
    force, moment, pad, _, slosh, belly = parts
    stroke = runs.rows["y"][:, sizes.crushed].copy()
    heads = [row.copy() for row in rows[:, : int(PEAKS)].T]
    return TreePeaks._make([*heads, force, moment, pad, slosh, stroke, belly])
