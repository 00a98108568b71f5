"""The drops onto Ryugu of paper 001 (Yan, Gao, Yu, Shu, Zeng, Lv), computed again.

Run it with:  python examples/paper_001.py [FOLDER]     (out/paper_001 if no folder is named)

Each study is a function that returns what it found, and a ``draw_`` function that makes its figure.
docs/explanation/paper_001.md says what was found, what is assumed and where the paper's own figures
cannot be.
"""

import functools
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import alight
from alight import gravity, surfaces
from alight.contact import Sliding
from alight.core import frames
from alight.core.outcomes import Outcome
from alight.engine import BatchResult, Stop, run_batch, simulate
from alight.flight import UniformRotation
from alight.motions import Model, Release, Solution
from alight.vehicles import RigidLander
from alight.views import style
from alight.views.figures.body.sheet import draw_solid
from alight.views.figures.solid import Camera, View

BLUE, ORANGE, GREEN, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9"
HOUR = 3600.0

#: From the paper: density [kg/m^3], period [s], release [rad, m], restitutions, friction.
DENSITY, PERIOD = 1190.0, 7.627 * HOUR
LATITUDE, LONGITUDE, HEIGHT = np.radians(54.0), np.radians(-82.8), 60.0
RESTITUTION, TANGENTIAL = 0.8, 0.8
FRICTIONS = {"as printed": (5.0, 6.0), "physical": (0.7, 0.7)}
#: Its resolution, 1e-4 of the equivalent radius of 448 m [m], and the end at the Hill radius [m].
HOP, HILL = 4.48e-2, 61e3
RADII, SPEEDS, PRINTED = (2.5, 5.0, 7.0), (0.0, 0.10, 0.15), (1.0, 1.5)
LOOKS = (BLUE, GREEN, ORANGE)


@functools.cache
def ryugu() -> tuple[surfaces.Parametric, gravity.Gravity]:
    """The built-in shape as a surface of degree 22, and the field of its mesh."""
    mesh = alight.body("ryugu").mesh(5120)
    field = gravity.SmoothField(gravity.Polyhedron(mesh, density=DENSITY), spacing=8.0)
    return surfaces.Parametric.from_body("ryugu"), field


def model(friction: float = 5.0, static: float = 6.0, **law: float) -> Model:
    """Ryugu and a point; ``law`` replaces other values of the contact."""
    ground, field = ryugu()
    given = {"tangential_restitution": TANGENTIAL, "hop": HOP, "restitution": RESTITUTION} | law
    return Model(
        field,
        ground,
        RigidLander.point(1.0),
        Sliding(friction=friction, static_friction=static, **given),  # type: ignore[arg-type]
        rotation=UniformRotation(2.0 * np.pi / PERIOD),
        stop=Stop(max_time=48.0 * HOUR, escape_radius=HILL),
    )


def release(up: Any, radius: float, speed: float, count: int, seed: int) -> Release:
    """Anywhere in a level disc 60 m above the ground under ``up``, thrown inwards."""
    ground, _ = ryugu()
    rng = np.random.default_rng(seed)
    angle, r = rng.uniform(0.0, 2.0 * np.pi, count), radius * np.sqrt(rng.uniform(size=count))
    disc = np.column_stack([r * np.cos(angle), r * np.sin(angle), np.zeros(count)])
    above = ground.at(up) + HEIGHT * np.asarray(up)
    return Release(above + disc @ frames.local_frame(up).T, -speed * np.asarray(up))


# -- fields of rest (figures 9, 10 and 11) -------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Cloud:
    """Many drops from one disc."""

    start: Release
    found: BatchResult

    @property
    def local(self) -> tuple[Any, Any]:
        """Places of release and of rest [m]: east and north of the middle of the disc."""
        turn = frames.local_frame(frames.direction(LATITUDE, LONGITUDE))
        middle = self.start.position.mean(axis=0)
        return (self.start.position - middle) @ turn, (self.found.position - middle) @ turn

    @property
    def spread(self) -> float:
        """Root mean square distance from the mean rest site [m]."""
        return float(spread_of(self.found.position[None])[0])

    @property
    def ellipse(self) -> Any:
        """Semi-axes of the 1-sigma ellipse of the rest sites [m], the longer first."""
        return np.sqrt(np.linalg.eigvalsh(np.cov(self.found.position.T))[:0:-1])

    @property
    def hours(self) -> Any:
        """Time to the end of each run [h]."""
        return self.found.time / HOUR


