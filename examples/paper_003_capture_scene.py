"""The pictures of ``paper_003_capture.py``: asteroid, fabric and craft, sorted by depth."""

import itertools

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection

from alight.core import frames
from alight.membrane import hull
from alight.views import style

STONE, FABRIC, BUS, ARRAY = (
    np.array(rgb)
    for rgb in ((0.66, 0.60, 0.53), (0.24, 0.47, 0.66), (0.80, 0.81, 0.83), (0.17, 0.25, 0.44))
)


class View:
    """Parallel projection: ``up`` stands in the picture, seen from a little above."""

    def __init__(self, up, turn=0.0, above=0.22):
        up = up / np.linalg.norm(up)
        side = np.cross(up, (0.31, 0.77, -0.55))
        side /= np.linalg.norm(side)
        ahead = np.cross(side, up)
        right = np.cos(turn) * side + np.sin(turn) * ahead
        ahead = np.cross(right, up)
        self.toward = np.cos(above) * ahead + np.sin(above) * up
        self.axes = np.stack([right, np.cross(self.toward, right), self.toward])
        self.sun = self.axes.T @ np.array([-0.55, 0.62, 0.56])

    def __call__(self, points):
        """Right, up, and toward the viewer."""
        return points @ self.axes.T


def coloured(corners, colour, view, alpha=1.0, ambient=0.30):
    """(n, 4) colours of triangles in the Sun, whichever side is seen."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-12)[:, None]
    facing = np.sign(normal @ view.toward)
    light = ambient + (1.0 - ambient) * np.clip(facing * (normal @ view.sun), 0.0, 1.0)
    shade = np.clip(light[:, None] * colour * 1.22, 0.0, 1.0)
    return np.column_stack([shade, np.full(len(shade), alpha)])


def fan(ring):
    """Triangles of a flat polygon (n, 3)."""
    middle = np.broadcast_to(ring.mean(axis=0), ring.shape)
    return np.stack([middle, ring, np.roll(ring, -1, axis=0)], axis=1)


def bus_triangles(craft):
    """A hexagonal prism in craft axes, cut into slices that can be sorted."""
    angle = np.radians(30.0 + 60.0 * np.arange(6))
    ring = craft.width / np.sqrt(3.0) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    levels = np.linspace(-0.5, 0.5, 7) * craft.height
    found = []
    for low, high in itertools.pairwise(levels):
        a, b = (np.column_stack([ring, np.full(6, z)]) for z in (low, high))
        c, d = np.roll(a, -1, axis=0), np.roll(b, -1, axis=0)
        found += [np.stack([a, c, d], axis=1), np.stack([a, d, b], axis=1)]
    ends = [fan(np.column_stack([ring, np.full(6, z)])) for z in (levels[0], levels[-1])]
    return np.concatenate(found + ends)


def array_triangles(craft, sign):
    """A disc about its hinge, in the array's axes, in rings."""
    angle = np.linspace(0.0, 2.0 * np.pi, 25)[:-1]
    circle = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    middle = np.array([sign * craft.arm, 0.0, 0.0])
    found = [fan(middle + 0.5 * craft.array_radius * circle)]
    a, b = (middle + size * craft.array_radius * circle for size in (0.5, 1.0))
    c, d = np.roll(a, -1, axis=0), np.roll(b, -1, axis=0)
    return np.concatenate([*found, np.stack([a, c, d], axis=1), np.stack([a, d, b], axis=1)])


def placed_craft(craft, q):
    """Poses (place, attitude) of bus and arrays, inertial axes."""
    found = craft.tree.kinematics(q, np.zeros(craft.tree.n_v), device="cpu")
    return list(zip(found.position, found.attitude, strict=True))


