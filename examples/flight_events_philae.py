"""Philae on 67P: the first bounce, arcs from Agilkia to Abydos, and the last hop."""

from typing import Any

import numpy as np
from flight_events_rule import Event, Study
from flight_events_runs import (
    Ensemble,
    cone,
    ensemble,
    in_words,
    loaded,
    plumb,
    plumb_of,
    real_shape,
)

import alight
from alight import flight, gravity, scenario, surfaces
from alight.contact import Compliant
from alight.core import frames
from alight.engine import Stop, run_batch, simulate
from alight.motions import Model, Release
from alight.vehicles import RigidLander

#: Agilkia and Abydos, latitude and east longitude [deg]: commonly quoted, unconfirmed.
AGILKIA, ABYDOS = (12.04, 335.69), (-8.9, 358.1)
#: From the first touch (15:34:04 UTC) to the second (17:25:26) and to the graze (16:20) [min].
FLIGHT, GRAZE = 111.37, 45.9
#: Speeds after the first touch [m/s]: a later reconstruction (unconfirmed), and ESA's of 2014.
SPEEDS = (0.325, 0.38)
#: Later than this no bounce of Philae's is still of interest.
SIX_HOURS = {"stop.max_time": "6 h"}


def philae(study: Study, runs: int) -> Event:
    """The first bounce's energy, what follows from it, and arcs from Agilkia to Abydos."""
    kept, flown, far = first_bounce(ensemble("philae_67p", runs, change=SIX_HOURS))
    gone = dict.fromkeys(("lander.shape", "lander.diameter", "lander.mass"))
    as_box = {"lander.name": "philae", **gone}
    box = first_bounce(ensemble("philae_67p", runs // 2, change={**SIX_HOURS, **as_box}))
    grounds = {"built-in shape": alight.body("67p").mesh(5120)}
    real = real_shape("67P_6000.obj")
    if real:
        grounds["real shape"] = alight.Mesh.read(real, unit="km", recentre=True)
    else:
        print("no real shape of 67P: set ALIGHT_SHAPES to the folder of 67P_6000.obj")
    arcs = {name: arcs_to_abydos(mesh, 12 * runs) for name, mesh in grounds.items()}
    values = {"kept": kept, "flown": flown, "far": far / 1e3}
    notes = [
        f"Philae's body as a box, without legs, keeps {in_words(box[0])} of its energy and flies "
        f"for {in_words(box[1])} min: off-centre hits take the rest. Hence a ball.",
    ]
    for name, a in arcs.items():
        end = "_real" if name == "real shape" else ""
        for v in SPEEDS:
            values[f"arc_{1000 * v:04.0f}{end}"] = arc_times(a, v)
        near = a["hit"] & (np.abs(a["time"] - FLIGHT) < 6.0)
        notes += [
            f"{name}: 111 min to Abydos, {a['distance'] / 1e3:.2f} km away, need "
            f"{in_words(a['speed'][near], 3)} m/s.",
            f"{name}: such arcs are {in_words(a['graze_height'])} m above the ground after 46 "
            "min, when Philae grazed it: the graze is not in them.",
        ]
    return Event.of(study, values, notes, kept=kept, box=box[0], arcs=arcs)


def arc_times(arcs: dict[str, Any], speed: float) -> Any:
    """Times [min] of the arcs to Abydos that left within 5 mm/s of ``speed`` [m/s]."""
    return arcs["time"][arcs["hit"] & (np.abs(arcs["speed"] - speed) < 0.005)]


def first_bounce(made: Ensemble, least: float = 60.0) -> tuple[Any, Any, Any]:
    """Energy kept, minutes flown and metres covered by the first flight longer than ``least`` [s].

    A box touches with several corners one after the other: all that is one bounce. Runs that stay
    on the ground, or leave for good, have nan.
    """
    model, mass = made.model(), made.model().lander.mass
    kept, flown, far = np.full((3, len(made)), np.nan)
    for i, c in enumerate(made.contacts()):
        flights = np.flatnonzero(c["start"][1:] - c["end"][:-1] > least)
        if not len(flights):
            continue
        k = flights[0]
        before = c["energy_in"][0] - potential_energy(model, mass, c["place"][0])
        after = c["energy_out"][k] - potential_energy(model, mass, c["place"][k])
        kept[i] = after / before
        flown[i] = (c["start"][k + 1] - c["end"][k]) / 60.0
        far[i] = np.linalg.norm(c["place"][k + 1] - c["place"][k])
    return kept, flown, far


def potential_energy(model: Model, mass: float, place: Any) -> float:
    """Of gravity and rotation together [J], so that E_J less this is kinetic."""
    spin = np.ravel(model.rotation.evaluate([0.0], device="cpu")[0])
    pull = float(np.ravel(model.gravity.evaluate(np.reshape(place, (1, 3)), device="cpu")[0])[0])
    return -mass * (pull + 0.5 * float(np.sum(np.cross(spin, place) ** 2)))


def arcs_to_abydos(mesh: alight.Mesh, shots: int, seed: int = 67) -> dict[str, Any]:
    """Free flights from Agilkia at 0.30 to 0.40 m/s, and those that come down at Abydos.

    Directions fill a cone of 40 degrees about east, 50 degrees up: those that reach it lie there.
    Speeds are dense, and even, below 0.34 m/s and about ESA's: what is asked lies there.
    """
    body = alight.body("67p")
    ground = surfaces.DistanceField.from_mesh(mesh, 25.0, device="cpu")
    # In full: a reduced shape is seen from its middle, and fills the neck of a body with two lobes.
    law = gravity.Polyhedron(mesh, body.density_of(mesh))
    start, goal = _above(ground, AGILKIA, 1.0), _above(ground, ABYDOS, 0.0)
    turn = frames.local_frame(start / np.linalg.norm(start))
    r = np.random.default_rng(seed)
    ranges = ((0.30, 0.34), (0.375, 0.385), (0.30, 0.34), (0.34, 0.40), (0.30, 0.34))
    speed = np.array([r.uniform(*ranges[i % len(ranges)]) for i in range(shots)])
    aim = np.array([0.63, -0.2, 0.75])
    way = cone(r, aim / np.linalg.norm(aim), np.radians(40.0), shots) @ turn.T
    model = Model(
        gravity.Linearised(law, reach=20.0),
        ground,
        RigidLander.sphere(1.2, 98.0),
        Compliant(restitution=0.05, friction=1.0, rolling_resistance=0.3, depth=0.02),
        rotation=flight.UniformRotation(omega=body.spin_vector),
        stop=Stop(max_time=6.0 * 3600.0, escape_radius=3e4),
    )
    release = Release(start, speed[:, None] * way)
    found = run_batch(model, release, device="cpu")
    runs, first = np.unique(found.touches["run"], return_index=True)
    time, place = np.full(shots, np.nan), np.full((shots, 3), np.nan)
    time[runs] = found.touches["start"][first] / 60.0
    place[runs] = found.touches["place"][first]
    hit = np.linalg.norm(place - goal, axis=1) < 200.0
    shown = np.flatnonzero(hit & (np.abs(time - FLIGHT) < 6.0))
    tracks = [simulate(model, release[i]) for i in shown[:8]]
    at_graze = [t.sample([60.0 * GRAZE])[0][0] for t in tracks]
    return {
        "mesh": mesh, "speed": speed, "time": time, "hit": hit, "place": place, "tracks": tracks,
        "start": start, "goal": goal, "ground": ground,
        "graze_height": _heights(mesh, at_graze), "distance": float(np.linalg.norm(goal - start)),
        "g_end": plumb_of(law, body.spin_vector, goal)[1],
    }  # fmt: skip


def _above(ground: Any, place: tuple[float, float], height: float) -> Any:
    """Position [m] above a latitude and longitude [deg]."""
    latitude, longitude = (float(a) for a in np.radians(place))
    return Release.above(ground, latitude, longitude, height).position[0]


def _heights(mesh: alight.Mesh, points: Any) -> Any:
    """Distance [m] of points from the nearest vertex: a height, where heights exceed facets."""
    from scipy.spatial import cKDTree

    return cKDTree(mesh.vertices).query(np.reshape(points, (-1, 3)))[0]


# -- the last hop -------------------------------------------------------------------------------


def philae_last(study: Study, runs: int) -> Event:
    """From a take-off at 3 cm/s to rest: how long, how far."""
    nominal = scenario.prepare(loaded("philae_last_hop"), "cpu").nominal()
    start = nominal.release.position[0]
    up, g = plumb(nominal.model, start)
    r = np.random.default_rng(351)
    speed = r.uniform(0.025, 0.035, runs)
    way = cone(r, up, np.radians(60.0), runs) @ frames.local_frame(start / np.linalg.norm(start))
    made = ensemble("philae_last_hop", runs, {"release.velocity": speed[:, None] * way})
    at_rest = made.settled()
    time = np.where(at_rest, made.final("time"), np.nan)
    away = np.where(at_rest, np.linalg.norm(made.final("position") - start, axis=1), np.nan)
    notes = [
        f"Gravity there is {g:.3g} m/s²: 3 cm/s straight up come back after {2 * 0.03 / g:.0f} s, "
        f"and carry {0.03**2 / g:.1f} m at 45° on level ground. 30 m in 351 s are "
        f"{100 * 30 / 351:.1f} cm/s along the ground: published speed, time and distance do not "
        "fit each other, unless the ground falls away.",
        f"{in_words([len(c) for c in made.contacts()])} contacts, the last included.",
    ]
    return Event.of(study, {"time": time, "away": away}, notes)
