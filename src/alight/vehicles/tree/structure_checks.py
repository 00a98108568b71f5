"""The structure of a tree: the order of its bodies, and whether every joint moves some mass."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import InputError, did_you_mean
from alight.vehicles.tree.parts import Joint, TreeBody

#: Inertia left along a freedom, as a part of what all that hangs on the joint has as one rigid
#: body: below this, rounding decides how the joint moves.
LEAST = 1e-12

#: Most bodies of a tree: each takes some milliseconds to check, and its share of every step.
MOST_BODIES = 1000

Parts = list[tuple[TreeBody, Joint]]


def require_count(who: str, count: int) -> None:
    """Raise at more bodies, or joints, than a tree may have."""
    if count > MOST_BODIES:
        raise InputError(
            f"{who} has {count} bodies; a tree has at most {MOST_BODIES}. Join those that do not "
            "move against each other into one."
        )


def ordered(who: str, bodies: Sequence[TreeBody], joints: Sequence[Joint]) -> Parts:
    """Bodies with their joints, parents first, otherwise in the order they were given in."""
    named = _named_bodies(who, bodies)
    carrying = _carrying_joints(who, named, joints)
    place = {name: i for i, name in enumerate(named)}
    carried: dict[str | None, list[int]] = defaultdict(list)
    for name in named:
        carried[carrying[name].parent].append(place[name])
    # Of the bodies whose parents are there, the one that was given first is next.
    names, found, ready = list(named), list[str](), sorted(carried[None])
    while ready:
        found.append(names[heapq.heappop(ready)])
        for i in carried[found[-1]]:
            heapq.heappush(ready, i)
    if len(found) < len(named):
        there = set(found)
        raise InputError(_loop(who, carrying, [name for name in named if name not in there]))
    return [(named[name], carrying[name]) for name in found]


def _named_bodies(who: str, bodies: Sequence[TreeBody]) -> dict[str, TreeBody]:
    require_count(who, len(bodies))
    named: dict[str, TreeBody] = {}
    for body in bodies:
        if not isinstance(body, TreeBody):
            raise InputError(f"{body!r} is among the bodies of {who}; each must be a TreeBody.")
        if body.name in named:
            raise InputError(
                f'{who} has two bodies named "{body.name}"; joints find bodies by name. Rename one.'
            )
        named[body.name] = body
    if not named:
        raise InputError(f"{who} has no bodies; it needs one at least.")
    return named


def _carrying_joints(
    who: str, named: dict[str, TreeBody], joints: Sequence[Joint]
) -> dict[str, Joint]:
    """The joint that carries each body."""
    carrying: dict[str, Joint] = {}
    for joint in joints:
        if not isinstance(joint, Joint):
            raise InputError(f"{joint!r} is among the joints of {who}; each must be a Joint.")
        for role, name in (("body", joint.body), ("parent", joint.parent)):
            if name is not None and name not in named:
                raise InputError(
                    f'the {role} of joint "{joint.name}" of {who} is "{name}", which is no body '
                    f"of the tree.{did_you_mean(name, named)} Bodies: {', '.join(named)}."
                )
        if joint.body in carrying:
            raise InputError(
                f'body "{joint.body}" of {who} is carried by two joints, '
                f'"{carrying[joint.body].name}" and "{joint.name}"; in a tree each body has one. '
                "Loops cannot be closed: take one joint out, or put a spring in its place."
            )
        carrying[joint.body] = joint
    times = Counter(joint.name for joint in joints)
    twice = next((name for name, count in times.items() if count > 1), None)
    if twice is not None:
        raise InputError(f'{who} has two joints named "{twice}"; rename one.')
    for name in named:
        if name not in carrying:
            raise InputError(
                f'no joint of {who} carries body "{name}"; each body needs one. For a body that '
                f'moves freely give it a joint of kind "free".'
            )
    return carrying


def _loop(who: str, carrying: dict[str, Joint], waiting: list[str]) -> str:
    """A message that names a loop among bodies whose parents never come."""
    name, path = waiting[0], list[str]()
    seen = set[str]()
    while name not in seen:
        seen.add(name)
        path.append(name)
        name = str(carrying[name].parent)
    ring = " -> ".join([*path[path.index(name) :], name])
    return (
        f"the joints of {who} run in a loop, each body to its parent: {ring}. In a tree every "
        "chain of parents ends at the world: give the joint of one of these bodies another parent, "
        'or none, which is the world (a joint of kind "free" has none).'
    )


# ---------------------------------------------------------------------------------------------
# Inertia along every freedom
# ---------------------------------------------------------------------------------------------


def require_inertia(who: str, parts: Parts) -> None:
    """Raise where a joint moves nothing that resists it, at a configuration like any other.

    The inward pass of the articulated bodies on the host, in body axes, once with all joints
    beyond locked (the composite body) and once with them free.
    """
    rng = np.random.default_rng(2)
    number = {body.name: i for i, (body, _) in enumerate(parts)}
    inertias = [_spatial_inertia(body) for body, _ in parts]
    locked = [inertia.copy() for inertia in inertias]
    for i in range(len(parts) - 1, -1, -1):
        body, joint = parts[i]
        S, turn, shift = _generic_joint(joint, rng)
        if joint.n_v:
            _require_resistance(who, body, joint, S.T @ inertias[i] @ S, S.T @ locked[i] @ S)
            U = inertias[i] @ S
            inertias[i] = inertias[i] - U @ np.linalg.solve(S.T @ U, U.T)
        if joint.parent is not None:
            X = _to_parent(joint, turn, shift)
            below = number[joint.parent]
            inertias[below] += X.T @ inertias[i] @ X
            locked[below] += X.T @ locked[i] @ X


def _require_resistance(who: str, body: TreeBody, joint: Joint, free: Array, locked: Array) -> None:
    size = np.sqrt(np.diagonal(locked))
    if (size > 0.0).all():
        scaled = free / np.outer(size, size)
        if np.linalg.eigvalsh(0.5 * (scaled + scaled.T))[0] > LEAST:
            return
    raise InputError(
        f'nothing resists joint "{joint.name}" of {who}: body "{body.name}" (mass {body.mass:g} '
        "kg) and what it carries leave no inertia along "
        f"{'the way' if joint.n_v == 1 else 'a way'} it moves, and any load would move it "
        "infinitely fast. Give the body mass and inertia [kg, kg m^2], move its centre of mass off "
        "the joint's axis, or make the joint fixed."
    )


def _spatial_inertia(body: TreeBody) -> Array:
    """(6, 6) about the body's origin, turning first."""
    c = frames.skew(np.asarray(body.center))
    top = np.hstack([np.asarray(body.inertia) - body.mass * c @ c, body.mass * c])
    return np.vstack([top, np.hstack([-body.mass * c, body.mass * np.eye(3)])])


