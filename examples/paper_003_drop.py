"""A body that bounces off a trampoline: figure 5 of paper 003, and its model in two dimensions.

100 kg and 4.5 m across, dropped from 10 m onto a hexagon of 146 m^2, tumbling. The paper does not
give the body's shape: here it is that of asteroid Castalia, 642 vertices, of uniform density.

Run it with:  python examples/paper_003_drop.py [FOLDER]    (out/figures if none)
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.collections import PolyCollection

from alight.core import frames
from alight.membrane import Captive, Membrane, hexagon, hull
from alight.motions.membrane.model import MembraneMotion
from alight.shapes import builtin
from alight.views import style
from alight.views.figures.solid import Camera

GRAVITY = (0.0, 0.0, -9.80665)
#: Twelve frames from 1.20 s to 2.52 s.
INTERVAL, FRAMES = 0.12, range(10, 22)
CAMERA = Camera(np.radians(-62.0), np.radians(19.0))
SUN = np.array([-0.45, -0.35, 0.82])
STONE, FABRIC = np.array([0.62, 0.57, 0.51]), np.array([0.24, 0.47, 0.66])


def asteroid() -> Captive:
    """Castalia, 4.5 m across and 100 kg."""
    mesh = builtin.find("castalia").mesh(1280)
    across = np.linalg.norm(mesh.vertices[:, None] - mesh.vertices[None], axis=-1).max()
    return Captive.from_mesh(mesh.scaled(4.5 / across), 100.0)


def trampoline() -> Membrane:
    """As in figure 5."""
    return Membrane(stiffness=30.0, damping=1.5, friction=0.2, suspension=hexagon(7.5))


# -- figure 5 ---------------------------------------------------------------------------------


def shaded(corners, colour, alpha=1.0, ambient=0.34):
    """(n, 4) colours of triangles (n, 3, 3) in the Sun, seen from either side."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-12)[:, None]
    light = ambient + (1.0 - ambient) * np.abs(normal @ (SUN / np.linalg.norm(SUN)))
    return np.column_stack(
        [np.clip(light[:, None] * colour * 1.25, 0, 1), np.full(len(light), alpha)]
    )


def draw_triangles(axes, corners, colours, layer, edge=None, width=0.0):
    """Triangles in parallel projection, the farthest first."""
    seen = CAMERA.project(corners)
    order = np.argsort(seen[..., 2].mean(axis=1))
    lines = colours[order] if edge is None else edge
    polygons = PolyCollection(
        seen[order][..., :2],
        facecolors=colours[order],
        edgecolors=lines,
        linewidths=width,
        zorder=layer,
    )
    axes.add_collection(polygons)


