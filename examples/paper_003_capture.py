"""The capture of a tumbling asteroid with a membrane: figure 7 of paper 003, and a thousand more.

A craft of 15 t with two solar arrays comes to a pear of 1000 t that tumbles at 0.5 rpm, in a
corkscrew along its angular momentum, and thrusts against it from contact on. What the paper does
not give (the asteroid's shape, the arrays) is chosen in ``Spacecraft`` and ``pear``.

Run it with:  python examples/paper_003_capture.py [FOLDER] [RUNS]    (out/figures and 1000 if none)
"""

import sys
import time
from pathlib import Path

import numpy as np
import paper_003_capture_figures as figures

from alight.analysis.intervals import wilson
from alight.core.outcomes import counted, ending_of
from alight.engine.fleet import run_models
from alight.membrane import Captive, holding_radius, pear
from alight.motions.capture.approach import approach
from alight.motions.capture.craft import Spacecraft
from alight.motions.capture.model import Capture, CaptureRelease
from alight.motions.capture.result import CAPTURE_WORDS, ROW
from alight.motions.membrane.caught import CaughtStop
from alight.shapes import builtin

RPM = np.pi / 30.0
#: Axis of the asteroid's rate at the start, in its principal axes: near the greatest moment.
AXIS = np.array([0.3, 0.2, 0.93]) / np.linalg.norm([0.3, 0.2, 0.93])
CONTROLLERS = ("angular-momentum", "instantaneous", "corkscrew")


def figure_seven(controller="corkscrew", faces=3):
    """The capture of figure 7."""
    craft = Spacecraft()
    asteroid = Captive.from_mesh(pear(10.5, subdivisions=faces), 1e6)
    return Capture(craft.membrane(), asteroid, craft, approach(controller))


def told(name, row):
    """One line on a capture."""
    settled = f"{row['settle_s']:5.0f} s" if np.isfinite(row["settle_s"]) else "   never"
    print(
        f"{name:34s} {ending_of(row['outcome'], CAPTURE_WORDS).name:9s} at rest after {settled}, "
        f"bending {row['bending_nm']:4.0f} N m (limit / {row['margin'] + 1:.1f}), "
        f"slip {row['slip_m']:4.1f} m, axis {row['axis_deg']:3.0f} deg, "
        f"pair {row['pair_rpm']:.2f} rpm, propellant {row['propellant_kg']:.1f} kg"
    )


def film(folder):
    """Figure 7 and its loads."""
    capture = figure_seven()
    flight = capture.run(0.5 * RPM * AXIS, duration=170.0, every=0.25)
    figures.film_strip(folder / "paper_003_capture.png", capture, flight)
    told("figure 7", flight.rows[0])


def compared(folder, axes=32):
    """Friction, spin and controllers."""
    capture = figure_seven(faces=2)
    mu, turns = np.array([0.1, 0.2, 0.5, 1.0]), np.array([0.5, 1.0, 1.5, 2.0])
    options = {"duration": 170.0, "every": 0.5}
    rubbed = capture.run(0.5 * RPM * AXIS, friction=mu, **options)
    spun = capture.run(turns[:, None] * RPM * AXIS, **options)
    many = quick(turns, axes)
    figures.comparison(
        folder / "paper_003_comparison.png", mu, rubbed, turns, spun, many, capture.craft
    )
    for value, row in zip(mu, rubbed.rows, strict=True):
        told(f"friction {value:g}", row)
    for value, row in zip(turns, spun.rows, strict=True):
        told(f"{value:g} rpm", row)
        held = holding_radius(475.0, 15e3, value * RPM)
        print(f"{'':34s} 475 N hold the craft up to {held:.2f} m from the spin's axis")
    for name, rows in many.items():
        for value, part in zip(turns, rows.reshape(len(turns), -1), strict=True):
            print(
                f"{name:24s} {value:g} rpm: bending up to {part['bending_nm'].max():4.0f} N m, "
                f"{part['success'].mean():4.0%} hold"
            )


