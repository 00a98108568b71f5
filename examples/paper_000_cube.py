"""One landing of a cube on Itokawa (paper 000, figure 5), drawn from what paper_000.py found."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import LogNorm
from paper_000_figures import BLUE, CAMERA, HOUR, ORANGE, PURPLE, draw_way, outlined, way
from scipy.spatial.transform import Rotation

from alight.core import frames
from alight.motions import Solution
from alight.surfaces import Surface
from alight.vehicles import RigidLander
from alight.views import style
from alight.views.figures.body.sheet import draw_solid
from alight.views.figures.solid import View


def draw_landing(run: Solution, file: Path) -> None:
    """The track over the body, its end from close by, and height, speed, energy over time."""
    bare: Any = run.model.surface
    with style.figure(13.5, 7.4) as fig:
        fig.text(0.02, 0.958, "A cube of one litre and one kilogram lands on Itokawa", fontsize=15,
                 fontweight="bold")  # fmt: skip
        said = (
            f"Rigid contact with {bare.mesh.n_faces:,} facets, restitution 0.65, friction 0.55, no "
            f"rolling resistance. Rest after {run.time[-1] / HOUR:.2f} h and {len(run.events)} "
            "contacts (paper 000, figure 5)."
        )
        fig.text(0.02, 0.93, said, color=style.GREY)
        _draw_body(fig, fig.add_axes((0.005, 0.44, 0.52, 0.47)), run)
        _draw_end(fig.add_axes((0.05, 0.065, 0.22, 0.325)), run)
        _draw_poses(fig.add_axes((0.335, 0.065, 0.22, 0.325)), run)
        right = fig.add_gridspec(
            4, 1, left=0.625, right=0.985, bottom=0.065, top=0.885, hspace=0.42
        )
        _draw_course([fig.add_subplot(right[k]) for k in range(4)], run)
        style.save(fig, file)


def _draw_body(fig: Any, axes: Any, run: Solution) -> None:
    bare: Any = run.model.surface
    draw_solid(axes, View(bare.mesh, CAMERA, pixels=1100).picture(), bare.mesh, None)
    box = axes.axis()
    draw_way(axes, bare, way(run)[1], ORANGE, 1.5)
    hits = run.events
    x, y, _ = CAMERA.project(hits["place"]).T
    speed = np.maximum(-100.0 * hits["normal_speed_in"], 1e-2)
    look: Any = {"cmap": "viridis", "norm": LogNorm(1e-2, 20.0), "ec": "white", "lw": 0.5}
    dots = axes.scatter(x, y, c=speed, s=26, zorder=6, **look)
    for place, name, mark in ((run.position[0], "release", "^"), (run.position[-1], "rest", "*")):
        u, v, _ = CAMERA.project(place)
        axes.plot(u, v, mark, ms=10, color=style.ALARM, mec="white", mew=0.8, zorder=7)
        axes.annotate(name, (u, v), (9, 5), textcoords="offset points", fontweight="bold", zorder=8,
                      color="white", path_effects=outlined())  # fmt: skip
    axes.axis(box)
    bar = fig.colorbar(dots, cax=fig.add_axes((0.535, 0.5, 0.008, 0.34)))
    bar.set_label("normal speed of a hit [cm/s]")
    bar.outline.set_visible(False)


def _about_rest(run: Solution) -> tuple[Any, Any]:
    """Rest site [m], and axes there: east, north and up from the ground."""
    _, normal = run.model.surface.query(run.position[-1], device="cpu")
    return run.position[-1], frames.local_frame(np.asarray(normal).reshape(3))


def _draw_end(axes: Any, run: Solution) -> None:
    """The last metres of the track, looking down on the rest site."""
    rest, turn = _about_rest(run)
    t, places = way(run)
    flat = (places - rest) @ turn
    far = np.linalg.norm(flat[:, :2], axis=1) > 10.0
    begin = int(np.flatnonzero(far)[-1]) if far.any() else 0
    hits = (run.events["place"] - rest) @ turn
    axes.plot(*flat[begin:, :2].T, color=ORANGE, lw=1.2)
    axes.plot(
        *hits[run.events["start"] >= t[begin], :2].T, "o", ms=4, color=BLUE, mec="white", mew=0.5
    )
    axes.plot(0.0, 0.0, "*", ms=11, color=style.ALARM, mec="white", mew=0.8)
    axes.set_title("The last 10 m, from above")
    axes.set(xlabel="east of rest [m]", ylabel="north of rest [m]")
    axes.set_aspect("equal", adjustable="datalim")
    axes.grid(color=style.LINE, lw=0.4)


def _draw_poses(axes: Any, run: Solution, length: float = 1.5) -> None:
    """The cube itself along the last ``length`` [m] of its way, from the side."""
    rest, turn = _about_rest(run)
    t, places = way(run, 40_000)
    flat = (places - rest) @ turn
    length_to = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(flat, axis=0), axis=1))])
    begin = int(np.searchsorted(length_to, length_to[-1] - length))
    across = int(np.argmax(np.ptp(flat[begin:, :2], axis=0)))
    moments = np.interp(np.linspace(length_to[begin], length_to[-1], 8), length_to, t)
    where, attitude = run.sample(np.append(moments[:-1], run.time[-1]))
    at = (where - rest) @ turn
    axes.plot(flat[begin:, across], flat[begin:, 2], color=ORANGE, lw=1.0)
    for k, (x, q) in enumerate(zip(at, attitude, strict=True)):
        _draw_edges(axes, run.model.lander, x, turn.T, q, across, k == len(at) - 1)
    axes.fill_between(*_ground_line(run.model.surface, rest, turn, across, at), -10.0,
                      color="#d8d4cd", zorder=0)  # fmt: skip
    low, high = at[:, across].min() - 0.15, at[:, across].max() + 0.15
    axes.set(xlim=(low, high), ylim=(-0.12, -0.12 + 0.78 * (high - low)))
    axes.set_aspect("equal", adjustable="box")
    axes.set_title(f"The last {length:g} m of its way, from the side")
    axes.set(xlabel=f"{('east', 'north')[across]} of rest [m]", ylabel="up [m]")


def _draw_edges(
    axes: Any, lander: RigidLander, at: Any, to: Any, q: Any, across: int, last: bool
) -> None:
    corner = np.array(lander.hull.vertices)
    turned = at + Rotation.from_quat(q).apply(corner) @ to.T
    side = min(np.linalg.norm(corner[0] - c) for c in corner[1:])
    for i in range(len(corner)):
        for j in range(i):
            if np.isclose(np.linalg.norm(corner[i] - corner[j]), side):
                ends = turned[[i, j]]
                axes.plot(ends[:, across], ends[:, 2], color=style.ALARM if last else BLUE,
                          lw=1.4 if last else 0.7, alpha=1.0 if last else 0.6)  # fmt: skip


def _ground_line(ground: Surface, rest: Any, turn: Any, across: int, at: Any) -> tuple[Any, Any]:
    """Heights of the ground along a line through the rest site [m]."""
    line = np.linspace(at[:, across].min() - 3.0, at[:, across].max() + 3.0, 400)
    flat = np.zeros((len(line), 3))
    flat[:, across], flat[:, 2] = line, 2.0
    for _ in range(60):
        flat[:, 2] -= np.asarray(ground.query(rest + flat @ turn.T, device="cpu")[0])
    return line, flat[:, 2]


def _draw_course(rows: list[Any], run: Solution) -> None:
    t, places = way(run)
    height, _ = run.model.surface.query(places, device="cpu")
    rows[0].plot(t / HOUR, height, color=BLUE, lw=1.2)
    rows[0].set_ylim(bottom=0.0)
    rows[0].set_title("Height over the facets [m]")
    hours, speed = run.time / HOUR, 100.0 * np.linalg.norm(run.velocity, axis=1)
    rows[1].semilogy(hours, np.maximum(speed, 1e-3), color=BLUE, lw=1.1, label="speed")
    hits = run.events
    rows[1].semilogy(hits["start"] / HOUR, np.maximum(-100.0 * hits["normal_speed_in"], 1e-3), "o",
                     ms=3.2, color=ORANGE, label="normal speed of a hit")  # fmt: skip
    rows[1].legend(frameon=False, loc="lower left", ncols=2, fontsize=8)
    rows[1].set_title("Speed relative to the ground [cm/s]")
    rate = np.linalg.norm(run.rate, axis=1)
    rows[2].semilogy(hours, np.maximum(rate, 1e-4), color=PURPLE, lw=1.1)
    rows[2].set_title("Rate of turning [rad/s]")
    energy = 1e3 * (run.energy.total - run.energy.total[-1])
    rows[3].step(hours, energy, where="post", color=style.INK, lw=1.5)
    rows[3].set_title("$E_J$ above that of rest [mJ]: only contacts take it")
    rows[3].set(xlabel="time since release [h]", ylim=(0.0, None))
    for axes in rows:
        axes.set_xlim(0.0, run.time[-1] / HOUR)
        axes.grid(color=style.LINE, lw=0.4)
        axes.spines[["top", "right"]].set_visible(False)
