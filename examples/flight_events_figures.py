"""Figures of the flight events: one sheet each, drawn from what flight_events.py found."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from flight_events_rule import grade
from flight_events_runs import plumb
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LightSource, Normalize

import alight
from alight.core import frames
from alight.views import style
from alight.views.figures.body.sheet import draw_solid
from alight.views.figures.solid import Camera, View

if TYPE_CHECKING:
    from flight_events_rule import Event, Finding

BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
#: What flight gave; what was simulated; one run among many.
FLOWN, SIMULATED, FAINT = style.ALARM, BLUE, "#9db8cc"
#: Behind words that lie on a plot.
COLOURS = (GREEN, ORANGE, FLOWN)  # of the verdicts, best first
PAPER = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5}


@contextmanager
def sheet(event: "Event", file: Path) -> Iterator[Any]:
    """A page with the event's name above and its verdicts below; saved when done."""
    with style.figure(13.0, 7.4) as fig:
        fig.text(0.04, 0.952, event.title, fontsize=17, fontweight="bold")
        fig.text(0.04, 0.92, _ways(event), color=style.GREY)
        yield fig
        _verdicts(fig, event)
        style.save(fig, file)


def _ways(event: "Event") -> str:
    return (
        f"Red: published band.  Blue: simulated, {event.findings[0].runs} runs with what is not "
        "known dispersed; bars hold 5 to 95 % of them."
    )


