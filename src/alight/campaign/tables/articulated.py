"""Columns that only campaigns of articulated landers have: loads of runs, courses of joints."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from alight.campaign.tables.landing import Column
from alight.core.checks import Array
from alight.engine import BatchResult
from alight.motions import TreeModel, TreePeaks, TreeResult, TreeSolution

#: A column and its values, one for each run or line.
Filled = tuple[Column, Array]


def load_columns(result: BatchResult) -> list[Filled]:
    """The loads of each run; none for rigid landers, which have no joints."""
    return peak_columns(result.model, result.peaks) if isinstance(result, TreeResult) else []


def peak_columns(model: TreeModel, peaks: TreePeaks) -> list[Filled]:
    """The largest of everything in each run, by the names of bodies and devices."""
    parts = model.fitted
    out = [
        (Column("peak_acceleration", "m/s^2", "of the first body, inertial"), peaks.acceleration),
        (Column("peak_tilt", "deg", "from the local vertical"), np.degrees(peaks.tilt)),
        (Column("peak_speed", "m/s", "of the centre of mass"), peaks.speed),
        (Column("peak_rate", "rad/s", "of the first body"), peaks.rate),
    ]
    pads, crushed = [p.name for p in parts.pads], [c.name for c in parts.crushables]
    bellies = [b.name for b in parts.bellies]
    out += _each("peak_pad_force", pads, "N", "largest normal force", peaks.pad_force)
    out += _each("peak_belly_force", bellies, "N", "on all its points together", peaks.belly_force)
    out += _each("stroke", crushed, "m", "crushed for good by the end", peaks.stroke)
    held = [i for i, joint in enumerate(model.tree.joints) if joint.kind != "free"]
    names = [model.tree.bodies[i].name for i in held]
    force, moment = peaks.joint_force[:, held], peaks.joint_moment[:, held]
    out += _each("peak_joint_force", names, "N", "through the joint of that body", force)
    out += _each("peak_joint_moment", names, "N m", "about the body's origin", moment)
    sloshes = [s.name for s in parts.sloshes]
    swing = np.degrees(peaks.slosh)
    return out + _each("peak_slosh", sloshes, "deg", "largest swing", swing)


def course_columns(solution: TreeSolution) -> list[Filled]:
    """Joints, strokes, forces and swings of one run, a row for each of its lines."""
    model = solution.model
    parts, tree = model.fitted, model.tree
    acceleration = np.linalg.norm(solution.acceleration, axis=1)
    out = [(Column("acceleration", "m/s^2", "of the first body, inertial"), acceleration)]
    pads, crushed = [p.name for p in parts.pads], [c.name for c in parts.crushables]
    out += _each("pad_force", pads, "N", "normal force", solution.pad_normal_force)
    bellies = [b.name for b in parts.bellies]
    out += _each("belly_force", bellies, "N", "normal force", solution.belly_normal_force)
    out += _each("stroke", crushed, "m", "crushed for good", solution.crushed)
    out += _each("crush_force", crushed, "N", "against compression", solution.crush_force)
    sloshes = [s.name for s in parts.sloshes]
    out += _each("slosh", sloshes, "deg", "swing", np.degrees(solution.slosh))
    for joint, name in zip(tree.joints, _spelt([b.name for b in tree.bodies]), strict=True):
        if joint.kind == "free":
            continue
        unit = {"revolute": "rad", "prismatic": "m"}.get(joint.kind, "")
        rate = "m/s" if joint.kind == "prismatic" else "rad/s"
        q, v = solution.q[:, tree.q_slices[joint.body]], solution.v[:, tree.v_slices[joint.body]]
        out += _components(f"joint_{name}", unit, "angle, stroke or quaternion", q)
        out += _components(f"joint_rate_{name}", rate, "its rate", v)
    return out


def _components(name: str, unit: str, text: str, rows: Array) -> list[Filled]:
    """A column for a joint of one number; of several, one for each axis."""
    if rows.shape[1] == 1:
        return [(Column(name, unit, text), rows[:, 0])]
    return [
        (Column(f"{name}_{axis}", unit, text), row)
        for axis, row in zip("xyzw", rows.T, strict=False)
    ]


def _each(name: str, parts: Sequence[str], unit: str, text: str, rows: Array) -> list[Filled]:
    """A column for each of ``parts``, by its name."""
    return [
        (Column(f"{name}_{part}", unit, text), rows[:, i]) for i, part in enumerate(_spelt(parts))
    ]


def _spelt(names: Sequence[str]) -> list[str]:
    """Names in letters, digits and underscores, each different."""
    out: list[str] = []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "part"
        more = 2
        while plain in out:
            plain, more = f"{plain.rstrip('0123456789').rstrip('_')}_{more}", more + 1
        out.append(plain)
    return out
