"""Side by side with other engines: the same cube on the same plane at 1e-4 m/s^2, to rest.

``python -m benchmarks.peers`` runs this part alone; ``--json`` keeps its rows for another page.
"""

import argparse
import dataclasses
import functools
import importlib
import json
import pathlib
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from alight.core.devices import Device, resolve
from benchmarks import machine, peers_alight, peers_cube, peers_mujoco, peers_runs, peers_warp
from benchmarks.peers_mujoco import Setting

TITLE = "Side by side"

NOTES = """\
A uniform cube of 0.2 m and 1 kg comes down on a plane at 1 cm/s, in any attitude, and is followed
to rest at 1e-4 m/s^2; restitution 0.5, friction 0.6, no rolling resistance.
[docs/explanation/peers.md](../docs/explanation/peers.md) says how other engines were asked for
that, and what it shows.

First table: restitution of single hits of a corner, sixteen that meet the ground at different
parts of a step: mean and largest error. Oblique hits, of a ball at 1 cm/s: restitution, and the
slip lost over what it should lose; it should stick at twice that slip, and slide at four times.
Second table: mean energy that 200 cubes have left after a time. Third table: landings. *apart* is
how unlike times and distances to rest are to those of `Impulse`, as Kolmogorov-Smirnov statistics
over the value that chance exceeds once in a thousand. A time in brackets is of landings that are
not the same (above 1), or of which some did not come to rest. *gain* is the most energy won from
one flight to a later one, as a part of that at release. Times on one core are its own time (100
landings of other engines, 2 000 of Alight), those of a GPU wall time of a batch to the last
landing; the quiet time in which rest shows does not count. Last table: how far a cube moves along
a slope on which it lies, in 1e4 s. Alight ends such a run when the ground holds the cube, and
lets it go again, ten times.
"""

#: Landings compared and timed: of Alight, of MuJoCo on one core, on a GPU.
OURS, THEIRS, GPU = 2000, 100, 65_536
#: Landings whose energy is compared, and frictions with which.
SOME, FRICTIONS = 200, (0.0, peers_cube.FRICTION)
#: Landings whose first touch is compared with the exact one.
FIRST = 32
#: Seconds after which a batch on a GPU is given up.
PATIENCE = 90.0


@dataclasses.dataclass(frozen=True)
class PeerRow:
    """One line of one of the tables."""

    table: str
    """``"hits"``, ``"energies"``, ``"landings"`` or ``"drift"``."""
    cells: dict[str, str]
    """What stands in each column."""
    right: bool = True
    """False where Alight is wrong, or the problem is not the same."""


@dataclasses.dataclass(frozen=True)
class Engine:
    """Another engine with fixed steps."""

    name: str
    batch: Callable[..., Any]
    landings: tuple[Setting, ...]
    count: int
    device: str = "cpu"
    limit: float = np.inf


SPRING, DAMPER = functools.partial(Setting.spring, 1e-2), Setting.damper


def engines(device: Device) -> tuple[list[Engine], list[str]]:
    """Those that can be run here, and lines that say what cannot, and why."""
    found, absent = [], []
    mujoco = _module("mujoco")
    if mujoco is None:
        return [], ["MuJoCo and MuJoCo Warp were not run: `mujoco` is not installed."]
    plain = functools.partial(peers_mujoco.Batch, mujoco)
    steps = (DAMPER(0.05), DAMPER(0.01), SPRING(0.4), SPRING(0.2), SPRING(0.1),
             SPRING(0.2, integrator="RK4"), SPRING(0.2, noslip=5))  # fmt: skip
    found.append(Engine(f"MuJoCo {mujoco.__version__}, 1 core", plain, steps, THEIRS))
    warp = _module("mujoco_warp")
    if warp is None:
        absent.append("MuJoCo Warp was not run: `mujoco-warp` is not installed.")
    elif device.is_cpu:
        absent.append("MuJoCo Warp was not run: there is no GPU.")
    else:
        name = f"MuJoCo Warp {machine.version('mujoco-warp')}, {device.label}"
        many = functools.partial(peers_warp.Batch, mujoco, warp, device.name)
        found.append(Engine(name, many, (DAMPER(0.05), SPRING(0.2), SPRING(0.1)), GPU,
                            device.name, PATIENCE))  # fmt: skip
    return found, absent


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def rows(device: Device, repeats: int = 3) -> list[PeerRow]:
    """Every line of the tables, and one for each engine that could not be run."""
    return list(each_row(device, repeats))


def each_row(device: Device, repeats: int, gpu_only: bool = False) -> Iterator[PeerRow]:
    """The same, one after the other."""
    others, absent = engines(device)
    if gpu_only:
        others = [engine for engine in others if engine.device != "cpu"]
    places = [device.name] if gpu_only or device.is_cpu else ["cpu", device.name]
    yield from (PeerRow("absent", {"": line}) for line in absent)
    yield from single_hits(places[0], others)
    yield from energies(places[0], others)
    yield from landings(places, others, repeats)
    yield from drifts(places[0], others)


