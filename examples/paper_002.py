"""The landing of paper 002 (section 5): crushable legs and swinging liquid on an asteroid.

Toso, Pennestri and Rossi give the lander (``vehicles.dcap``), its attitude at the touch (10 deg,
leg 3 first) and its height (2.4 m). They give neither gravity nor ground: here Phobos-like gravity
of 5.7e-3 m/s^2 on a sphere of 11.1 km, Hertz's k = 1e5 N/m^1.5, c = 200 N s/m and friction 0.05.
With that friction the peak rate is the paper's 0.43 rad/s; with 0.2 it is 0.38, and with 0.4 the
lander tips over.

Run it with:  python examples/paper_002.py [FOLDER]   (out/paper_002 if none)
"""

import sys
from pathlib import Path

import numpy as np

from alight.contact.hertz import Hertz
from alight.core import frames
from alight.engine import simulate
from alight.gravity import PointMass, Uniform
from alight.motions import TreeModel, TreeRelease, TreeSolution, TreeSteps, TreeStop
from alight.surfaces import Plane, Sphere
from alight.vehicles import dcap_lander
from alight.views import style

RADIUS, GRAVITY = 11_100.0, 5.7e-3  # [m], [m/s^2]
TILT, HEIGHT, SPEED = np.radians(10.0), 2.4, 0.955  # [rad], [m], [m/s]
GROUND = {"stiffness": 1e5, "damping": 200.0, "friction": 0.05}
LEGS = ("leg 1", "leg 2", "leg 3")
COLOURS = ("#2a6f97", "#e09f3e", "#9e2a2b")


def landing(
    flat: bool = False,
    friction: float = GROUND["friction"],
    leg_mass: float = 5.0,
    stop: TreeStop | None = None,
    steps: TreeSteps | None = None,
) -> tuple[TreeModel, TreeRelease]:
    """The model and its release; ``flat``: a plane in uniform gravity, as in the paper's Adams."""
    lander = dcap_lander(leg_mass=leg_mass)
    gravity = Uniform((0.0, -GRAVITY, 0.0)) if flat else PointMass(GRAVITY * RADIUS**2)
    ground = Plane(normal=(0.0, 1.0, 0.0)) if flat else Sphere(radius=RADIUS)
    model = TreeModel(
        *(lander.tree, lander.devices, gravity, ground),
        Hertz(**{**GROUND, "friction": friction}),
        stop=stop or TreeStop(max_time=200.0),
        steps=steps or TreeSteps(),
        up=(0.0, 1.0, 0.0),
    )
    turn = frames.quat_from_axis_angle((0.0, 0.0, 1.0), TILT)
    place = (0.0, HEIGHT + (0.0 if flat else RADIUS), 0.0)
    return model, TreeRelease.of(lander.tree, place, (0.0, -SPEED, 0.0), turn)


def strokes(found: TreeSolution) -> np.ndarray:
    """(n, 3) compression of the legs [m]."""
    tree = found.model.tree
    return np.stack([found.q[:, tree.q_slices[leg].start] for leg in LEGS], axis=1)


def leg_forces(found: TreeSolution) -> np.ndarray:
    """(n, 3) push along each leg on the body [N]: what its joint carries along its axis."""
    tree = found.model.tree
    return np.stack([-found.joint_force[:, tree.index(leg), 1] for leg in LEGS], axis=1)


def rates(found: TreeSolution) -> np.ndarray:
    """(n, 3) of the body, in its axes [rad/s]."""
    return found.bodies.rate[:, 0]


