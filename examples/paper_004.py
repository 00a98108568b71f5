"""The figures of paper 004 (Van wal, Reid, Scheeres), computed again.

Run it with:  python examples/paper_004.py [FOLDER]     (out/paper_004 if no folder is named)

Each study is a function that returns what it found, and a ``draw_`` function that makes its figure.
What the paper leaves open (springs, friction, the cube, its release) is set at the top of this
file; docs/explanation/paper_004.md says which of it is assumed.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import LightSource
from scipy.spatial.transform import Rotation
from scipy.stats import ks_2samp

import alight
from alight import flight, gravity, surfaces
from alight.contact import Compliant
from alight.contact.compliant.smooth_forces import load
from alight.core import frames
from alight.core.outcomes import Outcome
from alight.engine import BatchResult, Stop, run_batch, simulate
from alight.motions import Model, Release, Solution, Steps
from alight.motions.rigid.energy import EnergyParts, energies
from alight.vehicles import RigidLander
from alight.views import style
from alight.views.figures.body.sheet import draw_solid
from alight.views.figures.solid import Camera, View

#: Gravity [m/s^2] of the three regimes, and their colours (safe for colour-blind readers).
REGIMES = {"Phobos": 5.7e-3, "67P": 2.0e-4, "Itokawa": 8.6e-5}
BLUE, ORANGE, GREEN, PURPLE, BLACK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", style.INK
COLOURS = dict(zip(REGIMES, (BLUE, ORANGE, GREEN), strict=True))
SCHEMES = ("smooth", "clipped")

#: The cube and its release: 1 kg, 0.2 m; velocity [m/s], rate [rad/s].
CUBE = RigidLander.cube(0.2, 1.0)
VELOCITY = np.array([0.10, 0.03, -0.05])
RATE = 0.3 * np.array([1.0, 0.5, -0.3])
SPEED = float(np.linalg.norm(VELOCITY))
#: Springs [N/m] and dampers [N s/m] of paper 004's law: 200 rad/s and e = 0.6 with 1 kg.
STIFFNESS, DAMPING = 4e4, 162.0
#: Rolling resistance in the paper's form, of 2 mm, and a patch as large.
ROLLING: dict[str, Any] = {
    "rolling_resistance": 2e-3,
    "patch_radius": 2e-3,
    "rolling_law": "compensated",
}
#: Neither of them.
FREE: dict[str, Any] = {"rolling_resistance": 0.0, "patch_radius": 0.0}


def law(scheme: str, **options: Any) -> Compliant:
    """The contact of all studies of the cube; ``options`` replace its parameters."""
    given: dict[str, Any] = {"friction": 0.6, **ROLLING, "scheme": scheme}
    if scheme == "smooth":
        given |= {"stiffness": STIFFNESS, "damping": DAMPING}
    else:
        given |= {"restitution": 0.6}
    return Compliant(**{**given, **options})


def plane_model(contact: Compliant, g: float, **options: Any) -> Model:
    """A cube over a plane; ``options`` are fields of ``Model``."""
    stop = Stop(1e6, settle_speed=1e-6, settle_rate=1e-5, settle_time=0.02 / g, max_steps=3_000_000)
    options = {"surface": surfaces.Plane(), "lander": CUBE, "stop": stop} | options
    steps = options.pop("steps", Steps(tolerance=1e-6))
    return Model(gravity.Uniform((0.0, 0.0, -g)), contact=contact, steps=steps, **options)


def attitudes(runs: int, seed: int) -> Any:
    """(n, 4) random attitudes."""
    return Rotation.random(runs, random_state=seed).as_quat()


# -- B4-1, figure 8: one cube, three gravities --------------------------------------------------


@dataclass(frozen=True, eq=False)
class Regime:
    """Where and when cubes came to rest in one gravity, as multiples of v^2/g and v/g."""

    distance: Any
    time: Any
    found: BatchResult


def cube_release(g: float, attitude: Any) -> Release:
    """The same motion everywhere; height in proportion to v^2/g."""
    height = 0.18 + VELOCITY[2] ** 2 / (2.0 * g)
    return Release([0.0, 0.0, height], VELOCITY, attitude, RATE)


def regimes(runs: int = 200, seed: int = 4, device: str = "cpu") -> dict[tuple[str, str], Regime]:
    """Cubes in random attitudes, each scheme in each gravity: independent draws everywhere."""
    out = {}
    cases = [(scheme, name) for scheme in SCHEMES for name in REGIMES]
    for k, (scheme, name) in enumerate(cases):
        g = REGIMES[name]
        release = cube_release(g, attitudes(runs, seed + k))
        found = run_batch(plane_model(law(scheme), g), release, device=device)
        distance = np.hypot(*found.position[:, :2].T) * g / SPEED**2
        out[scheme, name] = Regime(distance, last_starts(found) * g / SPEED, found)
    return out


def last_starts(found: BatchResult) -> Any:
    """(n,) when each run's last contact began [s]: how long rest must last is a choice of ours."""
    last = np.searchsorted(found.touches["run"], np.arange(len(found)), side="right") - 1
    return found.touches["start"][last]