def landings(places: list[str], others: Iterable[Engine], repeats: int) -> Iterator[PeerRow]:
    """Landings to rest: time, and whether they are the same landings."""
    print("  Alight: landings", flush=True)
    states = peers_cube.releases(OURS, seed=18)
    reference = peers_alight.landed("Impulse", states, places[0], repeats=1)
    for law in peers_alight.LAWS:
        for place in places:
            yield our_landings(law, place, reference, repeats)
    for engine in others:
        for setting in engine.landings:
            print(f"  {engine.name}, {setting.words}: landings", flush=True)
            yield their_landings(engine, setting, reference)


def our_landings(law: str, place: str, reference: peers_cube.Landed, repeats: int) -> PeerRow:
    """Alight: what differs from the reference, or touches at another time, is wrong."""
    states = peers_cube.releases(OURS if place == "cpu" else GPU)
    found = peers_alight.landed(law, states, place, repeats)
    late = float(np.abs(found.first[:FIRST] - peers_cube.first_touch(states[:FIRST])).max())
    same = max(peers_cube.apart(found, reference)) < 1.0 and found.settled == 1.0
    where = "1 core" if place == "cpu" else resolve(place).label
    return landing_row(
        f"Alight, {law}, {where}", "float64", found, reference, same and late < TOUCH[law]
    )


def their_landings(engine: Engine, setting: Setting, reference: peers_cube.Landed) -> PeerRow:
    """Another engine: a first contact at another time would be another problem."""
    states = peers_cube.releases(engine.count)
    late = peers_runs.first_contacts(engine.batch(setting, states[:FIRST]), states[:FIRST])
    batch = engine.batch(setting, states)
    found = peers_runs.landed(batch, limit=engine.limit)
    right = bool(np.all((late > -0.2) & (late < 1.2)))
    name = f"{engine.name}, {setting.words}"
    return landing_row(name, batch.precision, found, reference, right)


#: How late a touch may be noticed [s]: rigid, to rounding; springs, a fraction of a dent later.
TOUCH = {"Impulse": 1e-9, "Compliant": 1e-2}


def landing_row(
    name: str,
    precision: str,
    found: peers_cube.Landed,
    reference: peers_cube.Landed,
    right: bool,
) -> PeerRow:
    """A line of the first table."""
    away, rest = peers_cube.apart(found, reference)
    energy = float(peers_cube.energy(peers_cube.releases(64)).max())
    cost = f"{1e3 * found.seconds:.3g}"
    alike = max(away, rest) < 1.0 and found.settled == 1.0
    cells = {
        "engine": name,
        "numbers": precision,
        "ms a landing": cost if alike else f"({cost})",
        "at rest": f"{100.0 * found.settled:.4g} %",
        "time to rest [s]": f"{np.nanmedian(found.rest):.0f}",
        "distance [m]": f"{np.median(found.away):.2f}",
        "apart: time, distance": f"{rest:.2f}, {away:.2f}",
        "gain": f"{max(0.0, found.gain.max()) / energy:.1e}",
    }
    return PeerRow("landings", cells, right)


def single_hits(place: str, others: Iterable[Engine]) -> Iterator[PeerRow]:
    """Restitution got, straight at four speeds and oblique at two slips."""
    print("  single hits", flush=True)
    for law in peers_alight.LAWS:
        found = {hit[:2]: peers_alight.struck(law, *hit, place) for hit in HITS}
        right = all(abs(got[:, 0] - 0.5).max() < 1e-3 for got in found.values())
        yield hit_row(f"Alight, {law}", found, right)
    for engine in others:
        for name, kind in SETTINGS.items():
            found = {hit[:2]: their_hit(engine, kind(hit[0]), *hit) for hit in HITS}
            yield hit_row(f"{engine.name}, {name}", found, True)


def their_hit(engine: Engine, setting: Setting, speed: float, slip: float, pose: str) -> np.ndarray:
    """Hits of another engine, which meet the ground at sixteen parts of a step."""
    gaps = speed * setting.step * (2.0 + np.arange(16) / 16.0)
    states = peers_cube.hits(speed, slip, gaps, pose)
    if pose == "ball":
        return peers_runs.struck(engine.batch(setting, states, body=pose), peers_runs.ball_lowest)
    return peers_runs.struck(engine.batch(setting, states))


#: Speed [m/s], slip over speed, and what comes down.
HITS = [(speed, 0.0, "corner") for speed in peers_cube.SPEEDS] + [
    (1e-2, slip, "ball") for slip in peers_cube.SLIPS
]


#: How other engines are set for a hit at a speed [m/s].
SETTINGS: dict[str, Callable[[float], Setting]] = {
    "damper, 50 ms": lambda speed: DAMPER(0.05),
    "spring for a dent of 1 mm": lambda speed: Setting.spring(max(speed, 1e-2), 0.1),
}