def draw(found: TreeSolution, file: Path, until: float) -> None:
    """The paper's figures 9 to 12 and, as in its figure 5, steps and orders."""
    t, kept = found.time, found.time <= until
    speed = np.linalg.norm(found.velocity, axis=1)
    spin = np.linalg.norm(rates(found), axis=1)
    push = np.linalg.norm(found.acceleration, axis=1)
    turn = np.linalg.norm(found.turning, axis=1)
    with style.figure(12.0, 9.6) as fig:
        grid = fig.add_gridspec(4, 2)
        cells = {}
        names = ("speed", "force", "rate", "stroke", "a", "pad", "step", "slosh")
        for k, name in enumerate(names):
            share = cells.get("speed")
            cells[name] = fig.add_subplot(grid[k // 2, k % 2], sharex=share)
        lines(cells["speed"], t, [speed], [""], "m/s", "Speed of the centre of mass (Fig. 11)")
        mark(cells["speed"], 0.96, "paper: 0.96 m/s")
        lines(cells["rate"], t, [spin], [""], "rad/s", "Rate of the body (Fig. 11)")
        mark(cells["rate"], 0.43, "paper: 0.43 (read as rad/s)")
        kinds, title = ["linear [m/s²]", "angular [rad/s²]"], "Accelerations of the body (Fig. 10)"
        lines(cells["a"], t, [push, turn], kinds, "", title)
        mark(cells["a"], 2.5, "paper: below 2.5 m/s²")
        lines(cells["force"], t, leg_forces(found).T, LEGS, "N", "Force along the legs (Fig. 9)")
        mark(cells["force"], 400.0, "crush force")
        short = 100.0 * strokes(found).T
        lines(cells["stroke"], t, short, LEGS, "cm", "Stroke of the legs (Fig. 9)")
        mark(cells["stroke"], 20.0, "limit")
        pads, swing = found.pad_normal_force.T, np.degrees(slosh_angles(found)).T
        lines(cells["pad"], t, pads, LEGS, "N", "Normal force on the pads (Fig. 12)")
        lines(cells["slosh"], t, swing, ["about x", "about z"], "deg", "Swing of the liquid")
        steps_and_orders(cells["step"], found, kept)
        for name, axes in cells.items():
            axes.set_xlim(0.0, until)
            axes.spines[["top", "right"]].set_visible(name == "step")
            axes.tick_params(labelbottom=name in ("step", "slosh"))
            if name in ("step", "slosh"):
                axes.set_xlabel("time [s]")
            for switch in found.time[1:][np.diff(found.levels[:, 0]) > 0]:
                axes.axvline(switch, color=style.GREY, lw=0.6, ls=":", zorder=0)
        fig.text(0.065, 0.012, caption(found), color=style.GREY)
        fig.subplots_adjust(
            left=0.065, right=0.965, bottom=0.085, top=0.965, hspace=0.3, wspace=0.24
        )
        style.save(fig, file)


def slosh_angles(found: TreeSolution) -> np.ndarray:
    """(n, 2) angles of the two hinges of the liquid [rad]: about the lander's x and z axes."""
    tree = found.model.tree
    hinges = {}
    for name in ("liquid cross", "liquid"):
        axis = np.abs(np.asarray(tree.joints[tree.index(name)].axis))
        hinges[int(np.argmax(axis))] = found.q[:, tree.q_slices[name].start]
    return np.stack([hinges[0], hinges[2]], axis=1)


def lines(axes, t, rows, names, unit, title=""):
    """Curves over time."""
    colours = COLOURS if len(rows) == 3 else (style.GRAVITY(0.35), COLOURS[1])
    for row, name, colour in zip(rows, names, colours, strict=False):
        axes.plot(t, row, color=colour, lw=1.3, label=name)
    axes.set_ylabel(f"[{unit}]" if unit else "")
    axes.set_title(title, loc="left")
    if names[0]:
        axes.legend(frameon=False, loc="upper right", ncols=len(rows), fontsize="small")


def mark(axes, value, text):
    """A level that the paper names."""
    axes.axhline(value, color=style.ALARM, lw=0.8, ls="--", zorder=0)
    low, high = axes.get_ylim()
    axes.set_ylim(low, max(high, 1.28 * value))
    axes.annotate(text, (0.985, value), xycoords=("axes fraction", "data"), ha="right", va="bottom",
                  color=style.ALARM, fontsize="small")  # fmt: skip


def steps_and_orders(axes, found, kept):
    """Size and order of each step."""
    axes.plot(found.time[kept][1:], found.step[kept][1:], color=style.GRAVITY(0.35), lw=0.9)
    axes.set(yscale="log", ylabel="step [s]")
    axes.set_title("Steps (line) and orders (dots) of the Adams method", loc="left")
    other = axes.twinx()
    other.plot(found.time[kept], found.order[kept], ".", color=COLOURS[1], ms=2.2)
    other.set(ylim=(0, 13), yticks=(1, 4, 8, 12), ylabel="order")
    other.spines["top"].set_visible(False)
    axes.spines["top"].set_visible(False)


def caption(found: TreeSolution) -> str:
    """What happened, in a line."""
    p = found.peaks
    first = found.events["start"][0]
    return (
        f"First touch (leg 3) at {first:.2f} s, thrusters from then on. Peaks: "
        f"{p.speed[0]:.3f} m/s, {p.rate[0]:.3f} rad/s, {p.acceleration[0]:.2f} m/s²; strokes "
        f"{', '.join(f'{100 * s:.1f}' for s in p.stroke[0])} cm. It {found.outcome} "
        f"({found.time[-1]:.0f} s)."
    )


def main(folder: Path) -> None:
    """Land, tell and draw."""
    found = simulate(*landing())
    print(found)
    p = found.peaks
    print(f"peak speed {p.speed[0]:.4f} m/s, rate {p.rate[0]:.4f} rad/s, ", end="")
    print(f"acceleration {p.acceleration[0]:.3f} m/s^2, tilt {np.degrees(p.tilt[0]):.1f} deg")
    print(f"strokes {np.round(p.stroke[0], 4)} m, pads {np.round(p.pad_force[0])} N")
    print(f"slosh {np.degrees(p.slosh[0, 0]):.2f} deg, {len(found.lines) - 1} steps")
    draw(found, folder / "touchdown.png", until=4.0)
    print(f"wrote {folder / 'touchdown.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/paper_002"))
