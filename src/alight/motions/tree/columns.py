"""What is reported of articulated landers: their loads, and the trajectories of their joints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from alight.core.checks import Array
from alight.core.outcomes import Outcome
from alight.engine.columns import Column, Columns, Source, degrees, each, spelt_parts
from alight.motions.rigid.columns import CONTACTS, HOPS, MOVING, TREE_RUNS

if TYPE_CHECKING:
    from alight.motions.tree.model import TreeModel


def tree_columns(model: TreeModel) -> Columns:
    """Those of a model, by the names of its bodies and devices."""
    course = (*MOVING, *_course(model))
    runs = (*TREE_RUNS, *load_columns(model))
    if model.tour is None:
        return Columns(runs, CONTACTS, course)
    runs = (*runs, END_TILT)
    if model.tour.upright is not None:
        runs = (*runs, upright_column(model.tour.upright))
    return Columns(runs, CONTACTS, course, HOPS)


#: Of landers with manoeuvres.
END_TILT = Column(
    "end_tilt", "deg", "of its up from the local vertical at the end", degrees("tilt")
)


def upright_column(within: float) -> Column:
    """Whether a lander that rights itself rests upright."""

    def values(source: Source) -> Any:
        rests = source.found.outcome == Outcome.SETTLED
        return (rests & (source.found.tilt <= within)).astype(np.int32)

    said = f"1 where it rests with its up within {np.degrees(within):.4g} deg of the vertical"
    return Column("upright", "", said, values, "int32")


#: The largest loads of a lander as a whole, whatever its parts.
WHOLE_LOADS = (
    Column("peak_acceleration", "m/s^2", "of the first body, inertial", "peaks.acceleration"),
    Column("peak_tilt", "deg", "from the local vertical", degrees("peaks.tilt")),
    Column("peak_speed", "m/s", "of the centre of mass", "peaks.speed"),
    Column("peak_rate", "rad/s", "of the first body", "peaks.rate"),
)


def load_columns(model: TreeModel) -> tuple[Column, ...]:
    """The largest of everything in each run."""
    parts = model.fitted
    pads, crushed = [p.name for p in parts.pads], [c.name for c in parts.crushables]
    bellies = [b.name for b in parts.bellies]
    return (
        *WHOLE_LOADS,
        *each("peak_pad_force", pads, "N", "largest normal force", "peaks.pad_force"),
        *each("peak_belly_force", bellies, "N", "on all its points together", "peaks.belly_force"),
        *each("stroke", crushed, "m", "crushed for good by the end", "peaks.stroke"),
        *_held(
            "peak_joint_force", "N", "through the joint of that body", "peaks.joint_force", model
        ),
        *_held("peak_joint_moment", "N m", "about the body's origin", "peaks.joint_moment", model),
        *each("peak_slosh", [s.name for s in parts.sloshes], "deg", "largest swing", "peaks.slosh"),
    )


def _held(name: str, unit: str, text: str, of: str, model: TreeModel) -> Iterator[Column]:
    """A column for each body that is not free."""
    held = [i for i, joint in enumerate(model.tree.joints) if joint.kind != "free"]
    names = spelt_parts([model.tree.bodies[i].name for i in held])
    for i, part in zip(held, names, strict=True):
        yield Column(f"{name}_{part}", unit, text, f"{of}[{i}]")


def _acceleration(source: Source) -> Array:
    return np.asarray(np.linalg.norm(source.found.acceleration, axis=1))


def _course(model: TreeModel) -> Iterator[Column]:
    """Joints, strokes, forces and swings."""
    parts, tree = model.fitted, model.tree
    pads, crushed = [p.name for p in parts.pads], [c.name for c in parts.crushables]
    yield Column("acceleration", "m/s^2", "of the first body, inertial", _acceleration)
    yield from each("pad_force", pads, "N", "normal force", "pad_normal_force")
    bellies = [b.name for b in parts.bellies]
    yield from each("belly_force", bellies, "N", "normal force", "belly_normal_force")
    yield from each("stroke", crushed, "m", "crushed for good", "crushed")
    yield from each("crush_force", crushed, "N", "against compression", "crush_force")
    yield from each("slosh", [s.name for s in parts.sloshes], "deg", "swing", "slosh")
    for joint, name in zip(tree.joints, spelt_parts([b.name for b in tree.bodies]), strict=True):
        if joint.kind == "free":
            continue
        unit = {"revolute": "rad", "prismatic": "m"}.get(joint.kind, "")
        rate = "m/s" if joint.kind == "prismatic" else "rad/s"
        q, v = tree.q_slices[joint.body], tree.v_slices[joint.body]
        yield from _components(f"joint_{name}", unit, "angle, stroke or quaternion", "q", q)
        yield from _components(f"joint_rate_{name}", rate, "its rate", "v", v)


def _components(name: str, unit: str, text: str, of: str, which: Any) -> Iterator[Column]:
    """A column for a joint of one number; of several, one for each axis."""
    several = which.stop - which.start > 1
    for i, axis in zip(range(which.start, which.stop), "xyzw", strict=False):
        yield Column(f"{name}_{axis}" if several else name, unit, text, f"{of}[{i}]")