def spread_of(places: Any) -> Any:
    """Root mean square distance [m] of (groups, runs, 3) places from the mean of their group."""
    off = places - places.mean(axis=1, keepdims=True)
    return np.sqrt((off**2).sum(axis=2).mean(axis=1))


def cloud(
    radius: float,
    speed: float,
    count: int = 500,
    friction: str = "as printed",
    seed: int = 1,
    device: str = "cpu",
) -> Cloud:
    """``count`` drops at the paper's place."""
    start = release(frames.direction(LATITUDE, LONGITUDE), radius, speed, count, seed)
    return Cloud(start, run_batch(model(*FRICTIONS[friction]), start, device=device))


def clouds(count: int = 500, friction: str = "as printed") -> dict[tuple[float, float], Cloud]:
    """By release radius [m] and speed [m/s]: figures 9 and 10, 11 with speeds that are held."""
    cases = [(r, 0.0) for r in RADII] + [(5.0, v) for v in SPEEDS[1:]]
    return {case: cloud(*case, count, friction) for case in cases}


def draw_fields(found: dict[tuple[float, float], Cloud], file: Path) -> None:
    """Where they end, by release radius and by speed."""
    with style.figure(12.5, 5.4) as fig:
        left, right = fig.subplots(1, 2)
        fig.subplots_adjust(left=0.06, right=0.985, bottom=0.1, top=0.92, wspace=0.16)
        for radius, colour in zip(RADII[::-1], LOOKS[::-1], strict=True):
            _draw_field(left, found[radius, 0.0], colour, f"{radius:g} m")
        for speed, colour in zip(SPEEDS, LOOKS, strict=True):
            _draw_field(right, found[5.0, speed], colour, f"{100 * speed:g} cm/s")
        left.set_title("Dropped: release radius 2.5, 5 and 7 m (figures 9 and 10)")
        right.set_title("Thrown inwards from 5 m: 0, 10 and 15 cm/s (figure 11)")
        for axes in (left, right):
            axes.set(xlabel="east of the release [m]", ylabel="north of it [m]", aspect="equal")
            axes.grid(color=style.LINE, lw=0.4)
            axes.legend(frameon=False, loc="best", markerscale=2.0, fontsize=8)
        style.save(fig, file)


def _draw_field(axes: Any, one: Cloud, colour: str, name: str) -> None:
    start, rest = one.local
    axes.plot(*start[:, :2].T, ".", ms=2.5, color=style.LINE, zorder=1)
    axes.annotate("release", (0, 0), (0, -26), textcoords="offset points", color=style.GREY,
                  ha="center")  # fmt: skip
    a, b = one.ellipse
    said = f"{name}: 1σ {a:.1f} × {b:.1f} m, rest after {np.median(one.hours):.2f} h"
    axes.plot(*rest[:, :2].T, ".", ms=3, color=colour, label=said, alpha=0.7, zorder=2)


def draw_times(count: int, file: Path) -> None:
    """How long drops take, with the printed friction and a physical one."""
    with style.figure(9.0, 3.6) as fig:
        axes = fig.subplots()
        fig.subplots_adjust(left=0.07, right=0.98, bottom=0.15, top=0.9)
        axes.axvspan(1.2, 2.6, color="#eef1f5", zorder=0)
        axes.axvline(1.8, color=style.ALARM, lw=1.2)
        high = axes.get_xaxis_transform()
        axes.text(1.79, 0.96, "paper: mostly\naround 1.8 h", color=style.ALARM, ha="right",
                  va="top", transform=high)  # fmt: skip
        bins = np.linspace(1.1, 2.7, 161)
        for k, (friction, (mu, _)) in enumerate(FRICTIONS.items()):
            for speed, dash in ((0.0, "-"), (0.10, "--"), (0.15, ":")):
                hours = cloud(5.0, speed, count, friction).hours
                said = f"friction {mu:g}, {100 * speed:g} cm/s: median {np.median(hours):.2f} h"
                axes.hist(hours, bins, histtype="step", color=LOOKS[k * 2], ls=dash, lw=1.3,
                          label=said)  # fmt: skip
        axes.legend(frameon=False, loc="upper left", fontsize=8)
        axes.set_title(f"Time from release to rest, {count} drops each, release radius 5 m")
        axes.set(xlabel="time to rest [h]", ylabel="drops", xlim=(1.1, 2.7))
        style.save(fig, file)