def sample_throws(scheme: str = "smooth", seed: int = 11) -> dict[str, Solution]:
    """One throw in each gravity, all released alike."""
    q = attitudes(1, seed)
    return {
        name: simulate(plane_model(law(scheme), g), cube_release(g, q))
        for name, g in REGIMES.items()
    }


def draw_throws(throws: dict[str, Solution], file: Path) -> None:
    """All on one scale; then the one on Phobos, which can hardly be seen there, enlarged."""
    with style.figure(10.0, 6.2) as fig:
        both = fig.subplots(2, 1)
        fig.subplots_adjust(hspace=0.32, left=0.07, right=0.98, bottom=0.08, top=0.95)
        for name, run in throws.items():
            _, path, height = _ground_path(run)
            said = (
                f"{name}, {1e3 * REGIMES[name]:.3g} mm/s²: {path[-1]:.3g} m, {run.time[-1]:,.0f} s"
            )
            both[0].plot(path, height, color=COLOURS[name], lw=1.5, label=said)
            both[0].plot(path[-1], height[-1], "o", ms=5, color=COLOURS[name], clip_on=False)
        both[0].set_title("The same cube thrown alike onto a plane in three gravities")
        both[0].legend(frameon=False, loc="upper right")
        _, path, height = _ground_path(throws["Phobos"])
        both[1].plot(path, height, color=BLUE, lw=1.8)
        _draw_cubes(both[1], throws["Phobos"])
        both[1].set_title("Phobos, enlarged")
        for axes in both:
            axes.set(xlabel="way along the ground [m]", ylabel="height [m]")
            axes.set_ylim(bottom=0.0)
            axes.grid(color=style.LINE, lw=0.4)
        style.save(fig, file)


def _ground_path(run: Solution) -> tuple[Any, Any, Any]:
    """Times [s], length of the track over the ground and height of the centre of mass [m]."""
    t = np.union1d(np.linspace(0.0, run.time[-1], 4000), run.events["start"])
    x, _ = run.sample(t)
    steps = np.hypot(*np.diff(x[:, :2], axis=0).T)
    return t, np.concatenate([[0.0], np.cumsum(steps)]), x[:, 2]


def _draw_cubes(axes: Any, run: Solution) -> None:
    """The cube's edges at some moments, seen from the side of the throw."""
    moving = run.events["start"][-1]
    moments = np.append(np.linspace(0.0, 0.35 * moving, 5), run.time[-1])
    where, attitude = run.sample(moments)
    t, path, _ = _ground_path(run)
    ahead = np.append(VELOCITY[:2], 0.0) / np.hypot(*VELOCITY[:2])
    corner = np.array(CUBE.points)
    pairs = [(i, j) for i in range(8) for j in range(i)]
    edges = [e for e in pairs if np.isclose(np.linalg.norm(corner[e[0]] - corner[e[1]]), 0.2)]
    for along, x, q in zip(np.interp(moments, t, path), where, attitude, strict=True):
        turned = Rotation.from_quat(q).apply(corner)
        for edge in edges:
            ends = turned[list(edge)]
            axes.plot(along + ends @ ahead, x[2] + ends[:, 2], color=BLUE, lw=0.6, alpha=0.7)
    axes.set_aspect("equal")