def quick(turns, axes):
    """Captures about many axes of rotation, by spin and controller."""
    rng = np.random.default_rng(3)
    axis = rng.normal(size=(axes, 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    rate = (turns[:, None, None] * RPM * axis).reshape(-1, 3)
    craft, asteroid = Spacecraft(), Captive.from_mesh(pear(8.0, subdivisions=2), 1e6)
    return {
        name: Capture(craft.membrane(), asteroid, craft, approach(name))
        .run(rate, duration=170.0)
        .rows
        for name in CONTROLLERS
    }


# -- a thousand -------------------------------------------------------------------------------


def shapes(rng):
    """24 asteroids, 5 to 11 m long: pears, eggs, and scaled shapes of real ones; 1000 t each."""
    lengths = np.linspace(5.0, 11.0, 24)
    names = ("castalia", "itokawa", "geographos", "toutatis", "bennu", "dimorphos")
    found = []
    for number in rng.permutation(24):
        if number % 2:
            mesh = builtin.find(names[(number // 2) % 6]).mesh(320)
        else:
            width = rng.uniform(0.65, 0.95)
            mesh = pear(
                1.0, width=width, thickness=width * rng.uniform(0.75, 0.98),
                taper=rng.uniform(0.0, 0.4), waist=rng.uniform(0.0, 0.15), subdivisions=2,
            )  # fmt: skip
        across = mesh.principal_axes().extent[0]
        mesh = mesh.principal_axes().scaled(lengths[len(found)] / across)
        found.append(Captive.from_mesh(mesh, 1e6))
    return found, lengths


def thousand(folder, count):
    """Dispersed captures: load percentiles and the probability of success."""
    rng = np.random.default_rng(2003)
    asteroids, lengths = shapes(rng)
    shape = np.arange(count) % len(asteroids)
    volume = np.array([body.mesh.volume for body in asteroids])[shape]
    mass = np.minimum(rng.uniform(1500.0, 3000.0, count) * volume, 1e6)
    axis = rng.normal(size=(count, 3))
    spin = rng.uniform(0.1, 0.5, count) * RPM
    rate = spin[:, None] * axis / np.linalg.norm(axis, axis=1)[:, None]
    offset, roll = rng.normal(0.0, 0.3, (count, 2)), rng.uniform(0, 2 * np.pi, count)
    craft, rubs = Spacecraft(), rng.uniform(0.1, 1.0, count)
    own = [np.flatnonzero(shape == number) for number in range(len(asteroids))]
    models, releases = [], []
    for body, runs in zip(asteroids, own, strict=True):
        way = approach("corkscrew", offset=offset[runs], roll=roll[runs])
        models.append(Capture(craft.membrane(), body, craft, way, stop=CaughtStop(180.0)))
        releases.append(CaptureRelease(rate[runs], mass=mass[runs], friction=rubs[runs]))
    begun = time.perf_counter()
    rows = np.zeros(count, dtype=ROW)
    for numbers, _, each in run_models(models, releases):
        for number, part in zip(numbers, each, strict=True):
            rows[own[number]] = part.rows
            rows["shape"][own[number]] = number
    took = time.perf_counter() - begun
    figures.campaign(folder / "paper_003_campaign.png", rows, lengths, craft)
    held = wilson(int(rows["success"].sum()), count)
    print(f"{count} captures of 180 s in {took:.0f} s")
    print(f"success {held.value:.1%} (95 %: {held.low:.1%} to {held.high:.1%})")
    for ending, runs in counted(rows["outcome"], CAPTURE_WORDS).items():
        print(f"  {runs / count:6.1%}  {ending}")
    points = (50, 90, 95, 99, 100)
    for name, unit in (("bending_nm", "N m"), ("force_n", "N"), ("slip_m", "m"), ("depth_m", "m")):
        values = ", ".join(f"{p} %: {np.percentile(rows[name], p):.4g}" for p in points)
        print(f"  {name:12s} [{unit}] {values}")


if __name__ == "__main__":
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out/figures")
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    film(out)
    compared(out, max(2, min(32, runs // 30)))
    thousand(out, runs)
    names = ("capture", "comparison", "campaign")
    print("drawn: " + ", ".join(str(out / f"paper_003_{name}.png") for name in names))
