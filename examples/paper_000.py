"""The landings of paper 000 (Van wal, Scheeres, Tardivel) on Itokawa, computed again.

Run it with:  python examples/paper_000.py [FOLDER] [RUNS]     (out/paper_000, 200 runs each)

Each study is a function that returns what it found; paper_000_figures.py draws it. Collisions alone
are in paper_000_impacts.py. The paper gives no numbers for its landings: all are set here, and
docs/explanation/paper_000.md says what is assumed and what was found.
"""

import functools
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from alight.campaign import sample
from alight.contact import Impulse
from alight.core.outcomes import Outcome
from alight.engine import BatchResult, Stop, run_batch, simulate
from alight.motions import Model, Release, Solution
from alight.scenario import load, prepare, shipped_scenarios
from alight.shapes import Mesh
from alight.surfaces import Facets, Rocks, Rocky, Surface
from alight.vehicles import RigidLander

HOUR = 3600.0
#: Assumed: restitution, friction, and the mass [kg] and volume [m^3] of every lander.
RESTITUTION, FRICTION, MASS, VOLUME = 0.65, 0.55, 1.0, 1e-3
#: Rolling resistance [m]: with the first a ball comes to rest too, with the second also a cube that
#: is caught between rocks on two opposite corners and turns about them. All else is run without.
ROLLING, SLIGHT = 5e-3, 1e-3
#: What has not come to rest by then has not at all [s]: without and with rolling resistance.
LIMIT, LONG_LIMIT = 8.0 * HOUR, 24.0 * HOUR
#: Rocks: share of the ground covered; their sizes [m]; the seed.
COVERS = {"none": 0.0, "sparse": 0.1, "dense": 0.5}
SIZES, ROCK_SEED = (0.3, 20.0), 1
#: The run of the campaign whose landing is drawn.
SHOWN = 27


@functools.cache
def itokawa() -> tuple[Model, Mesh]:
    """The shipped scenario ``itokawa_cube``: 20 480 facets of the built-in shape, their gravity."""
    scenario = load(shipped_scenarios.find("itokawa_cube").path)
    model = prepare(scenario, "cpu").nominal().model
    assert isinstance(model.surface, Facets)
    return model, model.surface.mesh


def releases(runs: int) -> Release:
    """Its first ``runs`` releases: 50 to 100 m over 0° N 90° E, 5 cm/s within 30° of straight down,
    any attitude, up to 0.1 rad/s. Landers of every shape, on every ground, have the same.
    """
    scenario = load(shipped_scenarios.find("itokawa_cube").path)
    (group,) = prepare(scenario, "cpu").groups(sample(scenario, np.arange(runs)))
    return group.release


def model(
    lander: RigidLander, rolling: float = 0.0, ground: Surface | None = None, limit: float = LIMIT
) -> Model:
    """A lander, rolling resistance [m] and ground in the place of the scenario's own."""
    nominal, _ = itokawa()
    return replace(
        nominal,
        lander=lander,
        # What resists rolling touches with a patch, which resists spinning: a point would spin on.
        contact=Impulse(RESTITUTION, FRICTION, rolling_resistance=rolling, patch_radius=rolling),
        surface=nominal.surface if ground is None else ground,
        # Eight hours of rolling are 150 000 steps, and 300 000 at most.
        stop=Stop(limit, nominal.stop.escape_radius, max_steps=2_000_000),
    )


# -- shapes (figure 6) ---------------------------------------------------------------------------


def shapes() -> dict[str, RigidLander]:
    """Five landers of 1 kg and 1 litre."""
    side = VOLUME ** (1.0 / 3.0)
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=float)
    faces = [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]
    size = (VOLUME / Mesh(corners, faces).volume) ** (1.0 / 3.0)
    four = Mesh(size * corners, faces)
    return {
        "cube": RigidLander.cube(side, MASS),
        "plate": RigidLander.box((2.0 * side, 2.0 * side, side / 4.0), MASS, name="plate"),
        "rod": RigidLander.box((side / 2.0, side / 2.0, 4.0 * side), MASS, name="rod"),
        "tetrahedron": RigidLander.from_mesh(
            four, mass=MASS, points=four.vertices, name="tetrahedron"
        ),
        "sphere": RigidLander.sphere((6.0 * VOLUME / np.pi) ** (1.0 / 3.0), MASS),
    }