def draw_regimes(found: dict[tuple[str, str], Regime], file: Path) -> None:
    """Cumulative distributions, scaled: curves of one scheme fall on each other."""
    with style.figure(10.0, 6.2) as fig:
        grid = fig.subplots(2, 2, sharey=True, sharex="col")
        fig.subplots_adjust(hspace=0.42, wspace=0.08, left=0.08, right=0.98, top=0.94)
        for row, scheme in zip(grid, SCHEMES, strict=True):
            for name in REGIMES:
                one = found[scheme, name]
                for axes, value in zip(row, (one.distance, one.time), strict=True):
                    label = f"{name}: median {np.median(value):.2f}"
                    _cumulative(axes, value, color=COLOURS[name], label=label)
            row[0].set_title(f"{scheme} scheme: distance")
            row[1].set_title(f"{scheme} scheme: time")
            row[0].set(xlabel="distance of rest from release, × v²/g", ylabel="share of throws")
            row[1].set(xlabel="start of the last contact, × v/g")
            for axes in row:
                axes.legend(frameon=False, loc="lower right")
                axes.grid(color=style.LINE, lw=0.4)
        style.save(fig, file)


def _cumulative(axes: Any, value: Any, **look: Any) -> None:
    """The share of values up to each."""
    x = np.concatenate([[0.0], np.sort(value)])
    axes.step(x, np.linspace(0.0, 1.0, len(x)), where="post", lw=1.5, **look)


# -- B4-2, figure 10: energy in one hit ---------------------------------------------------------


def corner_hit(scheme: str) -> tuple[Solution, Any, EnergyParts]:
    """A corner that comes in with some slip, halts, and leaves sticking: lines and energies."""
    corner = Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0]
    q = (Rotation.from_rotvec([0.15, 0.1, 0.0]) * corner).as_quat()
    options: dict[str, Any] = {"friction": 0.8, **FREE, "slip_speed": 1e-5}
    contact = law(scheme, **options, resolution=0.005)
    model = plane_model(contact, 5.7e-3, stop=Stop(max_time=1.0), steps=Steps(tolerance=1e-9))
    run = simulate(model, Release([0, 0, 0.2], [0.004, 0.0, -0.05], q))
    rows = np.array(run.rows[1:])
    return run, rows, energies(model, rows, run.device)


def slips(run: Solution, rows: Any) -> tuple[Any, Any]:
    """Size of the slip [m/s] of the effective point and number of points that touch."""
    m = run.model
    found = load(m.contact, m.lander, m.surface, rows["x"], rows["v"], rows["q"], rows["w"])
    return np.linalg.norm(found["slip"], axis=1), found["active"]


def draw_energy(file: Path) -> None:
    """The parts of E_J through one hit, for both schemes."""
    kinds = {"linear": BLUE, "angular": ORANGE, "elastic": GREEN, "gravity": PURPLE, "total": BLACK}
    with style.figure(10.0, 4.2) as fig:
        both = fig.subplots(1, 2, sharey=True)
        fig.subplots_adjust(left=0.08, right=0.88, bottom=0.14, top=0.9, wspace=0.08)
        for axes, scheme in zip(both, SCHEMES, strict=True):
            run, rows, parts = corner_hit(scheme)
            (hit,) = run.events
            lasted = hit["end"] - hit["start"]
            part = (rows["t"] > hit["start"] - 0.35 * lasted) & (
                rows["t"] < hit["end"] + 0.35 * lasted
            )
            t = 1e3 * (rows["t"][part] - hit["start"])
            for name, colour in kinds.items():
                value = 1e3 * getattr(parts, name)[part]
                if name in ("gravity", "total"):
                    value = value - 1e3 * (parts.gravity + parts.centrifugal)[part][0]
                width = 2.2 if name == "total" else 1.4
                axes.plot(t, value, color=colour, lw=width, label=name)
            deepest = t[np.argmax(parts.elastic[part])]
            axes.axvspan(0.0, deepest, color=BLUE, alpha=0.08, lw=0)
            axes.axvspan(deepest, 1e3 * lasted, color=ORANGE, alpha=0.08, lw=0)
            axes.set_title(f"{scheme} scheme")
            axes.set(xlabel="time since the first touch [ms]", ylim=(-0.06, 1.6))
            axes.text(0.5 * deepest, 1.5, "compression", color=style.GREY, ha="center")
            middle = 0.5 * (deepest + 1e3 * lasted)
            axes.text(middle, 1.5, "restitution", color=style.GREY, ha="center")
            axes.grid(color=style.LINE, lw=0.4)
        both[0].set(ylabel="energy [mJ] (gravity: less its start)")
        both[1].legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5))
        style.save(fig, file)


# -- B4-3 and B4-4, figure 9: sliding and settling ----------------------------------------------