def _verdicts(fig: Any, event: "Event") -> None:
    """A bar for each finding: its band, its median, and what flight said."""
    count = len(event.findings)
    grid = fig.add_gridspec(1, count, left=0.04, right=0.97, bottom=0.085, top=0.13, wspace=0.14)
    for k, f in enumerate(event.findings):
        _verdict(fig.add_subplot(grid[k]), f, 120 // count)


def _verdict(axes: Any, f: "Finding", width: int) -> None:
    low, middle, high = f.spread or (np.nan,) * 3
    axes.barh(0.0, high - low, left=low, height=0.62, color=SIMULATED, alpha=0.35, lw=0)
    axes.plot([middle, middle], [-0.31, 0.31], color=SIMULATED, lw=2.2)
    a, b = f.quantity.band
    axes.barh(0.0, b - a, left=a, height=1.0, color=FLOWN, alpha=0.25, lw=0)
    axes.plot([a, a, np.nan, b, b], [-0.5, 0.5, np.nan, -0.5, 0.5], color=FLOWN, lw=1.8)
    ends = np.nanmin([low, a]), np.nanmax([high, b])
    room = 0.1 * (ends[1] - ends[0]) or 1.0
    axes.set(xlim=(ends[0] - room, ends[1] + room), ylim=(-0.7, 0.7), yticks=[])
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.locator_params(axis="x", nbins=5)
    unit = f" [{f.quantity.unit}]" if f.quantity.unit else ""
    axes.set_title(_short(f.quantity.text + unit, width), fontsize=8, fontweight="normal", pad=3)
    axes.text(0.0, -0.95, f"{f.verdict}\n{100 * f.shares[0]:.0f} % inside", va="top", fontsize=8,
              transform=axes.transAxes, color=COLOURS[grade(f.shares[0])],
              fontweight="bold")  # fmt: skip


def _short(text: str, width: int) -> str:
    """Broken into lines of no more than ``width`` characters."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def _grid(*all_axes: Any) -> None:
    for axes in all_axes:
        axes.grid(color=style.LINE, lw=0.4)
        axes.set_axisbelow(True)
        axes.spines[["right", "top"]].set_visible(False)


def _course(track: Any, origin: Any, up: Any, most: float = 1e9) -> tuple[Any, Any, Any]:
    """Times [s], heights over ``origin`` along ``up`` [m] and places of a track [m]."""
    end = min(track.time[-1], most)
    t = np.union1d(np.linspace(0.0, end, 1500), track.events["start"])
    t = t[t <= end]
    x = track.sample(t)[0]
    return t, (x - origin) @ up, x


def draw(event: "Event", file: Path) -> None:
    """The sheet of an event: its own, or the plain one."""
    own = {
        "mascot": draw_mascot,
        "hayabusa": draw_hayabusa,
        "philae": draw_philae,
        "minerva": draw_minerva,
    }
    own.get(event.study.name, draw_plain)(event, file)


def draw_plain(event: "Event", file: Path) -> None:
    """How the runs spread, for each quantity."""
    with sheet(event, file) as fig:
        grid = fig.add_gridspec(1, len(event.findings), left=0.05, right=0.975, bottom=0.275,
                                top=0.855, wspace=0.2)  # fmt: skip
        for k, f in enumerate(event.findings):
            axes = fig.add_subplot(grid[k])
            values = np.asarray(f.values, dtype=float)
            axes.hist(values[np.isfinite(values)], 40, color=SIMULATED, alpha=0.75)
            axes.axvspan(*f.quantity.band, color=FLOWN, alpha=0.25)
            unit = f" [{f.quantity.unit}]" if f.quantity.unit else ""
            axes.set(xlabel=f.quantity.text + unit, ylabel="runs")
            lacking = int(np.sum(~np.isfinite(values)))
            axes.set_title(f"{lacking} runs have none" if lacking else "All runs")
            _grid(axes)


# -- MASCOT -------------------------------------------------------------------------------------


def draw_mascot(event: "Event", file: Path) -> None:
    """Heights in time, rest sites on the ground, and bouncing against restitution."""
    d = event.data
    one = d["track"]
    with sheet(event, file) as fig:
        grid = fig.add_gridspec(1, 3, width_ratios=[1.25, 1.0, 1.0], left=0.055, right=0.985,
                                bottom=0.275, top=0.855, wspace=0.24)  # fmt: skip
        left, middle, right = (fig.add_subplot(grid[k]) for k in range(3))
        for track in d["tracks"]:
            _mascot_height(left, track, color=FAINT, lw=0.7)
        _mascot_height(left, one, color=SIMULATED, lw=1.8)
        for at, name in ((350.0, "first contact\n350 s"), (1013.0, "at rest\n1013 s")):
            left.axvline(at, color=FLOWN, lw=1.3)
            left.text(at + 18.0, 42.5, name, color=FLOWN, va="top")
        left.plot(0.0, 41.0, "o", color=FLOWN, ms=6, zorder=5, clip_on=False)
        left.set(xlim=(0.0, 2200.0), ylim=(-3.0, 45.0), xlabel="time since the release [s]",
                 ylabel="height above the first contact [m]")  # fmt: skip
        left.set_title("25 of the runs; bold the one most like the flight")
        _mascot_ground(fig, middle, d)
        dots = right.scatter(d["e"], d["bounce"], c=d["away"], s=13, cmap="viridis", vmax=50.0)
        right.axhline(663.0, color=FLOWN, lw=1.5)
        right.text(0.595, 640.0, "663 s, flight", color=FLOWN, ha="right", va="top", bbox=PAPER)
        right.set(xlabel="restitution at the contact", ylabel="from first to last contact [s]")
        right.set(xlim=(0.1, 0.6), ylim=(0.0, 3200.0))
        right.set_title("What restitution does")
        bar = fig.colorbar(dots, ax=right, pad=0.02, extend="max")
        bar.set_label("first contact to rest [m]  (flight: 17)")
        bar.outline.set_visible(False)
        _grid(left, right)


def _mascot_height(axes: Any, track: Any, **look: Any) -> None:
    first = track.events["place"][0]
    t, height, _ = _course(track, first, plumb(track.model, first)[0])
    axes.plot(t, height, **look)


def _mascot_ground(fig: Any, axes: Any, d: dict[str, Any]) -> None:
    """The ground in slanting light about the first contact; where all came to rest."""
    one = d["track"]
    first = one.events["place"][0]
    up, _ = plumb(one.model, first)
    turn, reach = frames.local_frame(up), 46.0
    side = np.linspace(-reach, reach, 261)
    height = _ground_height(one.model.surface, first, turn, *np.meshgrid(side, side))
    step = side[1] - side[0]
    shade = LightSource(315.0, 30.0).hillshade(height, dx=step, dy=step)
    box = (-reach, reach, -reach, reach)
    axes.imshow(0.5 + 0.45 * shade, cmap="gray", vmin=0.0, vmax=1.0, extent=box, origin="lower")
    ends = np.array([x - c["place"][0] for x, c in zip(d["rest"], d["touches"], strict=True)])
    axes.scatter(*(ends @ turn)[:, :2].T, s=7, color=SIMULATED, alpha=0.55, lw=0, zorder=3,
                 label="rest, all runs")  # fmt: skip
    _, _, x = _course(one, first, up)
    flat = (x - first) @ turn
    axes.plot(*flat[:, :2].T, color=ORANGE, lw=1.6, zorder=4, label="the bold run")
    axes.plot(*((one.events["place"] - first) @ turn)[:, :2].T, ".", color=ORANGE, ms=5, zorder=5)
    around = np.linspace(0.0, 2.0 * np.pi, 200)
    axes.plot(17.0 * np.cos(around), 17.0 * np.sin(around), color=FLOWN, lw=1.5, zorder=4,
              label="17 m, flight")  # fmt: skip
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set(xlabel="east of the first contact [m]", ylabel="north of it [m]")
    axes.legend(loc="lower left", framealpha=0.85, edgecolor="none", fontsize=7.5)
    axes.set_title("Where it comes to rest")


def _ground_height(surface: Any, origin: Any, turn: Any, east: Any, north: Any) -> Any:
    """Height of the ground [m] over ``origin``, looking down the plumb line."""
    flat = np.column_stack([east.ravel(), north.ravel(), np.full(east.size, 25.0)])
    for _ in range(150):
        distance, _ = surface.query(origin + flat @ turn.T, device="cpu")
        flat[:, 2] -= distance / surface.bounds.slope
    return flat[:, 2].reshape(east.shape)


# -- Hayabusa -----------------------------------------------------------------------------------


def draw_hayabusa(event: "Event", file: Path) -> None:
    """The body and its gravity, the hop in time, and times against gravity."""
    d = event.data
    best = d["found"].get("real shape", d["found"]["built-in shape"])
    with sheet(event, file) as fig:
        grid = fig.add_gridspec(1, 3, width_ratios=[1.05, 1.1, 1.1], left=0.02, right=0.985,
                                bottom=0.275, top=0.855, wspace=0.22)  # fmt: skip
        left, middle, right = (fig.add_subplot(grid[k]) for k in range(3))
        _itokawa(fig, left, d)
        for track in best["tracks"]:
            first, shift = track.events["place"][0], track.events["start"][0]
            t, height, _ = _course(track, first, plumb(track.model, first)[0], 4600.0)
            middle.plot((t - shift) / 60.0, height, color=SIMULATED, lw=0.9, alpha=0.55)
        middle.axvspan(*d["band"], color=FLOWN, alpha=0.18, lw=0)
        middle.axvline(20.0, color=FLOWN, lw=1.5)
        middle.text(17.8, 1.0, "second touch,\nas reported ", color=FLOWN, va="bottom", ha="right")
        middle.set(xlim=(-1.0, 50.0), xlabel="time since the first touch [min]",
                   ylabel="height over the first touch [m]", ylim=(-1.0, None))  # fmt: skip
        middle.set_title(f"24 hops on the {'real' if len(d['found']) > 1 else 'built-in'} shape")
        _hop_against_gravity(right, d)
        _grid(middle, right)


def _itokawa(fig: Any, axes: Any, d: dict[str, Any]) -> None:
    """Gravity on Itokawa, and the place."""
    mesh = alight.body("itokawa").mesh(20_480)
    camera = Camera(np.radians(55.0), np.radians(-25.0))
    low, high = 5.5e-5, 8.6e-5
    colours = style.GRAVITY((d["everywhere"] - low) / (high - low))[:, :3]
    view = View(mesh, camera, pixels=700)
    draw_solid(axes, view.picture(colours), mesh, None)
    for name, a in d["found"].items():
        where = camera.project(a["touches"][0]["place"][0])[:2]
        axes.plot(*where, "o", ms=8, mfc="none", mec="white", mew=2.0, zorder=5)
        real = name == "real shape"
        axes.annotate(
            "first touch, 6° S, 39° E" if real else "level on the built-in shape,\n28° S, 70° E",
            where,
            xytext=(-30, 88) if real else (72, -84),
            textcoords="offset points",
            ha="center",
            zorder=6,
            arrowprops={"arrowstyle": "-", "color": style.INK, "lw": 0.9},
        )
    scale = ScalarMappable(Normalize(1e5 * low, 1e5 * high), style.GRAVITY)
    bar = fig.colorbar(scale, ax=axes, orientation="horizontal", pad=0.0, shrink=0.75, aspect=34)
    bar.set_label("gravity, rotation included [1e-5 m/s²]")
    bar.outline.set_visible(False)
    axes.set_title("   Gravity on Itokawa: nowhere above 8.6e-5 m/s²")


def _hop_against_gravity(axes: Any, d: dict[str, Any]) -> None:
    """What 6.9 cm/s and 0.84 give in even gravity, and where Itokawa is."""
    g = np.linspace(5.5e-5, 1.08e-4, 200)
    for v, e, look in ((0.069, 0.84, "-"), (0.069, 0.65, "--")):
        axes.plot(1e5 * g, 2.0 * v * e / g / 60.0, look, color=style.INK, lw=1.3)
    axes.text(10.72, 17.2, "restitution 0.84", ha="right", va="top")
    axes.text(10.72, 13.3, "restitution 0.65", ha="right", va="top")
    low, high = 1e5 * d["everywhere"].min(), 1e5 * d["everywhere"].max()
    axes.axvspan(low, high, color=style.LINE, alpha=0.45, lw=0)
    axes.text(0.5 * (low + high), 10.6, "gravity found on Itokawa", ha="center", color=style.GREY)
    for (name, a), colour in zip(d["found"].items(), (PURPLE, SIMULATED), strict=False):
        five, mid, many = np.nanpercentile(a["hop"], [5, 50, 95])
        axes.errorbar(1e5 * a["site"], mid, [[mid - five], [many - mid]], fmt="o", ms=7, lw=2.0,
                      capsize=4, color=colour, label=f"simulated, {name}", zorder=4)  # fmt: skip
    axes.axhspan(*d["band"], color=FLOWN, alpha=0.18, lw=0)
    axes.axhline(20.0, color=FLOWN, lw=1.4)
    axes.plot(9.66, 20.0, "X", color=FLOWN, ms=10, zorder=5)
    axes.annotate("needed: 9.7e-5", (9.66, 20.0), (9.1, 24.5), color=FLOWN, ha="left",
                  arrowprops={"arrowstyle": "-", "color": FLOWN, "lw": 0.8})  # fmt: skip
    axes.set(xlim=(5.4, 10.8), ylim=(10.0, 36.0), xlabel="local gravity [1e-5 m/s²]",
             ylabel="time between the touches [min]")  # fmt: skip
    axes.legend(frameon=False, loc="upper right")
    axes.set_title("Lines: even gravity, 6.9 cm/s, level ground")


# -- Philae -------------------------------------------------------------------------------------


def draw_philae(event: "Event", file: Path) -> None:
    """Arcs over the comet, their time against speed, and the energy of the first bounce."""
    d = event.data
    name = "real shape" if "real shape" in d["arcs"] else "built-in shape"
    with sheet(event, file) as fig:
        grid = fig.add_gridspec(1, 3, width_ratios=[1.2, 1.15, 0.9], left=0.01, right=0.985,
                                bottom=0.285, top=0.855, wspace=0.2)  # fmt: skip
        left, middle, right = (fig.add_subplot(grid[k]) for k in range(3))
        _comet(left, d["arcs"][name], name)
        for (which, a), colour in zip(d["arcs"].items(), (PURPLE, SIMULATED), strict=False):
            hit = a["hit"]
            middle.plot(a["speed"][hit], a["time"][hit], "o", ms=4.2, mew=0, alpha=0.75,
                        color=colour, label=which)  # fmt: skip
        middle.axhline(111.4, color=FLOWN, lw=1.5)
        middle.text(0.399, 106.0, "111 min, flight", color=FLOWN, ha="right", va="top")
        for v, said in ((0.325, "later\n0.325"), (0.38, "ESA 2014\n0.38")):
            middle.axvline(v, color=FLOWN, lw=1.2, ls="--")
            middle.text(v - 0.001, 293.0, said, color=FLOWN, va="top", ha="right", bbox=PAPER)
        middle.set(xlim=(0.30, 0.40), ylim=(0.0, 300.0), xlabel="speed after the first touch [m/s]",
                   ylabel="time of flight to within 200 m of Abydos [min]")  # fmt: skip
        middle.legend(frameon=False, loc="lower right", title="free arcs, any direction",
                      bbox_to_anchor=(0.8, 0.0))  # fmt: skip
        middle.set_title("Agilkia to Abydos: speed decides the time")
        bins = np.linspace(0.0, 0.24, 41)
        right.axvspan(0.106, 0.144, color=FLOWN, alpha=0.25, lw=0)
        right.hist(d["kept"], bins, color=SIMULATED, alpha=0.75, density=True, label="ball")
        right.hist(d["box"], bins, color=style.INK, histtype="step", lw=1.3, density=True,
                   label="body as a box")  # fmt: skip
        right.legend(frameon=False, loc="upper left")
        right.set_ylim(0.0, 1.3 * right.get_ylim()[1])
        right.set_yticks([])
        right.set(xlabel="kinetic energy out over in", ylabel="share of the runs")
        right.set_title("First bounce")
        _grid(middle, right)


def _comet(axes: Any, a: dict[str, Any], name: str) -> None:
    camera = Camera(np.radians(-101.0), np.radians(-46.0))  # across the plane of the arcs
    draw_solid(axes, View(a["mesh"], camera, pixels=800).picture(), a["mesh"], None)
    for track in a["tracks"]:
        t = np.linspace(0.0, 60.0 * 111.0, 800)
        path = camera.project(track.sample(np.minimum(t, track.time[-1]))[0])
        axes.plot(*path[:, :2].T, color=ORANGE, lw=1.1, alpha=0.8, zorder=4, clip_on=False)
    for label, place, off in (("Agilkia", a["start"], (-10, 0)), ("Abydos", a["goal"], (-10, -4))):
        where = camera.project(place)[:2]
        axes.plot(*where, "o", ms=7, mfc="none", mec="white", mew=2.0, zorder=5)
        axes.annotate(label, where, off, textcoords="offset points", color="white",
                      fontweight="bold", zorder=6, ha="right")  # fmt: skip
    axes.set_title(f"   67P ({name}), arcs of 105 to 117 min", loc="left")


# -- MINERVA-II-1 -------------------------------------------------------------------------------


def draw_minerva(event: "Event", file: Path) -> None:
    """Arcs, times against distances, and times against gravity."""
    d = event.data
    with sheet(event, file) as fig:
        grid = fig.add_gridspec(1, 3, width_ratios=[1.25, 1.0, 1.0], left=0.055, right=0.985,
                                bottom=0.275, top=0.855, wspace=0.22)  # fmt: skip
        left, middle, right = (fig.add_subplot(grid[k]) for k in range(3))
        for track, up, start in zip(d["tracks"], d["up"], d["start"], strict=False):
            _, height, x = _course(track, start, up, float(track.events["start"][0]))
            step = x - start
            along = np.linalg.norm(step - np.outer(step @ up, up), axis=1)
            left.plot(along, height, color=SIMULATED, lw=0.9, alpha=0.6)
        left.plot([15.0, 15.0], [-3.0, 20.0], color=FLOWN, lw=1.5)
        left.text(15.2, 16.8, "15 m,\nannounced", color=FLOWN, va="top")
        left.set(xlim=(0.0, 25.0), ylim=(-3.0, 18.0), aspect="equal")
        left.set(xlabel="way along the ground [m]", ylabel="height over the take-off [m]")
        left.set_title("30 of the hops, to the first contact")
        middle.scatter(d["air"], d["far"], s=13, color=SIMULATED, alpha=0.6, lw=0)
        middle.axvline(15.0, color=FLOWN, lw=1.5)
        middle.axhline(15.0, color=FLOWN, lw=1.5)
        middle.set(xlabel="time in flight [min]", ylabel="way along the ground [m]")
        middle.set(xlim=(12.5, 18.5), ylim=(0.0, 27.0))
        middle.set_title("Announced: up to 15 min and 15 m")
        right.scatter(1e4 * d["g"], d["air"], s=13, color=SIMULATED, alpha=0.6, lw=0)
        g = np.linspace(1.2e-4, 1.35e-4, 50)
        right.plot(1e4 * g, 2.0 * 0.056 / g / 60.0, color=style.INK, lw=1.4)
        right.text(1.21, 14.3, "even gravity,\n5.6 cm/s up", va="top")
        right.axhline(15.0, color=FLOWN, lw=1.5)
        right.text(1.348, 14.93, "15 min, announced", color=FLOWN, ha="right", va="top")
        right.set(xlabel="gravity at the take-off [1e-4 m/s²]", ylabel="time in flight [min]")
        right.set(xlim=(1.2, 1.35), ylim=(12.5, 18.5))
        right.set_title("Anywhere on the parallel of 17° N")
        _grid(left, middle, right)
