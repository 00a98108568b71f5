"""Figures of the landings of paper 000, drawn from what paper_000.py found."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import Normalize, to_rgb
from matplotlib.patheffects import withStroke
from scipy.spatial.transform import Rotation

from alight.core import frames
from alight.motions import Solution
from alight.shapes import Mesh
from alight.surfaces import Surface
from alight.views import style
from alight.views.figures.body.sheet import draw_solid
from alight.views.figures.solid import Camera, View

if TYPE_CHECKING:
    from paper_000 import Landings

BLUE, ORANGE, GREEN, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9"
LOOKS = {
    "cube": BLUE,
    "plate": GREEN,
    "rod": ORANGE,
    "tetrahedron": PURPLE,
    "sphere": style.INK,
    "sphere, resisted": style.INK,
}
COVER_LOOKS = {"none": BLUE, "sparse": GREEN, "dense": ORANGE}
#: Over the releases at 90° E, a little from the south, towards which landers go.
CAMERA = Camera(np.radians(92.0), np.radians(-14.0))
HOUR = 3600.0


def faces_viewer(ground: Surface, points: Any) -> Any:
    """(n,) True where the ground below a point faces the viewer."""
    _, normal = ground.query(points, device="cpu")
    return np.asarray(normal) @ CAMERA.axes[2] > 0.0


def way(run: Solution, lines: int = 6000) -> tuple[Any, Any]:
    """Times [s] and places [m], close enough together to draw, also in the last, smallest hops."""
    t = np.unique(np.concatenate([np.linspace(0.0, run.time[-1], lines), run.time]))
    return t, run.sample(t)[0]


def draw_way(axes: Any, ground: Surface, places: Any, colour: str, width: float) -> None:
    """A track on the picture of the body: faint where it is behind it."""
    x, y, _ = CAMERA.project(places).T
    seen = faces_viewer(ground, places)
    axes.plot(x, y, color=colour, lw=0.6, alpha=0.35, zorder=4)
    axes.plot(np.where(seen, x, np.nan), y, color=colour, lw=width, zorder=5)


def _ends(values: Any) -> tuple[Any, Any]:
    """The share of values up to each, over all: what is infinite never comes."""
    x = np.sort(values)
    share = 100.0 * np.arange(1, len(x) + 1) / len(x)
    finite = np.isfinite(x)
    return np.concatenate([[0.0], x[finite]]), np.concatenate([[0.0], share[finite]])


def outlined(colour: str = style.INK) -> Any:
    """An edge about words that lie on a picture."""
    return [withStroke(linewidth=2.5, foreground=colour)]


# -- shapes (figure 6) ---------------------------------------------------------------------------


def draw_shapes(found: dict[str, "Landings"], tracks: dict[str, Solution], file: Path) -> None:
    """One release of each shape on the body; how long all take; how far apart they end."""
    with style.figure(13.5, 8.0) as fig:
        runs = len(next(iter(found.values())).release)
        fig.text(0.02, 0.962, "Landers of equal mass and volume, released alike over Itokawa",
                 fontsize=15, fontweight="bold")  # fmt: skip
        said = (
            f"1 kg, 1 litre, restitution 0.65, friction 0.55; {runs:,} releases, the same for each."
            " No rolling resistance, but where reported (paper 000, figure 6)."
        )
        fig.text(0.02, 0.936, said, color=style.GREY)
        _draw_tracks(fig.add_axes((0.02, 0.385, 0.53, 0.505)), tracks)
        _draw_solids(fig, tracks)
        _draw_hours(fig.add_axes((0.60, 0.52, 0.385, 0.37)), found)
        _draw_spreads(fig.add_axes((0.60, 0.07, 0.385, 0.33)), found)
        style.save(fig, file)


def _draw_tracks(axes: Any, tracks: dict[str, Solution]) -> None:
    bare: Any = tracks["cube"].model.surface
    draw_solid(axes, View(bare.mesh, CAMERA, pixels=1000).picture(), bare.mesh, None)
    box = axes.axis()
    for name, run in tracks.items():
        _, places = way(run)
        draw_way(axes, bare, places, LOOKS[name], 1.5)
        x, y, _ = CAMERA.project(run.position[-1])
        axes.plot(x, y, "o", ms=7, color=LOOKS[name], mec="white", mew=1.0, zorder=7)
    x, y, _ = CAMERA.project(tracks["cube"].position[0])
    axes.plot(x, y, "^", ms=10, color=style.ALARM, mec="white", mew=0.8, zorder=7)
    axes.annotate("release", (x, y), (9, 5), textcoords="offset points", color="white", zorder=8,
                  fontweight="bold", path_effects=outlined())  # fmt: skip
    axes.axis(box)
    axes.set_title("One release of each; dots: rest sites")


#: How two landers lie in their picture: an axis of each, and where it points.
STANCES = {"rod": ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]), "tetrahedron": ([1, 1, 1], [0.1, -0.2, 1.0])}


def _draw_solids(fig: Any, tracks: dict[str, Solution]) -> None:
    """The landers themselves, to one scale, with how their release ended."""
    camera = Camera(np.radians(-62.0), np.radians(28.0))
    for k, (name, run) in enumerate(tracks.items()):
        axes = fig.add_axes((0.017 + 0.108 * k, 0.135, 0.106, 0.22))
        hull = run.model.lander.hull
        if name in STANCES:
            turned = Rotation.align_vectors([STANCES[name][1]], [STANCES[name][0]])[0]
            hull = Mesh(turned.apply(np.array(hull.vertices)), hull.faces)
        sharp = Mesh(hull.vertices[hull.faces].reshape(-1, 3),
                     np.arange(3 * hull.n_faces).reshape(-1, 3), check=False)  # fmt: skip
        tint = np.tile(to_rgb(LOOKS[name]), (sharp.n_vertices, 1))
        sky = np.ones(sharp.n_vertices)
        picture = View(sharp, camera, pixels=260, sky=sky).picture(0.35 + 0.65 * tint)
        axes.imshow(picture.rgba, extent=picture.extent, origin="lower")
        axes.set(xlim=(-0.19, 0.19), ylim=(-0.19, 0.19))
        axes.set_axis_off()
        size = " × ".join(f"{100 * s:.3g}" for s in sorted(run.model.lander.hull.extent)[::-1])
        if name == "sphere":
            size = f"⌀ {200 * run.model.lander.bounding_radius:.3g}"
        elif name == "tetrahedron":
            size = f"edges of {141.42 * run.model.lander.hull.extent[0]:.3g}"
        told = f"{size} cm\n{run.time[-1] / HOUR:.2f} h, {len(run.events)} contacts"
        fig.text(0.07 + 0.108 * k, 0.14, name, color=LOOKS[name], fontweight="bold", ha="center")
        fig.text(0.07 + 0.108 * k, 0.09, told, color=style.GREY, ha="center", fontsize=7.5)
    note = "Times are of that one release; the sphere's with a rolling resistance of 5 mm."
    fig.text(0.02, 0.045, note, color=style.GREY, fontsize=8)


def _draw_hours(axes: Any, found: dict[str, "Landings"]) -> None:
    axes.axvspan(1.0, 3.0, color="#eef1f5", zorder=0)
    axes.text(1.72, 101.5, "1 to 3 h", color=style.GREY, ha="center", va="bottom", fontsize=8)
    for name, one in found.items():
        x, share = _ends(one.hours)
        middle = float(np.median(one.hours))
        said = f"{name}: median {middle:.2f} h" if np.isfinite(middle) else (
            f"{name}: {np.isfinite(one.hours).sum()} at rest "
            f"within {one.model.stop.max_time / HOUR:g} h"
        )  # fmt: skip
        if "resisted" in name:
            said = f"sphere, C_RR 5 mm: median {middle:.2f} h"
        dash = "--" if "resisted" in name else "-"
        end = max(one.model.stop.max_time / HOUR, 1e-9)
        axes.step(np.append(x, end), np.append(share, share[-1]), where="post", ls=dash,
                  color=LOOKS[name], lw=1.7, label=said)  # fmt: skip
    axes.set(xscale="log", xlim=(0.03, 24.0), ylim=(0.0, 100.0))
    axes.set_xticks([0.1, 0.3, 0.5, 1, 2, 3, 5, 8, 24], ["0.1", "0.3", "0.5", *"12358", "24"])
    axes.minorticks_off()
    axes.set(xlabel="time from release [h]", ylabel="at rest by then [%]")
    axes.set_title("Time to rest", pad=14)
    axes.legend(frameon=False, loc="upper left", fontsize=8)
    axes.grid(color=style.LINE, lw=0.4)


def _draw_spreads(axes: Any, found: dict[str, "Landings"]) -> None:
    """Distances from the mean rest site: all, quartiles and the root mean square."""
    shown = {name: one for name, one in found.items() if len(one.rest) > 1}
    rng = np.random.default_rng(0)
    for k, (name, one) in enumerate(shown.items()):
        away = np.linalg.norm(one.rest - one.rest.mean(axis=0), axis=1)
        axes.plot(k + rng.uniform(-0.32, 0.32, len(away)), away, ".", ms=2.2, color=LOOKS[name],
                  alpha=0.35, mew=0)  # fmt: skip
        axes.errorbar(k, one.spread, one.spread_error, fmt="D", ms=6, color=style.INK, mec="white",
                      zorder=5)  # fmt: skip
        said = f" {one.spread:.0f} ± {one.spread_error:.0f} m"
        axes.text(k + 0.1, one.spread, said, va="center", fontweight="bold", fontsize=8, zorder=6,
                  path_effects=outlined("white"))  # fmt: skip
    names = ["sphere, C_RR 5 mm" if "resisted" in n else n for n in shown]
    axes.set_xticks(range(len(shown)), names)
    axes.set(ylabel="from the mean rest site [m]", xlim=(-0.5, len(shown) - 0.3))
    axes.set_ylim(bottom=0.0)
    axes.set_title("Spread of rest sites (diamonds: root mean square)")
    axes.grid(axis="y", color=style.LINE, lw=0.4)


# -- rocks ---------------------------------------------------------------------------------------


def draw_rocks(found: dict[str, "Landings"], file: Path) -> None:
    """Rest sites on the body, the ground from close by, and distributions."""
    bare: Any = found["none"].model.surface
    picture = View(bare.mesh, CAMERA, pixels=900).picture()
    with style.figure(13.5, 10.0) as fig:
        runs = len(found["none"].release)
        fig.text(0.02, 0.969, "The same cubes on Itokawa without rocks, with few, and with many",
                 fontsize=15, fontweight="bold")  # fmt: skip
        said = (
            f"{runs:,} releases, the same for each ground. Rocks of 0.3 to 20 m by the count on "
            "Itokawa, capped at the share of ground they cover."
        )
        fig.text(0.02, 0.949, said, color=style.GREY)
        norm = Normalize(0.5, 3.0)
        for k, (name, one) in enumerate(found.items()):
            left = 0.012 + 0.308 * k
            solid = fig.add_axes((left, 0.655, 0.295, 0.25))
            draw_solid(solid, picture, bare.mesh, None)
            dots = _draw_rests(solid, one, bare, norm)
            solid.set_title(_ground_title(name, one), fontsize=9.5)
            _draw_patch(fig.add_axes((left + 0.03, 0.345, 0.245, 0.275)), one, norm)
        bar = fig.colorbar(dots, cax=fig.add_axes((0.94, 0.42, 0.008, 0.42)), extend="both")
        bar.set_label("time to rest [h]")
        bar.outline.set_visible(False)
        _draw_effects(fig, found)
        style.save(fig, file)


def _ground_title(name: str, one: "Landings") -> str:
    rocks = getattr(getattr(one.model.surface, "field", None), "rocks", None)
    if rocks is None:
        return f"{name.capitalize()}: {one.model.surface.mesh.n_faces:,} facets"  # type: ignore[attr-defined]
    count = 100.0 * rocks.number(rocks.law.smallest)
    return f"{name.capitalize()}: {100 * rocks.cover:.0f} % covered, {count:.0f} rocks on 100 m²"


def _draw_rests(axes: Any, one: "Landings", bare: Surface, norm: Any) -> Any:
    seen = faces_viewer(bare, one.rest)
    x, y, _ = CAMERA.project(one.rest).T
    hours = one.hours[np.isfinite(one.hours)]
    axes.scatter(x[~seen], y[~seen], s=4, c="none", ec=style.GREY, lw=0.4, zorder=4)
    dots = axes.scatter(x[seen], y[seen], s=7, c=hours[seen], norm=norm, cmap="plasma", lw=0,
                        zorder=5)  # fmt: skip
    hidden = f"rings: {int((~seen).sum())} on the far side"
    axes.text(0.98, 0.02, hidden, color=style.GREY, ha="right", transform=axes.transAxes,
              fontsize=7.5)  # fmt: skip
    return dots


#: Middle of the ground that is shown from close by (a direction), and half its side [m].
PATCH, HALF = np.array([0.24, 0.87, -0.43]), 15.0
#: From where the light falls on it: west, north and up.
SUN = np.array([-0.6, 0.6, 0.75])


def _draw_patch(axes: Any, one: "Landings", norm: Any) -> None:
    """30 m of ground in slanting light, and what came to rest there."""
    up = PATCH / np.linalg.norm(PATCH)
    middle, turn = _on_ground(one.model.surface, up), frames.local_frame(up)
    line = np.linspace(-HALF, HALF, 420)
    height = _heights(one.model.surface, middle, turn, *np.meshgrid(line, line))
    step = line[1] - line[0]
    slope = np.stack([*np.gradient(-height, step)[::-1], np.ones_like(height)], axis=2)
    shade = slope @ SUN / (np.linalg.norm(slope, axis=2) * np.linalg.norm(SUN))
    axes.imshow(shade, cmap="gray", vmin=-0.2, vmax=0.95, extent=(-HALF, HALF, -HALF, HALF),
                origin="lower")  # fmt: skip
    flat = (one.rest - middle) @ turn
    here = (np.abs(flat[:, :2]) < HALF).all(axis=1) & (np.abs(flat[:, 2]) < 25.0)
    hours = one.hours[np.isfinite(one.hours)][here]
    axes.scatter(*flat[here, :2].T, c=hours, norm=norm, cmap="plasma", s=34, ec="white", lw=0.8)
    axes.set_title(f"A place of 30 m: {int(here.sum())} at rest", fontsize=9.5)
    axes.set(xlabel="east [m]", ylabel="north [m]")


def _on_ground(ground: Surface, up: Any) -> Any:
    radius = 400.0
    for _ in range(200):
        radius -= float(np.asarray(ground.query(radius * up, device="cpu")[0]).reshape(-1)[0])
    return radius * up


def _heights(ground: Surface, middle: Any, turn: Any, east: Any, north: Any) -> Any:
    """Height of the ground [m] over a place, looking down."""
    flat = np.column_stack([east.ravel(), north.ravel(), np.full(east.size, 25.0)])
    left = np.arange(len(flat))
    for _ in range(150):
        distance, _ = ground.query(middle + flat[left] @ turn.T, device="cpu")
        flat[left, 2] -= distance
        left = left[np.asarray(distance) > 2e-3]
        if not len(left):
            break
    return flat[:, 2].reshape(east.shape)


def _draw_effects(fig: Any, found: dict[str, "Landings"]) -> None:
    """Cumulative distributions of time, way and place."""
    row = [fig.add_axes((0.05 + 0.325 * k, 0.055, 0.275, 0.225)) for k in range(3)]
    for name, one in found.items():
        away = np.linalg.norm(one.rest - one.rest.mean(axis=0), axis=1)
        values = (one.hours, one.moved, away)
        said = (
            f"{name}: median {np.median(one.hours):.2f} h",
            f"{name}: median {np.median(one.moved):.0f} m",
            f"{name}: rms {one.spread:.1f} ± {one.spread_error:.1f} m",
        )
        for axes, value, label in zip(row, values, said, strict=True):
            axes.step(*_ends(value), where="post", color=COVER_LOOKS[name], lw=1.7, label=label)
    labels = (
        ("Time to rest", "time from release [h]"),
        ("Way", "from release to rest [m]"),
        ("Dispersion", "from the mean rest site [m]"),
    )
    for axes, (title, label) in zip(row, labels, strict=True):
        axes.set_title(title)
        axes.set(xlabel=label, ylabel="share of landings [%]", ylim=(0.0, 100.0))
        axes.set_xlim(left=0.0)
        axes.legend(frameon=False, loc="lower right", fontsize=8)
        axes.grid(color=style.LINE, lw=0.4)