SLIP_SPEEDS = (1e-2, 1e-3, 1e-4, 1e-5)


def four_corners(slip_speed: float) -> tuple[Any, Any, Any]:
    """Times since the first touch [s], slip [m/s] and points of a cube that lands almost flat.

    Its four corners touch within one contact, one after another: the effective point moves.
    """
    q = Rotation.from_rotvec([0.0004, 0.0007, 0.3]).as_quat()
    contact = law("smooth", slip_speed=slip_speed, slip_rate=10.0 * slip_speed)
    stop = Stop(max_time=1.0)
    model = plane_model(contact, 5.7e-3, stop=stop, steps=Steps(tolerance=1e-8))
    run = simulate(model, Release([0, 0, 0.101], [0.012, 0.004, -0.05], q))
    rows = np.array(run.rows[run.rows["t"] > 0.0])
    slip, points = slips(run, rows)
    first = run.events[0]
    on = (points > 0) & (rows["t"] <= first["end"])
    return rows["t"][on] - first["start"], slip[on], points[on]


def wheel_slip(slip_speed: float) -> float:
    """Root mean square slip [m/s] of a wheel of 64 corners that rolls at 1 m/s."""
    wheel = RigidLander.cylinder(0.2, 0.1, 1.0, sides=64)
    q = Rotation.from_rotvec([0.5 * np.pi, 0.0, 0.0]).as_quat()
    contact = law(
        "smooth", damping=20.0, slip_speed=slip_speed, slip_rate=10.0 * slip_speed,
        depth=0.01, **FREE,
    )  # fmt: skip
    model = plane_model(
        contact, 100.0, lander=wheel, stop=Stop(max_time=0.2), steps=Steps(tolerance=1e-7)
    )
    run = simulate(model, Release([0, 0, 0.1 - 3e-4], [1.0, 0, 0], q, [0, 0, -10.0]))
    rows = np.array(run.rows[run.rows["t"] > 0.1])
    slip, _ = slips(run, rows)
    return float(np.sqrt(np.trapezoid(slip**2, rows["t"]) / np.ptp(rows["t"])))


def draw_slip(file: Path) -> None:
    """Slip of the effective point for four widths of the blending, and what is left of it."""
    colours = (PURPLE, GREEN, ORANGE, BLUE)
    with style.figure(10.0, 4.2) as fig:
        left, right = fig.subplots(1, 2, width_ratios=[1.7, 1.0])
        fig.subplots_adjust(left=0.08, right=0.98, bottom=0.14, top=0.9, wspace=0.24)
        for limit, colour in zip(SLIP_SPEEDS, colours, strict=True):
            t, slip, points = four_corners(limit)
            label = f"υ* = {limit:.0e} m/s"
            left.semilogy(1e3 * t, np.maximum(slip, 1e-9), color=colour, lw=1.3, label=label)
            left.axhline(limit, color=colour, lw=0.6, ls=":")
        left.fill_between(
            1e3 * t, 1e-8, 1e-1, where=points >= 3, color=style.LINE, alpha=0.35, lw=0,
            label="3 or 4 corners touch",
        )  # fmt: skip
        left.set_title("Four corners in one contact")
        left.set(xlabel="time since the first touch [ms]", ylabel="slip [m/s]", ylim=(1e-8, 1e-1))
        left.legend(frameon=False, loc="lower left")
        rest = [wheel_slip(limit) for limit in SLIP_SPEEDS]
        right.loglog(SLIP_SPEEDS, rest, "o-", color=BLUE, label="a wheel of 64 corners")
        slope = np.polyfit(np.log(SLIP_SPEEDS), np.log(rest), 1)[0]
        right.loglog(SLIP_SPEEDS, rest[0] * np.array(SLIP_SPEEDS) / SLIP_SPEEDS[0], ":",
                     color=BLACK, label="in proportion")  # fmt: skip
        right.set_title(f"What is left of it: slope {slope:.2f}")
        right.set(xlabel="υ* (slip_speed) [m/s]", ylabel="root mean square slip [m/s]")
        right.legend(frameon=False, loc="upper left")
        for axes in (left, right):
            axes.grid(color=style.LINE, lw=0.4)
        style.save(fig, file)


def settling(scheme: str, seed: int = 11) -> Solution:
    """The throw on Phobos, to rest."""
    g = REGIMES["Phobos"]
    return simulate(plane_model(law(scheme), g), cube_release(g, attitudes(1, seed)))


