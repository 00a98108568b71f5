"""What landers look like: parts in their own axes, and the body that carries each.

Of an articulated lander joints, devices and masses are known, but no looks. What touches the
ground is drawn as it touches it: bellies as the hulls of their points, pads as balls, or as a flat
foot where they are points. A body without a belly is a box of its inertia, or a disc if it turns
like a wheel, no larger than what is known of it leaves room for. Struts lead to the joints that it
carries, rods from joints to pads and to centres of mass, and thrusters have nozzles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from alight.actuators import Thruster
from alight.core import frames
from alight.core.checks import Array
from alight.shapes.solids import Solid, ball, box, cone, convex, disc, rod, together
from alight.vehicles.fittings import Belly, Crushable, Pad
from alight.views.playback import Part

#: Over the reach of a lander: radius of a rod, of a foot, and of a point of mass; height of a foot.
ROD, FOOT, BOB, FLAT = 0.026, 0.075, 0.03, 0.02
#: The sleeve that a leg slides in, over the leg's length and over a rod's radius.
SLEEVE, WIDER = 0.45, 1.7
#: A box that leaves room for less than this part of its lander's reach is not drawn: then the hull
#: of what is known stands for the body.
SMALL = 0.12
#: Products of inertia below this part of the moments do not turn a box.
SKEW = 0.1


def rigid_parts(lander: Any) -> tuple[Part, ...]:
    """The hull of a rigid lander."""
    return (Part.of_mesh(str(lander.name), "lander", lander.hull),)


def tree_parts(tree: Any, devices: Any) -> tuple[list[Part], list[int]]:
    """Parts of an articulated lander, and the body of each."""
    reach = _reach(tree, devices)
    parts: list[Part] = []
    owners: list[int] = []
    for i, body in enumerate(tree.bodies):
        look = _Look(tree, devices, i, reach)
        for role, solids in look.solids().items():
            if solids:
                parts.append(Part(body.name, role, *together(solids)))
                owners.append(i)
        for pad in look.own(Pad):
            parts.append(Part(str(pad.name), "pad", *look.foot(pad)))
            owners.append(i)
    return parts, owners


def points_on(tree: Any, devices: Any, body: int) -> Array:
    """Known points of a body, in its axes: joints of others, devices, what touches."""
    name = tree.bodies[body].name
    points = [np.asarray(j.place) for j in tree.joints if j.parent == name]
    for device in devices:
        if getattr(device, "body", None) != name:
            continue
        if isinstance(device, Belly):
            points += list(np.asarray(device.points))
        elif getattr(device, "place", None) is not None:
            points.append(np.asarray(device.place))
    return np.reshape(points, (-1, 3))


def _reach(tree: Any, devices: Any) -> float:
    """A length that the lander has [m]."""
    known = [points_on(tree, devices, i) for i in range(len(tree.bodies))]
    reach = [float(np.linalg.norm(p, axis=1).max()) for p in known if len(p)]
    if not reach:  # bodies alone: how far their mass is spread
        spread = [np.trace(b.inertia) / b.mass for b in tree.bodies if b.mass > 0.0]
        reach = [float(np.sqrt(max(spread, default=0.0)))]
    return max(max(reach), 1e-9)


class _Look:
    """One body of a tree."""

    def __init__(self, tree: Any, devices: Any, number: int, reach: float) -> None:
        self.tree, self.devices, self.number, self.reach = tree, devices, number, reach
        self.body, self.joint = tree.bodies[number], tree.joints[number]
        self.known = points_on(tree, devices, number)
        self.carried = [j for j in tree.joints if j.parent == self.body.name]

    def own(self, kind: Any) -> list[Any]:
        """Devices of a kind on this body."""
        return [d for d in self.devices if isinstance(d, kind) and d.body == self.body.name]

    def solids(self) -> dict[str, list[Solid]]:
        """By role: the body itself, and what is thin about it."""
        bulk = self._bulk()
        thin = [*self._rods(bulk), *self._sleeves(), *self._nozzles()]
        if self.number == 0 and not (bulk or thin):  # the first part shows where the lander is
            bulk = [ball(np.zeros(3), BOB * self.reach)]
        return {"lander": bulk, "leg": thin}

    def foot(self, pad: Any) -> Solid:
        """A pad: its ball, or a flat foot whose sole is where the point is."""
        place = np.asarray(pad.place)
        if pad.radius > 0.0:
            return ball(place, float(pad.radius))
        along = place if np.linalg.norm(place) > 1e-6 * self.reach else np.array([0.0, 0.0, -1.0])
        along = along / np.linalg.norm(along)
        high = FLAT * self.reach
        return disc(place - 0.5 * high * along, along, FOOT * self.reach, high)

    def _bulk(self) -> list[Solid]:
        """What the body itself looks like; nothing of legs and of what has no mass."""
        bellies = [s for s in (_hull(np.asarray(b.points)) for b in self.own(Belly)) if s]
        if bellies:
            return bellies
        if self.number and self.own(Pad):
            return []
        tensor, mass = np.asarray(self.body.inertia), float(self.body.mass)
        center = np.asarray(self.body.center)
        if mass <= 0.0:
            return []
        if not tensor.any():
            return [ball(center, BOB * self.reach)]
        wheel = self._wheel(tensor, mass)
        return [wheel] if wheel is not None else [self._box(center, tensor, mass)]

    def _wheel(self, tensor: Array, mass: float) -> Solid | None:
        """A disc of the body's mass and inertia, where it turns about an axis of symmetry."""
        if self.joint.kind != "revolute":
            return None
        axis = np.asarray(self.joint.axis) / np.linalg.norm(np.asarray(self.joint.axis))
        about = float(axis @ tensor @ axis)
        if not np.allclose(tensor @ axis, about * axis, atol=1e-3 * np.trace(tensor)):
            return None
        other = np.linalg.eigvalsh(tensor)
        across = 0.5 * (np.trace(tensor) - about)
        if np.abs(other - across).min() > 1e-3 * across or 2.0 * across < about:
            return None
        wide, high = 2.0 * about / mass, (12.0 * across - 6.0 * about) / mass
        if wide <= 0.0 or not np.isclose(np.sort(other), np.sort([about, across, across])).all():
            return None
        thin = max(np.sqrt(max(high, 0.0)), 0.1 * np.sqrt(wide))
        return disc(np.asarray(self.body.center), axis, float(np.sqrt(wide)), float(thin))

    def _box(self, center: Array, tensor: Array, mass: float) -> Solid:
        """The box of evenly spread mass that has this inertia, within what is known."""
        moments, axes = _principal(tensor)
        square = np.maximum(6.0 * (moments.sum() - 2.0 * moments) / mass, 0.0)
        half = 0.5 * np.sqrt(square)
        half = np.maximum(half, 0.05 * max(float(half.max()), 1e-9))
        share = self._room(center, axes, half)
        hull = _hull(self.known)
        if share * float(half.max()) < SMALL * self.reach and hull is not None:
            return hull
        return box(center, axes, min(share, 1.0) * half)

    def _room(self, center: Array, axes: Array, half: Array) -> float:
        """How often a box fits between the points that are known, or into the lander's reach."""
        try:
            walls = scipy.spatial.ConvexHull(self.known).equations
        except (scipy.spatial.QhullError, ValueError, IndexError):
            return self.reach / float(np.linalg.norm(half))
        gap = -(walls[:, :3] @ center + walls[:, 3])
        return float((gap / (np.abs(walls[:, :3] @ axes) @ half)).min())

    def _rods(self, bulk: list[Solid]) -> list[Solid]:
        """To pads, to joints of other bodies, and to the centre of mass."""
        ends = [np.asarray(pad.place) for pad in self.own(Pad)]
        ends += [np.asarray(j.place) for j in self.carried]
        start = np.zeros(3)
        if self.number == 0:
            start = np.asarray(self.body.center)
            ends += [np.asarray(t.place) for t in self.own(Thruster)]
        elif bulk:
            ends.append(np.asarray(self.body.center))
        long = [end for end in ends if np.linalg.norm(end - start) > 1e-6 * self.reach]
        return [rod(start, end, self._thin(end - start)) for end in long]

    def _sleeves(self) -> list[Solid]:
        """What crushable legs slide in: short tubes at their joints."""
        slides = {d.body for d in self.devices if isinstance(d, Crushable)}
        found = []
        for joint in (j for j in self.carried if j.body in slides):
            pads = [d for d in self.devices if isinstance(d, Pad) and d.body == joint.body]
            if not pads:
                continue
            way = frames.quat_rotate(np.asarray(joint.turn), np.asarray(pads[0].place))
            place = np.asarray(joint.place)
            wide = WIDER * self._thin(way)
            found.append(rod(place - 0.1 * way, place + SLEEVE * way, wide, 12))
        return found

    def _nozzles(self) -> list[Solid]:
        """Cones against the directions in which thrusters push."""
        size = 2.2 * ROD * self.reach
        found = []
        for jet in self.own(Thruster):
            place, back = np.asarray(jet.place), -np.asarray(jet.direction)
            found.append(cone(place, place + 2.0 * size * back, 0.4 * size, size, 12))
        return found

    def _thin(self, way: Array) -> float:
        """The radius of a rod."""
        return ROD * min(self.reach, 4.0 * float(np.linalg.norm(way)))


def _principal(tensor: Array) -> tuple[Array, Array]:
    """Moments and axes (columns): the body's own where products of inertia are small, else the
    principal ones, turned as little as possible from the body's."""
    plain = tensor.diagonal()
    if np.abs(tensor - np.diag(plain)).max() < SKEW * plain.mean():
        return plain, np.eye(3)
    moments, axes = np.linalg.eigh(tensor)
    rows, columns = scipy.optimize.linear_sum_assignment(-np.abs(axes))
    turned = axes[:, columns] * np.sign(axes[rows, columns])
    return moments[columns], turned


def _hull(points: Array) -> Solid | None:
    """The convex hull of points; None where they span no volume."""
    try:
        return convex(points)
    except (scipy.spatial.QhullError, ValueError, IndexError):
        return None