# -- does spread grow with radius and speed everywhere? -----------------------------------------


@dataclass(frozen=True, eq=False)
class Spreads:
    """Spread [m] by release radius, speed and place: (radii, speeds, places)."""

    radii: tuple[float, ...]
    speeds: tuple[float, ...]
    values: Any
    escaped: int


def places(
    radii: tuple[float, ...] = RADII,
    speeds: tuple[float, ...] = (0.0, 0.05, 0.10, 0.15),
    count: int = 60,
    runs: int = 40,
    seed: int = 7,
    device: str = "cpu",
) -> Spreads:
    """The same experiment over ``count`` places all over Ryugu, ``runs`` drops at each."""
    up = np.random.default_rng(seed).normal(size=(count, 3))
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    given, values, escaped = model(), np.empty((len(radii), len(speeds), count)), 0
    for i, radius in enumerate(radii):
        for j, speed in enumerate(speeds):
            each = [release(u, radius, speed, runs, seed + k) for k, u in enumerate(up)]
            start = Release(
                np.concatenate([r.position for r in each]),
                np.concatenate([r.velocity for r in each]),
            )
            found = run_batch(given, start, device=device)
            escaped += int(np.sum(found.outcome == Outcome.ESCAPED))
            values[i, j] = spread_of(found.position.reshape(count, runs, 3))
    return Spreads(radii, speeds, values, escaped)


def draw_spread(everywhere: Spreads, here: dict[tuple[float, float], Cloud], file: Path) -> None:
    """Against radius and against speed: many places, and the paper's."""
    quarter, middle, three = np.quantile(everywhere.values, [0.25, 0.5, 0.75], axis=2)
    with style.figure(10.5, 4.2) as fig:
        left, right = fig.subplots(1, 2, sharey=True)
        fig.subplots_adjust(left=0.07, right=0.985, bottom=0.13, top=0.9, wspace=0.06)
        speeds = 100.0 * np.array(everywhere.speeds)
        for j, colour in zip((0, 2, 3), LOOKS, strict=True):
            left.fill_between(
                everywhere.radii, quarter[:, j], three[:, j], color=colour, alpha=0.12
            )
            said = f"{speeds[j]:g} cm/s, {everywhere.values.shape[2]} places: median, quartiles"
            left.plot(everywhere.radii, middle[:, j], "o-", color=colour, ms=4, label=said)
        for i, colour in zip((0, 1, 2), LOOKS, strict=True):
            right.fill_between(speeds, quarter[i], three[i], color=colour, alpha=0.12)
            said = f"release radius {everywhere.radii[i]:g} m"
            right.plot(speeds, middle[i], "o-", color=colour, ms=4, label=said)
        dropped = [here[r, 0.0].spread for r in RADII]
        left.plot(RADII, dropped, "kx--", lw=0.9, label="0 cm/s, the paper's place")
        thrown = [here[5.0, v].spread for v in SPEEDS]
        right.plot(100 * np.array(SPEEDS), thrown, "kx--", lw=0.9, label="5 m, the paper's place")
        left.set_title("Spread grows with the release radius ...")
        right.set_title("... and with the speed, in the median over places")
        left.set(xlabel="release radius [m]", ylabel="spread of rest sites, rms [m]")
        right.set(xlabel="speed inwards [cm/s]", yscale="log")
        ticks = (1, 2, 5, 10, 20, 50)
        left.set_yticks(ticks, [f"{tick}" for tick in ticks])
        for axes in (left, right):
            axes.grid(color=style.LINE, lw=0.4)
            axes.legend(frameon=False, loc="upper left", fontsize=8)
        style.save(fig, file)


# -- typical trajectories (figure 8) -------------------------------------------------------------