def draw_settling(file: Path) -> None:
    """Speed and rate in the last contacts; the last one does not end."""
    with style.figure(10.0, 6.0) as fig:
        grid = fig.subplots(2, 1)
        fig.subplots_adjust(left=0.08, right=0.98, bottom=0.09, top=0.95, hspace=0.36)
        for axes, scheme in zip(grid, SCHEMES, strict=True):
            run = settling(scheme)
            last = run.events[-1]
            start = run.events["start"][max(0, len(run.events) - 16)]
            part = (run.time >= start - 1.0) & (run.time <= last["start"] + 4.0)
            t = run.time[part]
            speed = np.linalg.norm(run.velocity[part], axis=1)
            rate = np.linalg.norm(run.rate[part], axis=1)
            floor = 3e-8
            axes.semilogy(t, np.maximum(speed, floor), color=BLUE, lw=1.2, label="speed [m/s]")
            axes.semilogy(t, np.maximum(rate, floor), color=ORANGE, lw=1.2, label="rate [rad/s]")
            for k, hit in enumerate(run.events):
                end = min(hit["end"], t[-1])
                if end >= t[0]:
                    label = "in contact" if k == len(run.events) - 1 else None
                    axes.axvspan(hit["start"], end, color=BLUE, alpha=0.18, lw=0.4, label=label)
            axes.set(xlim=(t[0], t[-1]), ylim=(floor, 1.0), ylabel="speed, rate")
            axes.set_title(f"{scheme} scheme: the last contact begins at {last['start']:.2f} s")
            axes.grid(color=style.LINE, lw=0.4)
        grid[0].legend(frameon=False, loc="lower left")
        grid[1].set(xlabel="time since release [s]")
        style.save(fig, file)


# -- B4-5, figure 11: MINERVA-II-1 on 67P -------------------------------------------------------

#: Imhotep: a plain of the large lobe, south of the equator on the side away from the small one.
IMHOTEP = np.radians([-10.0, 140.0])


@dataclass(frozen=True, eq=False)
class Comet:
    """The landings at Imhotep."""

    mesh: alight.Mesh
    model: Model
    found: BatchResult
    track: Solution
    up: Any