@dataclass(frozen=True, eq=False)
class Landings:
    """Many landings of one lander on one ground."""

    model: Model
    release: Release
    found: BatchResult

    @property
    def hours(self) -> Any:
        """(n,) time to rest [h]; infinite for what did not come to rest."""
        at_rest = self.found.outcome == Outcome.SETTLED
        return np.where(at_rest, self.found.time / HOUR, np.inf)

    @property
    def rest(self) -> Any:
        """(m, 3) places of those at rest [m]."""
        return self.found.position[self.found.outcome == Outcome.SETTLED]

    @property
    def moved(self) -> Any:
        """(m,) distance of the rest site from that of release, of those at rest [m]."""
        at_rest = self.found.outcome == Outcome.SETTLED
        way = self.found.position - self.release.position
        return np.linalg.norm(way[at_rest], axis=1)

    @property
    def spread(self) -> float:
        """Root mean square distance from the mean rest site [m]."""
        return spread_of(self.rest)

    @property
    def spread_error(self) -> float:
        """Its standard error [m], from 300 resamplings."""
        rng, rest = np.random.default_rng(0), self.rest
        again = rng.integers(len(rest), size=(300, len(rest)))
        return float(np.std([spread_of(rest[rows]) for rows in again]))

    @property
    def median_error(self) -> float:
        """Standard error of the median time to rest [h], likewise."""
        rng, hours = np.random.default_rng(0), self.hours
        return float(np.std(np.median(rng.choice(hours, (300, len(hours))), axis=1)))

    def told(self) -> str:
        """How they ended, in a line."""
        ends = ", ".join(f"{n} {k.name}" for k, n in self.found.count().items())
        if not len(self.rest):
            return ends
        low, middle, high = np.quantile(self.hours[np.isfinite(self.hours)], [0.05, 0.5, 0.95])
        return (
            f"{ends}; rest after {middle:.2f} h (5 to 95 %: {low:.2f} to {high:.2f} h), spread "
            f"{self.spread:.1f} ± {self.spread_error:.1f} m, moved {np.median(self.moved):.0f} m, "
            f"{np.median(self.found.bounces):.0f} contacts"
        )

    def lost(self) -> dict[str, list[int]]:
        """Runs that did not come to rest, by how they ended: repeat one with ``release[run]``."""
        codes = self.found.outcome
        ends = [k for k in self.found.count() if k is not Outcome.SETTLED]
        return {k.name: np.flatnonzero(codes == int(k)).tolist() for k in ends}


def spread_of(places: Any) -> float:
    """Root mean square distance of (n, 3) places from their mean [m]; NaN of none."""
    if not len(places):
        return float("nan")
    return float(np.sqrt(((places - places.mean(axis=0)) ** 2).sum(axis=1).mean()))


def land(given: Model, runs: int, device: str = "cpu") -> Landings:
    """Carry the first ``runs`` releases to rest; the contacts of each are counted, not kept."""
    start = releases(runs)
    found = run_batch(given, start, device=device)
    return Landings(given, start, replace(found, touches=found.touches[:0]))


def compared(
    runs: int = 200, names: Iterable[str] | None = None, device: str = "cpu"
) -> dict[str, Landings]:
    """Every shape without rolling resistance, and the sphere once more with some."""
    known = shapes()
    out = {name: land(model(known[name]), runs, device) for name in names or known}
    if "sphere" in out:
        given = model(known["sphere"], ROLLING, limit=LONG_LIMIT)
        out["sphere, resisted"] = land(given, runs, device)
    return out


def same_release(run: int = SHOWN) -> dict[str, Solution]:
    """One release of every shape, in full; the sphere with rolling resistance."""
    start = releases(run + 1)[run]
    return {
        name: simulate(model(lander, ROLLING if name == "sphere" else 0.0, limit=LONG_LIMIT), start)
        for name, lander in shapes().items()
    }


# -- the cube (figure 5) and rocks ---------------------------------------------------------------


def cube_landing(run: int = SHOWN) -> Solution:
    """One cube, in full detail."""
    return simulate(model(shapes()["cube"]), releases(run + 1)[run])


def grounds() -> dict[str, Surface]:
    """Itokawa without rocks, with few, and with many: by the count there, capped by their cover."""
    nominal, mesh = itokawa()
    out: dict[str, Surface] = {}
    for name, cover in COVERS.items():
        ground: Surface = nominal.surface
        if cover:
            law = Rocks.counted_on(
                "itokawa", smallest=SIZES[0], largest=SIZES[1], cover=cover, seed=ROCK_SEED
            )
            ground = Rocky(nominal.surface, mesh, law)
        out[name] = ground
    return out


def among_rocks(runs: int = 200, device: str = "cpu") -> dict[str, Landings]:
    """The cube on each ground, from the same releases."""
    cube = shapes()["cube"]
    return {
        name: land(model(cube, SLIGHT, ground), runs, device) for name, ground in grounds().items()
    }


def main(folder: Path, runs: int) -> None:
    """Every figure and verdict; some minutes, most of them for spheres, which roll on and on."""
    import paper_000_cube as cube
    import paper_000_figures as figures
    import paper_000_impacts as collisions

    collisions.main(folder / "impacts.png")
    one = cube_landing()
    cube.draw_landing(one, folder / "landing.png")
    print(f"\none cube: {one}")
    by_shape = compared(runs)
    figures.draw_shapes(by_shape, same_release(), folder / "shapes.png")
    by_cover = among_rocks(runs)
    figures.draw_rocks(by_cover, folder / "rocks.png")
    for title, found in (("shapes", by_shape), ("rocks", by_cover)):
        print(f"\n{title}, {runs} landings each:")
        for name, landings in found.items():
            print(f"  {name}: {landings.told()}")
            for end, which in landings.lost().items():
                print(f"    {end}: runs {str(which[:10])[1:-1]}{', ...' * (len(which) > 10)}")
    print(f"\nwrote {len(list(folder.glob('*.png')))} figures to {folder}")


if __name__ == "__main__":
    main(
        Path(sys.argv[1] if len(sys.argv) > 1 else "out/paper_000"),
        int(sys.argv[2]) if len(sys.argv) > 2 else 200,
    )