def draw_body(axes, body, position, attitude):
    """The sides of the body that face the viewer, in the Sun."""
    corners = (position + frames.quat_rotate(attitude, body.mesh.vertices))[body.mesh.faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facing = normal @ CAMERA.axes[2] > 0.0
    unit = normal / np.linalg.norm(normal, axis=1)[:, None]
    light = 0.3 + 0.7 * np.clip(unit @ (SUN / np.linalg.norm(SUN)), 0.0, 1.0)
    colours = np.column_stack([np.clip(light[:, None] * STONE * 1.3, 0, 1), np.ones(len(light))])
    draw_triangles(axes, corners[facing], colours[facing], 3, width=0.25)


def draw_rim(axes, ring, position, behind):
    """The sides of the ring that are farther from the viewer than the body, or nearer."""
    sides = CAMERA.project(np.stack([ring, np.roll(ring, -1, axis=0)], axis=1))
    far = sides[..., 2].mean(axis=1) < CAMERA.project(position)[2]
    for side in sides[far == behind]:
        axes.plot(*side[:, :2].T, "o-", color=style.INK, lw=1.0, ms=2.2, zorder=2 if behind else 5)


def frame(axes, law, body, position, attitude, time):
    """Fabric behind the body, the body, fabric in front of it, the rim."""
    shape = hull(body, law.ring, position, attitude, device="cpu")
    ring = law.ring.suspension
    if shape.below:
        corners = shape.points[shape.triangles]
    else:
        corners = np.stack(
            [np.broadcast_to(ring.mean(axis=0), ring.shape), ring, np.roll(ring, -1, 0)], 1
        )
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    middle = corners.mean(axis=1)
    inner = 0.5 * (ring.mean(axis=0) + shape.points[: shape.vertices].mean(axis=0))
    outward = normal * np.sign(np.einsum("ti,ti->t", normal, middle - inner))[:, None]
    front = (outward @ CAMERA.axes[2] > 0.0) & bool(shape.below)
    fine = (1.0, 1.0, 1.0, 0.5)
    draw_triangles(axes, corners[~front], shaded(corners[~front], FABRIC, 0.9), 1, fine, 0.35)
    draw_rim(axes, ring, position, behind=True)
    draw_body(axes, body, position, attitude)
    draw_triangles(axes, corners[front], shaded(corners[front], FABRIC, 0.42), 4, fine, 0.35)
    draw_rim(axes, ring, position, behind=False)
    axes.set(xlim=(-7.7, 7.7), ylim=(-4.1, 5.2), aspect="equal")
    axes.axis("off")
    axes.text(0.03, 0.95, f"{time:.2f} s", transform=axes.transAxes, va="top", weight="bold")


def drop(law, body, every):
    """The drop of figure 5."""
    motion = MembraneMotion(law, body, gravity=GRAVITY)
    return motion.run(
        (0.0, 0.0, 10.0), rate=(0.5, 1.0, -0.2), duration=3.0, every=every, device="cpu"
    )


def energies(flight, body):
    """Of motion, of height, of the fabric, and lost [kJ]."""
    moving = 0.5 * body.mass * (flight.velocity[0] ** 2).sum(axis=1)
    moving += 0.5 * np.einsum("ri,ij,rj->r", flight.rate[0], body.inertia, flight.rate[0])
    height = -body.mass * flight.position[0] @ np.array(GRAVITY)
    lost = flight.damped[0] + flight.rubbed[0]
    return {"motion": moving, "height": height, "fabric": flight.loads["stored"][0], "lost": lost}


def histories(left, middle, right, flight, body, notes):
    """Height, forces and energies in time."""
    time, load = flight.time, flight.loads[0]
    for axes in (left, middle, right):
        axes.axvspan(notes["first_contact_s"][0], notes["release_s"][0], color="#eef1f5", lw=0)
        axes.set(xlim=(0.0, 3.0), xlabel="time [s]")
        axes.spines[["top", "right"]].set_visible(False)
    left.plot(time, flight.position[0, :, 2], color=style.INK, label="centre of mass")
    left.plot(time, load["lowest"], color=style.GREY, lw=1.0, label="lowest vertex")
    left.axhline(0.0, color=style.LINE, lw=0.8)
    left.set_title("Height above the suspension plane [m]")
    force, rub = (np.linalg.norm(load[name], axis=1) / 1e3 for name in ("force", "friction"))
    middle.plot(time, force, color=style.INK, label="all")
    middle.plot(time, rub, color=style.ALARM, lw=1.0, label="friction")
    middle.plot(time, load["tension"] / 1e3, color="#2f6f9f", lw=1.0, label="tension [kN/m]")
    middle.set_title("Force on the body [kN]")
    for (name, values), colour in zip(
        energies(flight, body).items(), (style.INK, style.GREY, "#2f6f9f", style.ALARM), strict=True
    ):
        right.plot(time, values / 1e3, color=colour, lw=1.1, label=name)
    right.set_title("Energy [kJ]")
    for axes in (left, middle, right):
        axes.legend(frameon=False, fontsize=7.5)


def film_strip(file: Path) -> None:
    """Figure 5, and what happens in it."""
    law, body = trampoline(), asteroid()
    pictures, fine = drop(law, body, INTERVAL), drop(law, body, 0.005)
    with style.figure(12.0, 8.9) as fig:
        grid = fig.add_gridspec(
            4, 4, height_ratios=(1.0, 1.0, 1.0, 1.25), left=0.035, right=0.99, top=0.955,
            bottom=0.055, wspace=0.01, hspace=0.02,
        )  # fmt: skip
        for place, number in enumerate(FRAMES):
            axes = fig.add_subplot(grid[divmod(place, 4)])
            pose = pictures.position[0, number], pictures.attitude[0, number]
            frame(axes, law, body, *pose, pictures.time[number])
        below = grid[3, :].subgridspec(2, 3, height_ratios=(0.16, 1.0), wspace=0.16, hspace=0.0)
        histories(*(fig.add_subplot(below[1, k]) for k in range(3)), fine, body, fine.notes)
        fig.text(
            0.035, 0.972,
            "100 kg dropped from 10 m onto a hexagonal membrane of 146 m²: k = 30 N/m³, "
            "c = 1.5 N s/m³, μ = 0.2 (paper 003, figure 5)", weight="bold", size=10.5,
        )  # fmt: skip
        style.save(fig, file)
    told(fine)


def told(flight) -> None:
    """What came of the drop."""
    notes = {name: values[0] for name, values in flight.notes.items()}
    print(f"first contact    {notes['first_contact_s']:.3f} s")
    print(f"off the membrane {notes['release_s']:.3f} s")
    print(f"deepest point    {notes['depth_m']:.2f} m")
    print(f"largest force   {notes['force_n'] / 1e3:.2f} kN")
    print(f"largest tension {notes['tension']:.0f} N/m")
    print(f"steps            {notes['steps']:.0f}")


# -- two dimensions ---------------------------------------------------------------------------


def plane_frame(axes, law, body, flight, number):
    """The line, the body, and what the line presses at its corners."""
    position, attitude = flight.position[0, number], flight.attitude[0, number]
    shape = hull(body, law.ring, position, attitude, device="cpu")
    pieces = shape.points[shape.triangles][..., [0, 2]] if shape.below else None
    ends = law.ring.suspension[:, [0, 2]]
    axes.plot(*ends.T, color=style.LINE, lw=0.8, ls=(0, (4, 3)), zorder=0)
    axes.plot(*ends.T, "o", color=style.INK, ms=3.0)
    for piece in pieces if pieces is not None else [ends]:
        axes.plot(*piece.T, color="#2f6f9f", lw=1.8, zorder=2)
    corners = shape.points[: shape.vertices][:, [0, 2]]
    axes.fill(*corners.T, color=STONE * 1.1, ec=style.INK, lw=0.8, zorder=1)
    found = law.load(
        body, position, flight.velocity[0, number], attitude, flight.rate[0, number], device="cpu"
    )
    for place, push in zip(found.vertices[0], found.normal[0], strict=True):
        if np.linalg.norm(push) > 1.0:
            axes.annotate(
                "", place[[0, 2]] + push[[0, 2]] / 2500.0, place[[0, 2]],
                arrowprops={"arrowstyle": "-|>", "color": style.ALARM, "lw": 1.1}, zorder=4,
            )  # fmt: skip
    axes.set(xlim=(-5.3, 5.3), ylim=(-2.9, 3.5), aspect="equal")
    axes.axis("off")
    axes.text(
        0.03,
        0.97,
        f"{flight.time[number]:.2f} s",
        transform=axes.transAxes,
        va="top",
        weight="bold",
    )


def plane_strip(file: Path) -> None:
    """A plate on a line: paper 003's model in two dimensions, figure 2."""
    law = Membrane(3000.0, 120.0, 0.3, suspension=[[-5.0, 0.0], [5.0, 0.0]])
    body = Captive.polygon(
        [[-1.7, -0.3], [-0.9, -1.0], [0.4, -1.1], [1.6, -0.4], [1.2, 0.7], [-0.6, 0.9]], 100.0
    )
    motion = MembraneMotion(law, body, gravity=GRAVITY)
    flight = motion.run(
        (-0.4, 0.0, 3.0),
        (1.0, 0.0, 0.0),
        rate=(0.0, 1.2, 0.0),
        duration=1.7,
        every=0.15,
        device="cpu",
    )
    with style.figure(11.0, 3.85) as fig:
        grid = fig.add_gridspec(
            2, 4, left=0.01, right=0.99, top=0.92, bottom=0.01, wspace=0.02, hspace=0.02
        )
        for place, number in enumerate(range(3, 11)):
            plane_frame(fig.add_subplot(grid[divmod(place, 4)]), law, body, flight, number)
        fig.text(
            0.012, 0.945,
            "In two dimensions: a plate of 100 kg on a line of 10 m (blue); arrows: normal forces "
            "at its corners", weight="bold", size=10.5,
        )  # fmt: skip
        style.save(fig, file)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out/figures")
    film_strip(folder / "paper_003_drop.png")
    plane_strip(folder / "paper_003_plane.png")
    print(f"drawn: {folder / 'paper_003_drop.png'}, {folder / 'paper_003_plane.png'}")