def _generic_joint(joint: Joint, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Freedoms (6, n), rotation of the child to the joint's axes and its shift, anywhere."""
    S, turn, shift = np.zeros((6, joint.n_v)), np.eye(3), np.zeros(3)
    axis = np.asarray(joint.axis)
    if joint.kind == "revolute":
        S[:3, 0] = axis
        turn = frames.quat_to_matrix(frames.quat_from_axis_angle(axis, rng.uniform(0.5, 2.5)))
    elif joint.kind == "prismatic":
        S[3:, 0] = axis
        low, high = max(joint.lower, -1.0), min(joint.upper, 1.0)
        shift = axis * rng.uniform(min(low, high), max(low, high))
    elif joint.kind in ("spherical", "free"):
        S[:, :] = np.eye(6)[:, : joint.n_v]
        turn = frames.quat_to_matrix(frames.quat_normalize(rng.normal(size=4)))
    return S, turn, shift


def _to_parent(joint: Joint, turn: Array, shift: Array) -> Array:
    """(6, 6) motion at the child's origin and axes from motion at the parent's."""
    seat = frames.quat_to_matrix(np.asarray(joint.turn))
    r = np.asarray(joint.place) + seat @ shift
    back = (seat @ turn).T
    zero = np.zeros((3, 3))
    return np.vstack([np.hstack([back, zero]), np.hstack([-back @ frames.skew(r), back])])
