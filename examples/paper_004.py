"""The figures of paper 004 (Van wal, Reid, Scheeres), computed again.

Run it with:  python examples/paper_004.py [FOLDER]     (out/paper_004 if no folder is named)

Each study is a function that returns what it found, and a ``draw_`` function that makes its figure.
What the paper leaves open (springs, friction, the cube, its release) is set at the top of this
file; docs/paper_004.md says which of it is assumed.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation
from scipy.stats import ks_2samp

import alight
from alight import flight, gravity, surfaces
from alight.contact import Compliant
from alight.contact.smooth import load
from alight.core import frames
from alight.engine import BatchResult, Model, Release, Solution, Steps, Stop, run_batch, simulate
from alight.engine.energy import EnergyParts, energies
from alight.vehicles import RigidLander
from alight.views import style
from alight.views.sheet import draw_solid
from alight.views.solid import Camera, View

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


def law(scheme: str, **options: Any) -> Compliant:
    """The contact of all studies of the cube; ``options`` replace its parameters."""
    given: dict[str, Any] = {"friction": 0.6, "rolling_resistance": 0.002, "scheme": scheme}
    if scheme == "smooth":
        given |= {"stiffness": STIFFNESS, "damping": DAMPING}
    else:
        given |= {"restitution": 0.6}
    return Compliant(**{**given, **options})


def plane_model(contact: Compliant, g: float, **options: Any) -> Model:
    """A cube over a plane; ``options`` are fields of ``Model``."""
    stop = Stop(max_time=1e6, settle_speed=1e-6, settle_rate=1e-5, settle_time=0.02 / g)
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
        # When the last contact began: the time asked for to call it rest is a choice of ours.
        last = np.searchsorted(found.touches["run"], np.arange(runs), side="right") - 1
        out[scheme, name] = Regime(distance, found.touches["start"][last] * g / SPEED, found)
    return out


def sample_throws(scheme: str = "smooth", seed: int = 11) -> dict[str, Solution]:
    """One throw in each gravity, all released alike."""
    q = attitudes(1, seed)
    return {
        name: simulate(plane_model(law(scheme), g), cube_release(g, q))
        for name, g in REGIMES.items()
    }


def draw_throws(throws: dict[str, Solution], file: Path) -> None:
    """All on one scale, then each on its own."""
    with style.figure(10.0, 6.0) as fig:
        grid = fig.add_gridspec(2, 3, height_ratios=[1.0, 1.15], hspace=0.42, wspace=0.28)
        axes = fig.add_subplot(grid[0, :])
        for name, run in throws.items():
            path, top = _ground_path(run)
            axes.plot(path, top, color=COLOURS[name], lw=1.4)
            axes.plot(path[-1], top[-1], "o", ms=5, color=COLOURS[name])
            far = name != "Phobos"
            axes.annotate(
                f"{name}, {REGIMES[name]:.1e} m/s²",
                (path[-1], top[-1]),
                xytext=(-6 if far else 8, 12 if far else 40),
                textcoords="offset points",
                ha="right" if far else "left",
                color=COLOURS[name],
                arrowprops=None if far else {"arrowstyle": "-", "color": COLOURS[name]},
            )
        axes.set_title("A cube thrown onto a plane in three gravities, one scale")
        axes.set(xlabel="distance along the ground [m]", ylabel="height [m]")
        axes.margins(x=0.02)
        axes.set_ylim(bottom=0.0)
        for k, (name, run) in enumerate(throws.items()):
            axes = fig.add_subplot(grid[1, k])
            path, top = _ground_path(run)
            axes.plot(path, top, color=COLOURS[name], lw=1.0)
            _draw_cubes(axes, run, COLOURS[name])
            axes.set_title(f"{name}: {run.time[-1]:,.0f} s, {len(run.events)} contacts")
            axes.set(xlabel="distance along the ground [m]", ylabel="height [m]")
            axes.set_ylim(bottom=0.0)
        style.save(fig, file)


def _ground_path(run: Solution, count: int = 4000) -> tuple[Any, Any]:
    """Length of the track over the ground and height of the centre of mass [m]."""
    t = np.union1d(np.linspace(0.0, run.time[-1], count), run.events["start"])
    x, _ = run.sample(t)
    steps = np.hypot(*np.diff(x[:, :2], axis=0).T)
    return np.concatenate([[0.0], np.cumsum(steps)]), x[:, 2]


def _draw_cubes(axes: Any, run: Solution, colour: str) -> None:
    """The cube's edges at some moments, seen across the throw; only Phobos' are large enough."""
    t = np.concatenate([np.linspace(0.0, run.time[-1] * 0.5, 9), run.time[-1:]])
    x, q = run.sample(t)
    path, top = _ground_path(run)
    all_t = np.union1d(np.linspace(0.0, run.time[-1], 4000), run.events["start"])
    corner = np.array(CUBE.points)
    pairs = [
        (i, j)
        for i in range(8)
        for j in range(i)
        if np.isclose(np.linalg.norm(corner[i] - corner[j]), 0.2)
    ]
    for time, place, attitude in zip(t, x, q, strict=True):
        turned = Rotation.from_quat(attitude).apply(corner)
        along = np.interp(time, all_t, path)
        for i, j in pairs:
            ends = turned[[i, j]]
            axes.plot(along + ends[:, 0], place[2] + ends[:, 2], color=colour, lw=0.6, alpha=0.8)


def draw_regimes(found: dict[tuple[str, str], Regime], file: Path) -> None:
    """Cumulative distributions, scaled: curves of one scheme fall on each other."""
    with style.figure(10.0, 6.2) as fig:
        grid = fig.subplots(2, 2, sharey=True)
        fig.subplots_adjust(hspace=0.42, wspace=0.08, left=0.08, right=0.98, top=0.94)
        for row, scheme in zip(grid, SCHEMES, strict=True):
            for name in REGIMES:
                one = found[scheme, name]
                for axes, value in zip(row, (one.distance, one.time), strict=True):
                    step = np.arange(1, len(value) + 1) / len(value)
                    label = f"{name}: median {np.median(value):.2f}"
                    axes.step(np.sort(value), step, color=COLOURS[name], lw=1.5, label=label)
            row[0].set_title(f"{scheme} scheme: distance")
            row[1].set_title(f"{scheme} scheme: time")
            row[0].set(xlabel="distance of rest from release, × v²/g", ylabel="share of throws")
            row[1].set(xlabel="start of the last contact, × v/g")
            for axes in row:
                axes.legend(frameon=False, loc="lower right")
                axes.grid(color=style.LINE, lw=0.4)
        style.save(fig, file)


# -- B4-2, figure 10: energy in one hit ---------------------------------------------------------


def corner_hit(scheme: str) -> tuple[Solution, Any, EnergyParts]:
    """A corner that comes in with some slip, halts, and leaves sticking: lines and energies."""
    corner = Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0]
    q = (Rotation.from_rotvec([0.15, 0.1, 0.0]) * corner).as_quat()
    options: dict[str, Any] = {"friction": 0.8, "rolling_resistance": 0.0, "slip_speed": 1e-5}
    contact = law(scheme, **options, resolution=0.02)
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
            axes.set(xlabel="time since the first touch [ms]")
            axes.text(0.5 * deepest, 1.345, "compression", color=style.GREY, ha="center")
            middle = 0.5 * (deepest + 1e3 * lasted)
            axes.text(middle, 1.345, "restitution", color=style.GREY, ha="center")
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
    q = Rotation.from_rotvec([0.004, 0.007, 0.3]).as_quat()
    contact = law("smooth", slip_speed=slip_speed, slip_rate=10.0 * slip_speed)
    stop = Stop(max_time=1.0)
    model = plane_model(contact, 5.7e-3, stop=stop, steps=Steps(tolerance=1e-8))
    run = simulate(model, Release([0, 0, 0.103], [0.012, 0.004, -0.05], q))
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
        rolling_resistance=0.0, depth=0.01,
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
    field = gravity.Reduced(mesh, body.density_of(mesh), vertices=300)
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
    return Comet(mesh, model, found, simulate(model, release[0]), -down)


def draw_comet(comet: Comet, file: Path) -> None:
    """The comet, the ground about the landing with all places of rest, and how long it took."""
    start = comet.track.position[0]
    latitude, longitude = IMHOTEP
    camera = Camera(longitude - 0.45, latitude + 0.35)
    with style.figure(13.0, 4.6) as fig:
        solid, near, times = fig.subplots(1, 3, width_ratios=[1.15, 1.15, 1.0])
        fig.subplots_adjust(left=0.01, right=0.985, bottom=0.13, top=0.9, wspace=0.22)
        draw_solid(solid, View(comet.mesh, camera, pixels=700).picture(), comet.mesh, None)
        place = camera.project(start)
        solid.plot(*place[:2], "s", ms=9, mfc="none", mec=ORANGE, mew=1.8)
        solid.annotate("Imhotep", place[:2], xytext=(10, 8), textcoords="offset points",
                       color="white", fontweight="bold")  # fmt: skip
        solid.set_title("67P/Churyumov-Gerasimenko")
        _draw_ground(fig, near, comet)
        hours = comet.found.time / 3600.0
        times.hist(hours, bins=np.linspace(0.0, 3.2, 33), color=BLUE, alpha=0.85)
        times.axvline(3.0, color=style.ALARM, lw=1.4)
        times.text(2.96, 0.97, "3 h", color=style.ALARM, ha="right", va="top",
                   transform=times.get_xaxis_transform())  # fmt: skip
        times.axvline(np.median(hours), color=BLACK, lw=1.0, ls=":")
        times.text(np.median(hours) + 0.04, 0.97, f"median {np.median(hours):.2f} h", va="top",
                   transform=times.get_xaxis_transform())  # fmt: skip
        times.set_title(f"{len(hours)} landings: {100 * np.mean(hours < 3.0):.0f} % within 3 h")
        times.set(xlabel="time from release to rest [h]", ylabel="landings")
        style.save(fig, file)


def _draw_ground(fig: Any, axes: Any, comet: Comet) -> None:
    """Contours of the ground, one track and all places of rest, east and north of the release."""
    origin = comet.track.position[0]
    turn = frames.local_frame(comet.up)
    rest = (comet.found.position - origin) @ turn
    track = (comet.track.sample(np.linspace(0.0, comet.track.time[-1], 3000))[0] - origin) @ turn
    reach = 1.08 * max(np.abs(rest[:, :2]).max(), np.abs(track[:, :2]).max())
    side = np.linspace(-reach, reach, 121)
    east, north = np.meshgrid(side, side)
    height = _heights(comet.model.surface, origin, turn, east, north)
    axes.contourf(east, north, height, 24, cmap="Greys_r", alpha=0.75)
    lines = axes.contour(east, north, height, 8, colors=style.INK, linewidths=0.4)
    axes.clabel(lines, fontsize=6, fmt="%.0f m")
    dots = axes.scatter(*rest[:, :2].T, c=comet.found.time / 3600.0, s=14, cmap="viridis",
                        edgecolors="white", linewidths=0.3, zorder=3)  # fmt: skip
    axes.plot(*track[:, :2].T, color=ORANGE, lw=1.4, zorder=4)
    axes.plot(0.0, 0.0, "x", color=ORANGE, mew=2, zorder=5)
    fig.colorbar(dots, ax=axes, shrink=0.85, label="time to rest [h]")
    axes.set_title("Places of rest and one track")
    axes.set(xlabel="east of the release [m]", ylabel="north [m]", aspect="equal")


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
        stiffness=STIFFNESS, damping=DAMPING, friction=0.6, rolling_resistance=0.002
    ),
    "clipped, e": lambda: law("clipped"),
    "clipped, e, finer": lambda: law("clipped", resolution=0.1, depth=2e-4),
}


def agreement(runs: int = 400, seed: int = 40, device: str = "cpu") -> dict[str, tuple[Any, Any]]:
    """Distance [m] and time [s] of rest on rough ground in Phobos' gravity, independent draws."""
    noise = surfaces.FractalNoise(amplitude=0.05, wavelength=2.0, octaves=4, seed=3)
    ground = surfaces.Rough(surfaces.Plane(), noise)
    g, out = REGIMES["Phobos"], {}
    for k, (name, make) in enumerate(VARIANTS.items()):
        release = Release([0.0, 0.0, 0.5], VELOCITY, attitudes(runs, seed + k), RATE)
        found = run_batch(plane_model(make(), g, surface=ground), release, device=device)
        distance = np.linalg.norm(found.position - release.position, axis=1)
        out[name] = distance, found.time
    return out