def imhotep(mesh: alight.Mesh, runs: int = 200, seed: int = 67, device: str = "cpu") -> Comet:
    """Releases 50 m above the ground at 0.1 m/s, give or take a tenth, tumbling slowly."""
    body = alight.body("67p")
    ground = surfaces.DistanceField.from_mesh(mesh, 25.0, device="cpu")
    noise = surfaces.FractalNoise(amplitude=0.5, wavelength=10.0, octaves=5, seed=1)
    # A reduced model would fill the neck and pull 12 % too hard; fewer facets do not.
    field = gravity.Polyhedron(mesh.simplified(1280), gm=body.gm)
    start = Release.above(ground, *IMHOTEP, 50.0).position[0]
    down = -np.asarray(ground.query(start, device="cpu")[1])
    r = np.random.default_rng(seed)
    velocity = 0.1 * down + 0.01 * r.normal(size=(runs, 3))
    release = Release(start, velocity, attitudes(runs, seed), 0.1 * r.normal(size=(runs, 3)))
    model = Model(
        gravity.Linearised(field, reach=20.0),
        surfaces.Rough(ground, noise),
        alight.lander("minerva-ii-1").rigid(),
        Compliant(restitution=0.5, friction=0.6),
        rotation=flight.UniformRotation(omega=body.spin_vector),
        stop=Stop(max_time=6.0 * 3600.0, escape_radius=1e4),
    )
    found = run_batch(model, release, device=device)
    away = np.argsort(np.linalg.norm(found.position - start, axis=1))
    shown = simulate(model, release[away[3 * runs // 4]])  # farther than most, to be seen
    return Comet(mesh, model, found, shown, -down)


def draw_comet(comet: Comet, file: Path) -> None:
    """The comet, the ground about the landing with all rest sites, and how long it took."""
    latitude, longitude = IMHOTEP
    camera = Camera(longitude - 0.45, latitude + 0.35)
    with style.figure(13.0, 5.0) as fig:
        grid = fig.add_gridspec(
            2, 3, width_ratios=[1.1, 1.2, 1.0], hspace=0.5, wspace=0.24, left=0.01, right=0.985,
            bottom=0.1, top=0.93,
        )  # fmt: skip
        solid = fig.add_subplot(grid[:, 0])
        draw_solid(solid, View(comet.mesh, camera, pixels=700).picture(), comet.mesh, None)
        place = camera.project(comet.track.position[0])[:2]
        solid.plot(*place, "s", ms=9, mfc="none", mec=ORANGE, mew=1.8)
        look = {"xytext": (10, 8), "textcoords": "offset points", "fontweight": "bold"}
        solid.annotate("Imhotep", place, color="white", **look)
        solid.set_title("67P/Churyumov-Gerasimenko")
        _draw_ground(fig, fig.add_subplot(grid[:, 1]), comet)
        _draw_fall(fig.add_subplot(grid[0, 2]), comet)
        _draw_times(fig.add_subplot(grid[1, 2]), comet.found.time / 3600.0)
        style.save(fig, file)


def _draw_ground(fig: Any, axes: Any, comet: Comet) -> None:
    """The ground in slanting light, one track and all rest sites, seen from above."""
    origin = comet.track.position[0]
    turn = frames.local_frame(comet.up)
    rest = (comet.found.position - origin) @ turn
    track = (comet.track.sample(np.linspace(0.0, comet.track.time[-1], 3000))[0] - origin) @ turn
    reach = 1.08 * max(np.abs(rest[:, :2]).max(), np.abs(track[:, :2]).max())
    side = np.linspace(-reach, reach, 301)
    height = _heights(comet.model.surface, origin, turn, *np.meshgrid(side, side))
    shade = LightSource(315.0, 35.0).hillshade(height, dx=side[1] - side[0], dy=side[1] - side[0])
    box = (-reach, reach, -reach, reach)
    axes.imshow(0.45 + 0.5 * shade, cmap="gray", vmin=0.0, vmax=1.0, extent=box, origin="lower")
    hours = comet.found.time / 3600.0
    dots = axes.scatter(*rest[:, :2].T, c=hours, s=15, cmap="viridis", lw=0.3, ec="white", zorder=3)
    axes.plot(*track[:, :2].T, color=ORANGE, lw=1.6, zorder=4)
    axes.plot(0.0, 0.0, "x", color=ORANGE, mew=2, zorder=5)
    fig.colorbar(dots, ax=axes, shrink=0.8, label="time to rest [h]")
    axes.set_title("Rest sites, and one track")
    axes.set(xlabel="east of the release [m]", ylabel="north of it [m]", aspect="equal")


def _draw_fall(axes: Any, comet: Comet) -> None:
    """Height of the one track over the ground without its roughness."""
    t = np.linspace(0.0, comet.track.time[-1], 3000)
    smooth = comet.model.surface.base  # type: ignore[attr-defined]
    height, _ = smooth.query(comet.track.sample(t)[0], device="cpu")
    axes.plot(t / 60.0, height, color=ORANGE, lw=1.4)
    axes.set_title(f"That track: {len(comet.track.events)} contacts")
    axes.set(xlabel="time since release [min]", ylabel="over the ground [m]")
    axes.set_ylim(bottom=0.0)
    axes.grid(color=style.LINE, lw=0.4)


def _draw_times(axes: Any, hours: Any) -> None:
    """How long landings take, against the 3 h of the check."""
    axes.hist(hours, bins=np.linspace(0.0, 3.2, 65), color=BLUE)
    high = axes.get_xaxis_transform()
    axes.axvline(3.0, color=style.ALARM, lw=1.4)
    axes.text(2.95, 0.95, "3 h", color=style.ALARM, ha="right", va="top", transform=high)
    said = f"median {np.median(hours):.2f} h\nlongest {hours.max():.2f} h"
    axes.text(1.2, 0.95, said, va="top", transform=high)
    axes.set_title(f"{len(hours)} landings: {100 * np.mean(hours < 3.0):.0f} % within 3 h")
    axes.set(xlabel="time from release to rest [h]", ylabel="landings", xlim=(0.0, 3.2))


def _heights(surface: Any, origin: Any, turn: Any, east: Any, north: Any) -> Any:
    """Height of the ground [m] against the release, looking down."""
    flat = np.column_stack([east.ravel(), north.ravel(), np.full(east.size, 60.0)])
    for _ in range(120):
        distance, _ = surface.query(origin + flat @ turn.T, device="cpu")
        flat[:, 2] -= distance / surface.bounds.slope
    return flat[:, 2].reshape(east.shape)


# -- do the schemes agree? ----------------------------------------------------------------------

#: What is compared: the paper's springs with the paper's scheme and with clipped impulses, and
#: clipped impulses with a coefficient of restitution, at two resolutions.
VARIANTS: dict[str, Any] = {
    "smooth, k and c": lambda: law("smooth"),
    "clipped, k and c": lambda: Compliant(
        stiffness=STIFFNESS, damping=DAMPING, friction=0.6, **ROLLING
    ),
    "clipped, e": lambda: law("clipped"),
    "clipped, e, finer": lambda: law("clipped", resolution=0.1, depth=2e-4),
}


Rests = dict[str, tuple[Any, Any, Any]]


def agreement(runs: int = 400, seed: int = 40, device: str = "cpu") -> Rests:
    """Rest on rough ground in Phobos' gravity, independent draws for each variant.

    Distance from release [m], start of the last contact [s], and when rest was declared [s], which
    is infinite for a run that moves by micrometres until its steps are used up.
    """
    noise = surfaces.FractalNoise(amplitude=0.05, wavelength=2.0, octaves=4, seed=3)
    ground = surfaces.Rough(surfaces.Plane(), noise)
    g, out = REGIMES["Phobos"], {}
    for k, (name, make) in enumerate(VARIANTS.items()):
        release = Release([0.0, 0.0, 0.5], VELOCITY, attitudes(runs, seed + k), RATE)
        found = run_batch(plane_model(make(), g, surface=ground), release, device=device)
        distance = np.linalg.norm(found.position - release.position, axis=1)
        when = np.where(found.outcome == Outcome.SETTLED, found.time, np.inf)
        out[name] = distance, last_starts(found), when
    return out


def compared(found: Rests) -> dict[tuple[str, str], list[float]]:
    """p-values of two-sample Kolmogorov-Smirnov tests of each pair, one for each quantity."""
    names = list(found)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    return {
        (a, b): [float(ks_2samp(x, y).pvalue) for x, y in zip(found[a], found[b], strict=True)]
        for a, b in pairs
    }


def draw_agreement(found: Rests, file: Path) -> None:
    """Cumulative distributions of the variants, with the p-values of each pair."""
    looks = ((BLUE, "-"), (ORANGE, "-"), (GREEN, "-"), (PURPLE, "--"))
    words = {
        "Where": "distance of rest from release [m]",
        "The last contact": "its start [s]",
        "When": "rest declared [s]",
    }
    tests = compared(found)
    with style.figure(13.0, 5.6) as fig:
        row = fig.subplots(1, 3, sharey=True)
        fig.subplots_adjust(left=0.05, right=0.985, bottom=0.34, top=0.93, wspace=0.08)
        for k, (axes, (title, label)) in enumerate(zip(row, words.items(), strict=True)):
            for (name, values), (colour, dash) in zip(found.items(), looks, strict=True):
                said = f"{name}: median {np.median(values[k]):.3g}"
                _cumulative(axes, values[k], color=colour, ls=dash, label=said)
            lines = [f"{a}  –  {b}:  p = {p[k]:.2g}" for (a, b), p in tests.items()]
            axes.text(0.0, -0.17, "\n".join(lines), transform=axes.transAxes, va="top",
                      color=style.GREY, linespacing=1.5)  # fmt: skip
            axes.legend(frameon=False, loc="lower right")
            axes.grid(color=style.LINE, lw=0.4)
            axes.set_title(title)
            # A few runs take very long to be declared at rest, or for ever: the gap at the top.
            end = max(float(np.quantile(values[k], 0.97)) for values in found.values())
            axes.set(xlabel=label, xlim=(0.0, 1.3 * end))
        row[0].set(ylabel="share of throws")
        style.save(fig, file)


def main(folder: Path) -> None:
    """Every figure, in some minutes."""
    draw_throws(sample_throws(), folder / "throws.png")
    draw_regimes(regimes(), folder / "regimes.png")
    draw_energy(folder / "energy.png")
    draw_slip(folder / "slip.png")
    draw_settling(folder / "settling.png")
    draw_comet(imhotep(alight.body("67p").mesh(20_480)), folder / "comet.png")
    draw_agreement(agreement(), folder / "agreement.png")
    print(f"wrote {len(list(folder.glob('*.png')))} figures to {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/paper_004"))