def scene(capture, flight, number, view):
    """Triangles and colours, and lines, of one record."""
    craft, asteroid = capture.craft, capture.asteroid
    poses = placed_craft(craft, flight.q[0, number])
    x, q = flight.position[0, number], flight.attitude[0, number]
    stone = (x + frames.quat_rotate(q, asteroid.mesh.vertices))[asteroid.mesh.faces]
    front = np.cross(stone[:, 1] - stone[:, 0], stone[:, 2] - stone[:, 0]) @ view.toward > 0.0
    stone = stone[front]
    solids = [(stone, coloured(stone, STONE, view))]
    place, turn = poses[0]
    body = place + frames.quat_rotate(turn, bus_triangles(craft))
    solids.append((body, coloured(body, BUS, view)))
    for (at, own), sign in zip(poses[1:], (1.0, -1.0), strict=True):
        disc = at + frames.quat_rotate(own, array_triangles(craft, sign))
        solids.append((disc, coloured(disc, ARRAY, view, ambient=0.55)))
    relative = frames.quat_rotate_inv(turn, x - place)
    tilt = frames.quat_multiply(frames.quat_conjugate(turn), q)
    shape = hull(asteroid, capture.membrane.ring, relative, tilt, device="cpu")
    ring = capture.membrane.ring.suspension
    cloth = shape.points[shape.triangles] if shape.below else fan(ring)
    cloth = place + frames.quat_rotate(turn, cloth)
    solids.append((cloth, coloured(cloth, FABRIC, view, 0.62, 0.45)))
    foot = np.array([0.0, 0.0, 0.5 * craft.height])
    foot = foot + ring * np.array([0.2, 0.2, 0.0])
    rods = np.concatenate(
        [np.stack([foot, ring], axis=1), np.stack([ring, np.roll(ring, -1, axis=0)], axis=1)]
    )
    rods = place + frames.quat_rotate(turn, rods)
    booms = [
        np.stack([at, at + frames.quat_rotate(own, (sign * craft.boom, 0.0, 0.0))])
        for (at, own), sign in zip(poses[1:], (1.0, -1.0), strict=True)
    ]
    return solids, np.concatenate([rods, np.array(booms)])


def draw_frame(axes, capture, flight, number, view, half=16.2):
    """One picture: everything sorted by depth, lines cut in pieces so that they hide too."""
    solids, rods = scene(capture, flight, number, view)
    corners = view(np.concatenate([part for part, _ in solids]))
    colours = np.concatenate([colour for _, colour in solids])
    pieces = 12
    along = np.linspace(0.0, 1.0, pieces + 1)
    points = rods[:, :1] + along[None, :, None] * (rods[:, 1:] - rods[:, :1])
    lines = view(np.stack([points[:, :-1], points[:, 1:]], axis=2).reshape(-1, 2, 3))
    # Halfway between asteroid and bus, so that neither leaves the picture.
    middle = view(0.5 * (flight.position[0, number] + flight.q[0, number, :3]))
    depth, line_depth = corners[..., 2].mean(axis=1), lines[..., 2].mean(axis=1)
    # Layers by depth, so that lines pass behind and before what they should.
    for layer, bounds in enumerate(layers(np.concatenate([depth, line_depth]), 14)):
        inside = (depth >= bounds[0]) & (depth < bounds[1])
        order = np.argsort(depth[inside])
        chosen = corners[inside][order][..., :2] - middle[:2]
        shade = colours[inside][order]
        axes.add_collection(
            PolyCollection(chosen, facecolors=shade, edgecolors=shade, lw=0.22, zorder=2 * layer)
        )
        near = (line_depth >= bounds[0]) & (line_depth < bounds[1])
        segments = lines[near][..., :2] - middle[:2]
        axes.add_collection(
            LineCollection(segments, colors=style.INK, lw=0.65, zorder=2 * layer + 1)
        )
    axes.set(xlim=(-half, half), ylim=(-half * 0.82, half * 0.82), aspect="equal")
    axes.axis("off")
    axes.text(
        0.03, 0.96, f"{flight.time[number]:.0f} s", transform=axes.transAxes, va="top", size=9,
        weight="bold", zorder=99,
    )  # fmt: skip


def layers(depth, count):
    """Bounds of slices of depth, the farthest first."""
    edges = np.quantile(depth, np.linspace(0.0, 1.0, count + 1))
    edges[-1] = np.inf
    return list(itertools.pairwise(edges))