def compared(found: dict[str, tuple[Any, Any]]) -> dict[tuple[str, str], tuple[float, float]]:
    """p-values of two-sample Kolmogorov-Smirnov tests of each pair: distance and time."""
    names = list(found)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    return {
        (a, b): tuple(
            float(ks_2samp(x, y).pvalue) for x, y in zip(found[a], found[b], strict=True)
        )  # type: ignore[misc]
        for a, b in pairs
    }


def draw_agreement(found: dict[str, tuple[Any, Any]], file: Path) -> None:
    """Cumulative distributions of the four variants, with the p-values of each pair."""
    looks = {name: look for name, look in zip(VARIANTS, (
        (BLUE, "-"), (ORANGE, "-"), (GREEN, "-"), (PURPLE, "--")), strict=True)}  # fmt: skip
    with style.figure(11.0, 4.6) as fig:
        both = fig.subplots(1, 2, sharey=True)
        fig.subplots_adjust(left=0.07, right=0.98, bottom=0.13, top=0.91, wspace=0.06)
        for k, axes in enumerate(both):
            for name, values in found.items():
                value = np.sort(values[k])
                colour, dash = looks[name]
                axes.step(value, np.arange(1, len(value) + 1) / len(value), color=colour, ls=dash,
                          lw=1.5, label=f"{name}: median {np.median(value):.3g}")  # fmt: skip
            pairs = compared(found).items()
            text = "\n".join(f"{a}  |  {b}:  p = {p[k]:.2g}" for (a, b), p in pairs)
            axes.text(0.98, 0.42, text, transform=axes.transAxes, ha="right", fontsize=6.5,
                      color=style.GREY)  # fmt: skip
            axes.legend(frameon=False, loc="lower right", fontsize=8)
            axes.grid(color=style.LINE, lw=0.4)
        both[0].set_title("Where a cube rests on rough ground")
        both[0].set(xlabel="distance from release [m]", ylabel="share of throws")
        both[1].set_title("When")
        both[1].set(xlabel="time from release to rest [s]")
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