def hit_row(name: str, found: dict[tuple[float, float], np.ndarray], right: bool) -> PeerRow:
    """A line of the second table."""
    cells = {"engine": name}
    for (speed, slip), got in found.items():
        worst = float(np.abs(got[:, 0] - peers_cube.RESTITUTION).max())
        if slip == 0.0:
            cells[f"{1e3 * speed:g} mm/s"] = f"{got[:, 0].mean():.4f} (±{worst:.1e})"
        else:
            back, friction = got.mean(axis=0)
            cells[f"slip {slip:g} x: back, friction"] = f"{back:.3f}, {friction:.3f}"
    return PeerRow("hits", cells, right)


def energies(place: str, others: Iterable[Engine]) -> Iterator[PeerRow]:
    """Energy left without friction, where engines must agree, and with it."""
    print("  energy left", flush=True)
    states = peers_cube.releases(SOME)
    for law in peers_alight.LAWS:
        found = [peers_alight.kept(law, states, friction, place) for friction in FRICTIONS]
        yield energy_row(f"Alight, {law}", found)
    for engine in others:
        for setting in (DAMPER(0.05), SPRING(0.1)):
            given = [dataclasses.replace(setting, friction=friction) for friction in FRICTIONS]
            found = [peers_runs.kept(engine.batch(one, states)) for one in given]
            yield energy_row(f"{engine.name}, {setting.words}", found)


def energy_row(name: str, found: list[list[float]]) -> PeerRow:
    """A line of the table of energies."""
    cells = {"engine": name}
    start = float(peers_cube.energy(peers_cube.releases(SOME)).mean())
    for friction, left in zip(FRICTIONS, found, strict=True):
        for at, energy in zip(peers_cube.LEFT_AT, left, strict=True):
            cells[f"friction {friction:g}, {at:g} s"] = f"{100.0 * energy / start:.1f} %"
    return PeerRow("energies", cells)


def drifts(place: str, others: Iterable[Engine]) -> Iterator[PeerRow]:
    """How far a cube moves that lies on a slope."""
    print("  drift at rest", flush=True)
    for law in peers_alight.LAWS:
        moved = [peers_alight.lain(law, degrees, place) for degrees in peers_cube.SLOPES]
        yield drift_row(f"Alight, {law} (let go ten times)", moved, max(moved) < 1e-6)
    flat = peers_cube.hits(0.0, 0.0, np.zeros(len(peers_cube.SLOPES)), "face")
    pulls = np.array([peers_cube.slope(degrees) for degrees in peers_cube.SLOPES])
    for engine in others:
        for setting in (DAMPER(0.05), SPRING(0.2)):
            print(f"  {engine.name}, {setting.words}: drift", flush=True)
            moved = peers_runs.lain(engine.batch(setting, flat, pulls))
            yield drift_row(f"{engine.name}, {setting.words}", list(moved), True)


def drift_row(name: str, moved: list[float], right: bool) -> PeerRow:
    """A line of the third table."""
    cells = {"engine": name}
    for degrees, far in zip(peers_cube.SLOPES, moved, strict=True):
        cells[f"{degrees:g} deg [m]"] = f"{far:.1e}"
    return PeerRow("drift", cells, right)


def markdown_of(found: Iterable[PeerRow]) -> str:
    """The tables, one after the other, and what could not be run."""
    found, parts = list(found), []
    for table in ("hits", "energies", "landings", "drift"):
        lines = [row for row in found if row.table == table]
        if lines:
            names = list(lines[0].cells)
            text = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
            text += [
                "| " + " | ".join(row.cells.values()) + " |" + ("" if row.right else " WRONG")
                for row in lines
            ]
            parts.append("\n".join(text) + "\n")
    parts += [row.cells[""] + "\n" for row in found if row.table == "absent"]
    return "\n".join(parts)


def page(device: Device, found: Iterable[PeerRow]) -> str:
    """The section of this machine."""
    head = f"## {machine.label(device)}\n\n{machine.versions()}\n\n### {TITLE}\n\n{NOTES}\n"
    return head + markdown_of(found)


def main() -> int:
    """Measure, print and keep what was found so far; 1 where a result is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda:0, ...")
    parser.add_argument("--repeats", type=int, default=3, help="timings of which the median counts")
    parser.add_argument("--out", type=pathlib.Path, help="a folder for peers.md and peers.json")
    parser.add_argument("--gpu-only", action="store_true", help="leave out what runs on a core")
    options = parser.parse_args()
    device, found = resolve(options.device), []
    for row in each_row(device, options.repeats, options.gpu_only and device.is_gpu):
        found.append(row)
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / "peers.md").write_text(page(device, found))
            told = [dataclasses.asdict(row) for row in found]
            (options.out / "peers.json").write_text(json.dumps(told, indent=1))
    print(page(device, found))
    return 0 if all(row.right for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
