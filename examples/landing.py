"""A landing of MINERVA-II-1 on Ryugu: how it ends, its contacts, and a figure of its trajectory.

Run it with:  python examples/landing.py [FILE]     (out/landing.png if no file is named)
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.colors import LogNorm

import alight
from alight.core import frames
from alight.views import style

BLUE, ORANGE, GREEN, PURPLE = "#1f6f9f", "#d9822b", "#3c8d5a", "#7a5195"


def make_model() -> alight.Model:
    """Ryugu with hills of 10 cm, its rotation, and ground that gives back half the speed."""
    ryugu = alight.body("ryugu")
    mesh = ryugu.mesh(5120)
    field = alight.gravity.Reduced(mesh, gm=ryugu.gm)  # coarse: 1 % of gravity on the ground
    # Distances are true to 80 m and lower bounds beyond: the figure shows heights up to 60 m.
    ground = alight.surfaces.DistanceField.from_mesh(mesh, spacing=8.0, band=80.0)
    hills = alight.surfaces.FractalNoise(amplitude=0.1, wavelength=10.0, seed=1)
    return alight.Model(
        gravity=alight.gravity.Linearised(field, reach=1.0),
        surface=alight.surfaces.Rough(ground, hills),
        lander=alight.lander("minerva-ii-1").rigid(),
        contact=alight.contact.Compliant(restitution=0.5, friction=0.6),
        rotation=alight.flight.UniformRotation(ryugu.rotation_rate),
        stop=alight.engine.Stop(max_time=24 * 3600.0, escape_radius=5000.0),
    )


def print_contacts(solution: alight.motions.Solution, most: int = 12) -> None:
    """The hardest contacts in the order in which they came."""
    events = solution.events
    hard = np.sort(np.argsort(events["normal_speed_in"])[:most])
    print(f"\nThe {len(hard)} hardest of {len(events)} contacts:")
    print(" time [s]  lasts [s]  in [cm/s]  out [cm/s]  slip [cm/s]  force [N]  points  lost [mJ]")
    for e in events[hard]:
        lost = 1e3 * (e["energy_in"] - e["energy_out"])
        speeds = [100.0 * e[name] for name in ("normal_speed_in", "normal_speed_out")]
        slip = 100.0 * e["tangential_speed_in"]
        print(
            f"{e['start']:9.1f} {e['end'] - e['start']:10.4f} {-speeds[0]:10.3f} {speeds[1]:11.3f}"
            f" {slip:12.3f} {e['peak_force']:10.3f} {e['points']:7d} {lost:10.4f}"
        )


def draw(solution: alight.motions.Solution, file: Path) -> None:
    """Height, speed, energy and the way over the ground."""
    minutes = solution.time / 60.0
    with style.figure(11.5, 7.6) as fig:
        fig.text(0.055, 0.955, "A landing of MINERVA-II-1 on Ryugu", fontsize=15, weight="bold")
        fig.text(0.055, 0.925, str(solution), color=style.GREY)
        left = fig.add_gridspec(3, 1, left=0.055, right=0.55, top=0.87, bottom=0.07, hspace=0.4)
        right = fig.add_gridspec(2, 1, left=0.62, right=0.91, top=0.87, bottom=0.07, hspace=0.36)
        course = [fig.add_subplot(left[i]) for i in range(3)]
        draw_height(course[0], solution)
        draw_speed(course[1], solution, minutes)
        draw_energy(course[2], solution, minutes)
        for axes in course:
            axes.set_xlim(0.0, minutes[-1])
        course[2].set_xlabel("time [min]")
        tracks = [fig.add_subplot(right[i]) for i in range(2)]
        draw_tracks(fig, tracks, solution)
        for axes in (*course, *tracks):
            axes.grid(color=style.LINE, linewidth=0.4)
            axes.spines[["top", "right"]].set_visible(False)
        style.save(fig, file)


def draw_height(axes, solution) -> None:
    """Height of the centre of mass, between the ends of steps too."""
    fine = np.linspace(0.0, solution.time[-1], 4000)
    place, _ = solution.sample(fine)
    height, _ = solution.model.surface.base.query(place)
    axes.plot(fine / 60.0, height, color=BLUE, linewidth=1.1)
    axes.set_title("Height above the shape model, without hills [m]")


def draw_speed(axes, solution, minutes) -> None:
    """Speed of the centre of mass and normal speed of each hit."""
    speed = 100.0 * np.linalg.norm(solution.velocity, axis=1)
    axes.plot(minutes, np.maximum(speed, 1e-3), color=BLUE, linewidth=1.1, label="speed")
    events = solution.events
    hits = -100.0 * events["normal_speed_in"]
    axes.plot(events["start"] / 60.0, np.maximum(hits, 1e-3), "o", ms=3.2, color=ORANGE,
              label="normal speed of a hit")  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(1e-3, None)
    axes.set_title("Speed relative to the ground [cm/s]")
    axes.legend(frameon=False, loc="lower left", fontsize=7.5)


def draw_energy(axes, solution, minutes) -> None:
    """E_J and its parts, from their values at rest."""
    e = solution.energy
    field = 1e3 * (e.gravity + e.centrifugal)
    parts = {
        "gravity and centrifugal": (field - field[-1], GREEN),
        "motion": (1e3 * e.linear, BLUE),
        "turning": (1e3 * (e.angular - e.angular[-1]), PURPLE),
        "$E_J$": (1e3 * (e.total - e.total[-1]), style.INK),
    }
    for name, (values, colour) in parts.items():
        width = 1.8 if name == "$E_J$" else 1.0
        axes.plot(minutes, values, color=colour, linewidth=width, label=name)
    axes.set_title("Energy above that of rest [mJ]")
    axes.legend(frameon=False, fontsize=7.5)


def draw_tracks(fig, panels, solution) -> None:
    """The way over the ground as seen from above, whole and at its end, and where it touched."""
    start, rest = solution.position[0], solution.position[-1]
    east, north, _ = frames.local_frame(rest / np.linalg.norm(rest)).T

    def flat(points):
        return (points - rest) @ east, (points - rest) @ north

    fine = np.unique(np.concatenate([solution.time, np.linspace(0.0, solution.time[-1], 4000)]))
    place, _ = solution.sample(fine)
    touched = solution.events["place"]
    speed = np.maximum(-100.0 * solution.events["normal_speed_in"], 1e-2)
    for axes in panels:
        axes.plot(*flat(place), color=style.GREY, linewidth=0.8, zorder=1)
        dots = axes.scatter(*flat(touched), c=speed, norm=LogNorm(1e-2), s=28, cmap=style.GRAVITY,
                            edgecolors="white", linewidths=0.4, zorder=3)  # fmt: skip
        axes.plot(0.0, 0.0, "*", color=style.ALARM, ms=11, zorder=4)
        axes.set_xlabel("east of rest [m]")
        axes.set_ylabel("north of rest [m]")
        axes.set_aspect("equal", adjustable="datalim")
    whole, end = panels
    whole.plot(*flat(start), "^", color=style.INK, ms=7, zorder=4)
    whole.annotate("release", flat(start), (0, -14), textcoords="offset points", ha="center")
    whole.margins(0.12)
    whole.set_title("From release to rest, from above")
    # The second half of the contacts and the rest place, in a square of a metre at least.
    late = np.hstack([flat(touched[len(touched) // 2 :]), np.zeros((2, 1))])
    middle, reach = 0.5 * (late.max(axis=1) + late.min(axis=1)), np.ptp(late, axis=1).max()
    reach = 0.6 * max(1.0, reach)
    end.set_aspect("equal", adjustable="box")
    end.set_xlim(middle[0] - 1.2 * reach, middle[0] + 1.2 * reach)
    end.set_ylim(middle[1] - reach, middle[1] + reach)
    end.set_title("The last contacts")
    bar = fig.colorbar(dots, cax=fig.add_axes((0.935, 0.25, 0.012, 0.44)))
    bar.set_label("normal speed of the contact [cm/s]")
    bar.outline.set_visible(False)


def main(file: Path) -> None:
    """Simulate, print, draw."""
    model = make_model()
    release = alight.Release.above(
        model.surface, latitude=np.radians(20.0), longitude=np.radians(40.0), height=60.0,
        velocity=(0.05, 0.03, 0.0), rate=(0.1, 0.2, 0.5),
    )  # fmt: skip
    solution = alight.simulate(model, release)
    print(solution)
    latitude, longitude = np.degrees(frames.latitude_longitude(solution.position[-1]))
    print(f"at latitude {latitude:.3f}, longitude {longitude:.3f} degrees")
    print_contacts(solution)
    draw(solution, file)
    print("\nwrote", file)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/landing.png"))