def typical() -> dict[str, Solution]:
    """A fall, two throws that differ by a twentieth, an escape; and a slide on slippery ground."""
    up = frames.direction(LATITUDE, LONGITUDE)
    turn = frames.local_frame(up)
    above = ryugu()[0].at(up) + HEIGHT * up
    throws = {
        "1: dropped": (0.0, 0.0, 0.0),
        "2: 10 cm/s south": (0.0, -0.100, 0.0),
        "3: 10.5 cm/s south": (0.0, -0.105, 0.0),
        "4: 1 m/s inwards, escapes": (0.0, 0.0, -1.0),
    }
    out = {
        name: simulate(model(), Release(above, turn @ np.array(v))) for name, v in throws.items()
    }
    slippery = model(0.05, 0.3, restitution=0.0, tangential_restitution=1.0)
    ridge = frames.direction(0.0, np.radians(-120.0))
    start = ryugu()[0].at(ridge) + ridge
    push = frames.local_frame(ridge) @ np.array([0.0, 0.12, 0.0])
    out["5: slides and lifts off"] = simulate(slippery, Release(start, push))
    return out


def draw_typical(found: dict[str, Solution], file: Path) -> None:
    """The tracks on the body, and how high they go over the ground."""
    colours = dict(zip(found, (BLUE, GREEN, ORANGE, style.ALARM, PURPLE), strict=True))
    mesh, camera = alight.body("ryugu").mesh(20_480), Camera(np.radians(-98.0), np.radians(26.0))
    with style.figure(12.5, 5.2) as fig:
        grid = fig.add_gridspec(
            len(found) - 1, 2, width_ratios=[1.0, 1.15], left=0.01, right=0.985, bottom=0.09,
            top=0.94, wspace=0.12, hspace=0.6,
        )  # fmt: skip
        solid = fig.add_subplot(grid[:, 0])
        draw_solid(solid, View(mesh, camera, pixels=800).picture(), mesh, None)
        solid.set_title("Tracks over Ryugu (figure 8)")
        box = solid.axis()
        for name, run in found.items():
            x, y = camera.project(_track(run)[1])[:, :2].T
            solid.plot(x, y, color=colours[name], lw=1.5, label=name)
            if run.outcome is Outcome.SETTLED:
                solid.plot(x[-1], y[-1], "o", ms=5, color=colours[name], mec="white", mew=0.8)
        solid.axis(box)
        solid.legend(loc="upper left", fontsize=8, framealpha=0.0, bbox_to_anchor=(0.0, 0.97))
        held = [name for name, run in found.items() if run.outcome is Outcome.SETTLED]
        for k, name in enumerate(held):
            axes = fig.add_subplot(grid[k, 1])
            t, x = _track(found[name])
            height, _ = ryugu()[0].query(x, device="cpu")
            axes.plot(t / HOUR, height, color=colours[name], lw=1.2)
            for touch in found[name].events:
                axes.axvspan(touch["start"] / HOUR, touch["end"] / HOUR, color="#dfe4ea", zorder=0)
            hops = len(found[name].events)
            axes.set_title(f"{name}: {hops} contacts, rest after {t[-1] / HOUR:.2f} h", fontsize=9)
            axes.set(xlim=(0.0, t[-1] / HOUR), ylabel="height [m]")
            axes.set_ylim(bottom=0.0)
            axes.grid(color=style.LINE, lw=0.4)
        axes.set_xlabel("time since release [h] (shaded: on the ground)")
        style.save(fig, file)


def _track(run: Solution) -> tuple[Any, Any]:
    """Times [s] and places [m] close enough together to draw; an escape as far as it matters."""
    end = run.time[-1] if run.outcome is Outcome.SETTLED else 1500.0
    t = np.unique(np.concatenate([np.linspace(0.0, end, 3000), run.time[run.time <= end]]))
    return t, run.sample(t)[0]


def main(folder: Path) -> None:
    """Every figure, in a minute or two."""
    here = clouds()
    draw_fields(here, folder / "fields.png")
    draw_times(500, folder / "times.png")
    draw_spread(places(), here, folder / "spread.png")
    draw_typical(typical(), folder / "typical.png")
    for speed in PRINTED:
        gone = cloud(5.0, speed, 500).found.count()
        print(f"{speed} m/s inwards:", ", ".join(f"{n} {k}" for k, n in gone.items()))
    for (radius, speed), one in here.items():
        print(
            f"radius {radius} m, {speed} m/s: spread {one.spread:.2f} m, "
            f"ellipse {one.ellipse[0]:.2f} x {one.ellipse[1]:.2f} m, {np.median(one.hours):.3f} h"
        )
    print(f"wrote {len(list(folder.glob('*.png')))} figures to {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/paper_001"))
