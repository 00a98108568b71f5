"""Articulated landers of a campaign, for its report: how far legs go, and what runs look like."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from alight.core.errors import AlightError

if TYPE_CHECKING:
    from alight.campaign.reader import Campaign
    from alight.scenario.building.articulated_landers import Articulated
    from alight.vehicles import Tree
    from alight.vehicles.fittings import Device
    from alight.views.figures.articulated import Pose


def articulated_of(campaign: Campaign) -> Articulated | None:
    """The articulated lander of a campaign; None of rigid ones, and where it is not known."""
    from alight.scenario import from_dict
    from alight.scenario.building.articulated_landers import articulated

    if "study" in campaign.scenario or "stroke" not in _starts(campaign):
        return None
    rest = {k: v for k, v in campaign.scenario.items() if k not in ("made_by", "dispersions")}
    try:
        scenario: Any = from_dict(rest, "the campaign's scenario")
        return articulated(scenario.lander)[0]
    except AlightError:  # a file of it may be gone: there are no pictures then, and no limits
        return None


def _starts(campaign: Campaign) -> set[str]:
    """First words of columns, of a campaign that has runs."""
    names = campaign.schema().names if len(campaign) else []
    return {"stroke" for name in names if name.startswith(("stroke_", "peak_tilt"))}


def limits_of(lander: Articulated, campaign: Campaign) -> dict[str, float]:
    """Longest strokes of legs [m] by their names in columns; none where they vary."""
    from alight.vehicles.fittings import Crushable

    varied = campaign.scenario.get("dispersions", {})
    if any(key.endswith(("stroke", ".limit")) for key in varied):
        return {}
    crushed = [d for d in lander.devices if isinstance(d, Crushable)]
    return {re.sub(r"\W", "_", str(d.name)): float(d.limit) for d in crushed}


def look_of(lander: Articulated) -> Callable[[Mapping[str, float]], Pose]:
    """What the lander looks like in a row of a trajectory."""

    def look(row: Mapping[str, float]) -> Pose:
        center = np.array([row[f"{axis}_m"] for axis in "xyz"])
        return pose_of(lander.tree, lander.devices, configuration(lander, row), center)

    return look


def configuration(lander: Articulated, row: Mapping[str, float]) -> Any:
    """How the tree is turned and its joints stand in a row of a trajectory."""
    turn = [row[f"q{axis}"] for axis in "xyzw"]
    joints = np.array(lander.joints, dtype=np.float64)
    for joint in lander.tree.joints[1:]:
        part = lander.tree.q_slices[joint.name]
        name = re.sub(r"\W", "_", str(joint.name))
        known = [row[c] for c in (f"joint_{name}_m", f"joint_{name}_rad") if c in row]
        if part.stop - part.start == 1 and known:
            joints[part.start - 7] = known[0]
    return np.concatenate([np.zeros(3), turn, joints])


def pose_of(tree: Tree, devices: tuple[Device, ...], q: Any, center: Any = None) -> Pose:
    """Parts of a tree in a configuration [m], its centre of mass at ``center``."""
    from alight.staging.lander_parts import tree_parts
    from alight.vehicles.fittings import Pad
    from alight.views.figures.articulated import Pose

    frames = _frames(tree, q, center)
    placed = []
    for part, owner in zip(*tree_parts(tree, devices), strict=True):
        place, R = frames[owner]
        placed.append(replace(part, vertices=place + part.vertices @ R.T))
    index = {body.name: i for i, body in enumerate(tree.bodies)}
    pads = [frames[index[str(d.body)]] + (d,) for d in devices if isinstance(d, Pad)]
    middles = [place + R @ np.asarray(pad.place) for place, R, pad in pads]
    return Pose(placed, np.reshape(middles, (-1, 3)), frames[0][0])


def _frames(tree: Tree, q: Any, center: Any) -> list[tuple[Any, Any]]:
    """Place and axes of every body in a configuration; as ``q`` has them where there is no centre
    of mass to put the whole to."""
    from alight.core.frames import quat_to_matrix

    found = tree.kinematics(np.asarray(q), np.zeros(tree.n_v), device="cpu")
    mass = np.array([float(body.mass) for body in tree.bodies])
    shift = 0.0 if center is None else center - mass @ found[4] / mass.sum()
    return [(p + shift, quat_to_matrix(t)) for p, t in zip(found[0], found[1], strict=True)]
