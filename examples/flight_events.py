"""Four measured flight events, run again: MASCOT, Hayabusa, Philae, MINERVA-II-1.

Run it with:  python examples/flight_events.py [FOLDER]     (out/flight_events if none is named)

Each event is a shipped scenario, run some hundred times with what is not known scattered. What was
measured is then held against the 5 to 95 % band of what was simulated. A figure for each event, and
one table (Markdown and JSON) that also says what was set from measurement and what was assumed.
docs/flight_events.md tells what came out.
"""

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import alight
from alight import flight, gravity, scenario, surfaces
from alight.campaign import sample
from alight.contact import Compliant
from alight.core import frames
from alight.engine import BatchResult, Model, Release, Solution, Stop, run_batch, simulate
from alight.scenario import catalogue
from alight.vehicles import RigidLander

SET, PREDICTED = "set", "predicted"

#: Agilkia and Abydos, latitude and east longitude [deg]: commonly quoted, unconfirmed.
AGILKIA, ABYDOS = (12.04, 335.69), (-8.9, 358.1)
#: From Philae's first touch (15:34:04 UTC) to the second (17:25:26) and to the graze (16:20) [min].
PHILAE_FLIGHT, PHILAE_GRAZE = 111.37, 45.9


@dataclass(frozen=True, eq=False)
class Finding:
    """One number that flight gave, and what simulation makes of it."""

    quantity: str
    unit: str
    said: tuple[float, float]
    """Lowest and highest value that the sources allow."""
    simulated: Any
    """Values of all runs."""
    use: str = PREDICTED
    """``SET`` where it served to set a parameter: agreement then shows consistency only."""
    digits: int = 3

    @property
    def band(self) -> tuple[float, float, float]:
        """5 %, 50 % and 95 % of the runs."""
        low, middle, high = np.percentile(self.simulated, [5.0, 50.0, 95.0])
        return float(low), float(middle), float(high)

    @property
    def below(self) -> float:
        """Part of the runs [%] that lie below what was said."""
        return 100.0 * float(np.mean(np.asarray(self.simulated) < self.said[0]))

    @property
    def above(self) -> float:
        """Part of the runs [%] that lie above what was said."""
        return 100.0 * float(np.mean(np.asarray(self.simulated) > self.said[1]))

    @property
    def agrees(self) -> bool:
        """Whether what was said reaches into the 5 to 95 % band."""
        low, _, high = self.band
        return self.said[0] <= high and self.said[1] >= low

    @property
    def verdict(self) -> str:
        """In a word."""
        if self.use == SET:
            return "consistent" if self.agrees else "INCONSISTENT"
        return "reproduced" if self.agrees else "NOT REPRODUCED"

    def number(self, value: float) -> str:
        """A value with this finding's digits."""
        return f"{float(f'{value:.{self.digits}g}'):,.10g}"

    @property
    def said_text(self) -> str:
        """What was said, as one number or a range."""
        low, high = self.said
        text = self.number(low) if low == high else f"{self.number(low)} to {self.number(high)}"
        return f"{text} {self.unit}".strip()


@dataclass(frozen=True, eq=False)
class Event:
    """An event with its runs, its findings, and what they rest on."""

    name: str
    title: str
    measured: str
    set_from: str
    assumed: str
    findings: list[Finding]
    notes: list[str]
    """What else the runs tell."""
    runs: int
    data: dict[str, Any] = field(default_factory=dict)
    """What the figure needs."""


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The runs of one scenario, in the order of ``values``."""

    prepared: Any
    values: dict[str, Any]
    found: list[tuple[BatchResult, Any]]
    """Results of each model, and which runs they are."""

    def __len__(self) -> int:
        return sum(len(rows) for _, rows in self.found)

    def contacts(self) -> list[Any]:
        """The contacts of each run, in order of time."""
        out: list[Any] = [None] * len(self)
        for result, rows in self.found:
            ends = np.searchsorted(result.touches["run"], np.arange(len(rows) + 1))
            for k, row in enumerate(rows):
                out[row] = result.touches[ends[k] : ends[k + 1]]
        return out

    def final(self, name: str) -> Any:
        """``position``, ``time`` or ``outcome`` at the end of each run."""
        first = np.asarray(getattr(self.found[0][0], name))
        out = np.empty((len(self), *first.shape[1:]), dtype=first.dtype)
        for result, rows in self.found:
            out[rows] = getattr(result, name)
        return out

    def track(self, run: int) -> Solution:
        """One of the runs again, in full detail."""
        (one,) = self.prepared.groups({key: a[[run]] for key, a in self.values.items()})
        return simulate(one.model, one.release)


def ensemble(
    name: str, runs: int, also: dict[str, Any] | None = None, change: dict[str, Any] | None = None
) -> Ensemble:
    """Runs of a shipped scenario, with values under further keys, or with a changed scenario."""
    given = scenario.load(catalogue.shipped()[name].path)
    given = given.replaced(change) if change else given
    prepared = scenario.prepare(given, "cpu")
    values = {**sample(given, np.arange(runs), total=runs), **(also or {})}
    values = {key: np.reshape(a, (runs, -1)) for key, a in values.items()}
    found = [
        (run_batch(group.model, group.release, device="cpu"), np.asarray(group.rows))
        for group in prepared.groups(values)
    ]
    return Ensemble(prepared, values, found)


def plumb(model: Model, place: Any) -> tuple[Any, float]:
    """Up along the plumb line (a unit vector) and gravity [m/s^2], centrifugal part included."""
    spin = np.ravel(model.rotation.evaluate([0.0], device="cpu")[0])
    return plumb_of(model.gravity, spin, place)


def plumb_of(field_: Any, spin: Any, place: Any) -> tuple[Any, float]:
    """The same for a gravity law and a spin vector [rad/s]."""
    pull = np.ravel(field_.evaluate(np.reshape(place, (1, 3)), device="cpu")[1])
    net = pull - np.cross(spin, np.cross(spin, place))
    size = float(np.linalg.norm(net))
    return -net / size, size


def fall_time(height: float, speed: float, g: float) -> float:
    """Time [s] to fall ``height`` [m] from a downward ``speed`` [m/s] in even gravity."""
    return float((np.sqrt(speed**2 + 2.0 * g * height) - speed) / g)


def hop_time(speed: float, g: float) -> float:
    """Time [s] from a take-off at ``speed`` [m/s] straight up to the return, in even gravity."""
    return 2.0 * speed / g


def bouncing_time(speed: float, g: float, e: float) -> float:
    """Time [s] of all bounces of a ball that first hits level ground at ``speed`` [m/s]."""
    return 2.0 * speed * e / (g * (1.0 - e))


# -- MASCOT -------------------------------------------------------------------------------------

#: A flight counts as one if it rises by a centimetre: contacts closer in time are one contact [m].
RISE = 0.01


def mascot(runs: int = 400) -> Event:
    """From the release to rest: how long it fell, bounced, how far it came."""
    also = {"ground.noise.amplitude": np.resize([0.1, 0.3, 0.6], runs)}
    made = ensemble("mascot_ryugu", runs, also)
    touches, rest = made.contacts(), made.final("position")
    g = plumb(_model(made), touches[0]["place"][0])[1]
    fall = np.array([c["start"][0] for c in touches])
    bounce = np.array([c["start"][-1] - c["start"][0] for c in touches])
    away = np.array([np.linalg.norm(x - c["place"][0]) for x, c in zip(rest, touches, strict=True)])
    between = np.array([_hops(c, 2.0 * np.sqrt(2.0 * RISE / g)) - 1 for c in touches])
    e = made.values["contact.restitution"][:, 0]
    like = np.abs(bounce / 663.0 - 1.0) < 0.15
    notes = [
        f"Local gravity {g:.3g} m/s²: in even gravity 41 m in 350 s need "
        f"{100 * (41.0 / 350.0 - 0.5 * g * 350.0):.2f} cm/s at the release.",
        f"Runs that bounce for 663 s within 15 %: restitution {_range(e[like])} at the contact, "
        f"distance {_range(away[like])} m, intermediate contacts {_range(between[like])}.",
        "Restitution 0.25 on level ground would give a ball "
        f"{bouncing_time(0.141, g, 0.25):.0f} s; boxes with 0.2 to 0.3 bounce for "
        f"{_range(bounce[(e > 0.2) & (e < 0.3)])} s, since turning gives speed back.",
        *(
            f"Hills of {a} m: bouncing {_range(bounce[also['ground.noise.amplitude'] == a])} s."
            for a in (0.1, 0.3, 0.6)
        ),
    ]
    findings = [
        Finding("fall to the first contact", "s", (350.0, 350.0), fall, SET),
        Finding("bouncing, first to last contact", "s", (663.0, 663.0), bounce),
        Finding("first contact to rest", "m", (17.0, 17.0), away, digits=2),
        Finding("contacts between", "", (4.0, 4.0), between, digits=2),
    ]
    closest = np.argmin(
        (bounce / 663.0 - 1.0) ** 2 + (away / 17.0 - 1.0) ** 2 + (fall / 350.0 - 1.0) ** 2
    )
    return Event(
        "mascot",
        "MASCOT on Ryugu, 3 October 2018",
        "released at 41 m, first contact after 350 s, then bouncing for 663 s with four contacts "
        "between, rest about 17 m away (Scholten 2019, DLR); place about 30° S, 300° E (DLR)",
        "place and height of the release; its speed along the plumb line, 9.3 cm/s, from 41 m in "
        "350 s and our gravity there",
        "restitution at the contact evenly from 0.1 (loose ground) to 0.6 (MASCOT on a hard "
        "plane), friction 0.4 to 0.9, any attitude, 3°/s of spin, 1 cm/s sideways, 0.3 cm/s along, "
        "hills of 0.1, 0.3 or 0.6 m (rms) over 10 m; rolling resistance 5 mm; a uniform box",
        findings,
        notes,
        runs,
        {
            "touches": touches, "rest": rest, "bounce": bounce, "away": away,
            "e": e, "track": made.track(int(closest)),
            "tracks": [made.track(i) for i in range(24)],
        },
    )  # fmt: skip


def _model(made: Ensemble, run: int = 0) -> Model:
    (one,) = made.prepared.groups({key: a[[run]] for key, a in made.values.items()})
    return one.model


def _hops(contacts: Any, least: float) -> int:
    """Flights between contacts that last longer than ``least`` [s]."""
    return int(np.sum(contacts["start"][1:] - contacts["end"][:-1] > least))


def _range(values: Any, digits: int = 2) -> str:
    """5 %, median and 95 % in words."""
    low, middle, high = (float(f"{v:.{digits}g}") for v in np.percentile(values, [5, 50, 95]))
    return f"{middle:,.10g} ({low:,.10g} to {high:,.10g})"


# -- Hayabusa -----------------------------------------------------------------------------------


def hayabusa(runs: int = 300) -> Event:
    """The hop between the first two touches, and the gravity that decides it."""
    found = {"built-in shape": _hop_on_itokawa(runs)}
    real = real_shape("Itokawa_49152.npz")
    if real:
        found["real shape"] = _hop_on_itokawa(runs, *_real_itokawa(real, runs))
    else:
        print("no real shape of Itokawa: set ALIGHT_SHAPES to the folder of Itokawa_49152.npz")
    everywhere = itokawa_gravity()
    site, most = 7.47e-5, float(everywhere.max())
    notes = [
        f"Gravity where it touched {site:.3g} m/s², nowhere on Itokawa above {most:.3g}: 6.9 cm/s "
        f"and 0.84 give {hop_time(0.069 * 0.84, site) / 60:.1f} min in even gravity there and "
        f"{hop_time(0.069 * 0.84, most) / 60:.1f} min where gravity is strongest.",
        f"20 min need {2 * 0.069 * 0.84 / 1200:.2g} m/s², or a rebound of "
        f"{100 * 600 * site:.1f} cm/s: a restitution of {600 * site / 0.069:.2f} for 6.9 cm/s.",
        *(
            f"{name}: touch at {_range(a['fast'])} cm/s along the normal, rebound "
            f"{_range(a['rise'])}; ground slopes by {_range(a['slope'])}° there, second touch "
            f"{_range(a['climb'])} m higher; gravity {a['site']:.3g} m/s²."
            for name, a in found.items()
        ),
    ]
    return Event(
        "hayabusa",
        "Hayabusa on Itokawa, 19 November 2005",
        "touches at about 21:10 and 21:30 UTC (press translation of JAXA's report); approach "
        "6.9 cm/s and restitution 0.83 to 0.84 (quoted from Yano 2006, unconfirmed)",
        "approach speed, restitution, place (6° S, 39° E, unconfirmed), GM ± 3 %",
        "a ball, so that the touch is central; scatter of 0.5 cm/s each way, restitution ± 0.02, "
        "place within 5 m, no thrust, friction 0.6, even density; on the built-in shape a level "
        "place of the Muses Sea, 28° S, 70° E, with 8.0e-5 m/s²",
        [
            Finding(f"first to second touch, {name}", "min", (19.0, 21.0), a["hop"])
            for name, a in found.items()
        ],
        notes,
        runs,
        {"found": found, "everywhere": everywhere, "site": site},
    )


def _real_itokawa(file: Path, runs: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the real shape at the place of the touch changes, and offsets across its plumb line."""
    up = np.array([0.5295, -0.1851, 0.8279])  # east, north and along the ray
    fall = ", ".join(f"{v:.4f}" for v in -0.0665 * up)
    change = {
        "body.name": None, "body.facets": None, "body.unit": "km", "body.mesh": str(file),
        "body.gm": f"{alight.body('itokawa').gm} m^3/s^2",
        "body.rotation.kind": "uniform", "body.rotation.period": "12.1324 h",
        "release.latitude": "-6 deg", "release.longitude": "39 deg", "release.height": "3.75 m",
        "release.velocity": [f"{v} m/s" for v in fall.split(", ")],
    }  # fmt: skip
    r = np.random.default_rng(39)
    radius, turn = 5.0 * np.sqrt(r.uniform(size=runs)), r.uniform(0.0, 2.0 * np.pi, runs)
    flat = np.column_stack([radius * np.cos(turn), radius * np.sin(turn), np.zeros(runs)])
    return change, {"release.offset": flat @ frames.local_frame(up).T}


def _hop_on_itokawa(
    runs: int, change: dict[str, Any] | None = None, also: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Times [min] of the hop and what made them differ, on one shape."""
    gm = np.resize(alight.body("itokawa").gm * np.array([0.97, 1.0, 1.03]), runs)
    made = ensemble("hayabusa_itokawa", runs, {"body.gm": gm, **(also or {})}, change)
    touches, model = made.contacts(), _model(made, 1)
    normal = np.array([c["normal"][0] for c in touches])
    step = np.array([c["place"][1] - c["place"][0] for c in touches])
    up = np.array([plumb(model, c["place"][0])[0] for c in touches])
    hop = np.array([c["start"][1] - c["end"][0] for c in touches])
    climb, g = np.sum(step * up, axis=1), plumb(model, touches[1]["place"][0])[1]
    return {
        "hop": hop / 60.0,
        "slope": np.degrees(np.arccos(np.sum(normal * up, axis=1))),
        "climb": climb,
        "fast": 100.0 * np.array([-c["normal_speed_in"][0] for c in touches]),
        "rise": 100.0 * np.array([c["normal_speed_out"][0] for c in touches]),
        "site": g,
        "touches": touches,
        "tracks": [made.track(i) for i in range(24)],
    }


def itokawa_gravity(facets: int = 20_480) -> Any:
    """Gravity [m/s^2] with the centrifugal part, at the vertices of the built-in shape."""
    body = alight.body("itokawa")
    mesh, spin = body.mesh(facets), body.spin_vector
    law = gravity.Polyhedron(mesh, density=body.density_of(mesh))
    raised = 1.0001 * mesh.vertices  # off the facets, where the gradient jumps
    pull = law.evaluate(raised, device="cpu")[1]
    return np.linalg.norm(pull - np.cross(spin, np.cross(spin, raised)), axis=1)


# -- Philae -------------------------------------------------------------------------------------


def philae(runs: int = 300, shots: int = 4000) -> Event:
    """The first bounce's energy, what follows from it, and arcs from Agilkia to Abydos."""
    ratio, flown, far = _first_bounce(ensemble("philae_67p", runs, change=SIX_HOURS))
    gone = dict.fromkeys(("lander.shape", "lander.diameter", "lander.mass"))
    as_box = {"lander.name": "philae", **gone}
    box = _first_bounce(ensemble("philae_67p", runs // 2, change={**SIX_HOURS, **as_box}))
    grounds = {"built-in shape": alight.body("67p").mesh(5120)}
    real = real_shape("67P_6000.obj")
    if real:
        grounds["real shape"] = alight.Mesh.read(real, unit="km", recentre=True)
    arcs = {name: arcs_to_abydos(mesh, shots) for name, mesh in grounds.items()}
    last = np.random.default_rng(3).uniform(0.025, 0.035, 400)
    findings = [
        Finding("kinetic energy out over in", "", (0.106, 0.144), ratio, SET),
        Finding("flight after the first touch", "min", (PHILAE_FLIGHT,) * 2, flown),
        Finding("first to second touch", "km", (1.0, 1.25), far / 1e3),
    ]
    notes = [
        f"Philae's body as a box, without legs, keeps {_range(box[0])} of its energy and flies for "
        f"{_range(box[1])} min: off-centre hits take the rest.",
    ]
    for name, a in arcs.items():
        times = {v: a["time"][a["hit"] & (np.abs(a["speed"] - v) < 0.005)] for v in (0.325, 0.38)}
        findings.append(
            Finding(
                f"arc to Abydos at 0.325 m/s, {name}", "min", (PHILAE_FLIGHT,) * 2, times[0.325]
            )
        )
        near = a["hit"] & (np.abs(a["time"] - PHILAE_FLIGHT) < 6.0)
        notes += [
            f"{name}: 111 min to Abydos need {_range(a['speed'][near], 3)} m/s; arcs at 0.325 m/s "
            f"take {_range(times[0.325])} min, at 0.38 m/s {_range(times[0.38])} min.",
            f"{name}: arcs of 111 min are {_range(a['graze_height'])} m above the ground after 46 "
            "min, when Philae grazed it; the graze is not in them.",
        ]
    findings.append(
        Finding("arc to Abydos at ESA's 0.38 m/s", "min", (PHILAE_FLIGHT,) * 2, times[0.38])
    )
    hops = 2.0 * last / list(arcs.values())[-1]["g_end"]
    findings.append(Finding("last hop, at 2.5 to 3.5 cm/s", "s", (351.0, 351.0), hops))
    return Event(
        "philae",
        "Philae on 67P, 12 November 2014",
        "about 1 m/s at the touch of 15:34:04 UTC; 0.38 m/s (ESA, 2014) or 0.325 m/s (later "
        "reconstruction, unconfirmed) after it; a graze at 16:20; second touch at 17:25:26 about "
        "1 km away; last hop at about 3 cm/s, at rest at 17:31:17",
        "place (Agilkia, unconfirmed), 1 m/s, restitution evenly from 0.3 to 0.4, and for the arcs "
        "where they end (Abydos, unconfirmed)",
        "a ball, so that the touch is central (Philae turned about one axis after it, and "
        "tumbled only after the graze); ground that slopes by up to 20° under it; place within "
        "50 m; friction 0.6; for the arcs any direction, and no graze",
        findings,
        notes,
        runs,
        {"ratio": ratio, "box": box[0], "arcs": arcs},
    )


#: Later than this no bounce of Philae's is still of interest.
SIX_HOURS = {"stop.max_time": "6 h"}


def _first_bounce(made: Ensemble, least: float = 60.0) -> tuple[Any, Any, Any]:
    """Energy kept, minutes flown and metres covered by the first flight longer than ``least`` [s].

    A box touches with several corners one after the other: all that is one bounce.
    """
    model, mass = _model(made), _model(made).lander.mass
    kept, flown, far = [], [], []
    for c in made.contacts():
        flights = np.flatnonzero(c["start"][1:] - c["end"][:-1] > least)
        if not len(flights):
            continue  # it stayed on the ground, or left for good
        k = flights[0]
        before = c["energy_in"][0] - potential_energy(model, mass, c["place"][0])
        after = c["energy_out"][k] - potential_energy(model, mass, c["place"][k])
        kept.append(after / before)
        flown.append((c["start"][k + 1] - c["end"][k]) / 60.0)
        far.append(np.linalg.norm(c["place"][k + 1] - c["place"][k]))
    return np.array(kept), np.array(flown), np.array(far)


def potential_energy(model: Model, mass: float, place: Any) -> float:
    """Of gravity and rotation together [J], so that E_J less this is kinetic."""
    spin = np.ravel(model.rotation.evaluate([0.0], device="cpu")[0])
    pull = float(np.ravel(model.gravity.evaluate(np.reshape(place, (1, 3)), device="cpu")[0])[0])
    return -mass * (pull + 0.5 * float(np.sum(np.cross(spin, place) ** 2)))


def real_shape(name: str) -> Path | None:
    """A real shape model, if it is at hand: in ``ALIGHT_SHAPES``, or ``shared/shapes`` beside."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "shapes"
    file = Path(os.environ.get("ALIGHT_SHAPES", beside)) / name
    return file if file.exists() else None


def arcs_to_abydos(mesh: alight.Mesh, shots: int, seed: int = 67) -> dict[str, Any]:
    """Free flights from Agilkia at 0.30 to 0.40 m/s, and those that come down at Abydos.

    Directions fill a cone of 40 degrees about east, 50 degrees up: those that reach it lie there.
    """
    body = alight.body("67p")
    ground = surfaces.DistanceField.from_mesh(mesh, 25.0, device="cpu")
    # In full: a reduced shape is seen from its middle, and fills the neck of a body with two lobes.
    law = gravity.Polyhedron(mesh, body.density_of(mesh))
    start, goal = _above(ground, AGILKIA, 1.0), _above(ground, ABYDOS, 0.0)
    turn = frames.local_frame(start / np.linalg.norm(start))
    r = np.random.default_rng(seed)
    speed, aim = r.uniform(0.30, 0.40, shots), np.array([0.63, -0.2, 0.75])
    way = _cone(r, aim / np.linalg.norm(aim), np.radians(40.0), shots) @ turn.T
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
    shown = np.flatnonzero(hit & (np.abs(time - PHILAE_FLIGHT) < 6.0))
    tracks = [simulate(model, release[i]) for i in shown[:8]]
    at_graze = np.array([t.sample([60.0 * PHILAE_GRAZE])[0][0] for t in tracks])
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


def _cone(r: np.random.Generator, axis: Any, half: float, count: int) -> Any:
    """Unit vectors spread evenly within ``half`` [rad] of ``axis``."""
    c = r.uniform(np.cos(half), 1.0, count)
    turn, s = r.uniform(0.0, 2.0 * np.pi, count), np.sqrt(1.0 - c**2)
    local = np.column_stack([s * np.cos(turn), s * np.sin(turn), c])
    return local @ frames.local_frame(axis).T


def _heights(mesh: alight.Mesh, points: Any) -> Any:
    """Distance [m] of points from the nearest vertex: a height, where heights exceed facets."""
    from scipy.spatial import cKDTree

    return cKDTree(mesh.vertices).query(points)[0]


# -- MINERVA-II-1 -------------------------------------------------------------------------------


def minerva(runs: int = 400) -> Event:
    """The first flight of a hop, anywhere on the parallel of the landing."""
    east = np.random.default_rng(7).uniform(0.0, 2.0 * np.pi, runs)
    made = ensemble("minerva_hop_ryugu", runs, {"release.longitude": east})
    touches = made.contacts()
    (group,) = made.prepared.groups(made.values)
    start = group.release.position
    up = np.array([plumb(group.model, x)[0] for x in start])
    g = np.array([plumb(group.model, x)[1] for x in start])
    air = np.array([c["start"][0] for c in touches]) / 60.0
    step = np.array([c["place"][0] for c in touches]) - start
    far = np.linalg.norm(step - np.sum(step * up, axis=1)[:, None] * up, axis=1)
    rise = np.sum(group.release.velocity * up, axis=1)
    notes = [
        f"Gravity on the parallel of 17° {_range(g, 3)} m/s²; take-off along the plumb line "
        f"{_range(100 * rise)} cm/s: in even gravity {_range(2 * rise / g / 60, 3)} min.",
    ]
    return Event(
        "minerva",
        "A hop of MINERVA-II-1 on Ryugu, September 2018",
        "hops of up to 15 minutes and 15 m were announced (JAXA); how long single hops took was "
        "not found; landing 140 m north of the equator (Jiji Press)",
        "take-off at 5.6 cm/s along the plumb line and 1.7 cm/s across, from 15 min and 15 m; "
        "latitude 17° N",
        "the longitude (anywhere), direction within 10°, spin 0.2 ± 0.1 rad/s, smooth ground",
        [
            Finding("longest hop", "min", (15.0, 15.0), air, SET),
            Finding("widest hop", "m", (15.0, 15.0), far, SET, digits=2),
        ],
        notes,
        runs,
        {"air": air, "far": far, "g": g, "up": up, "start": start,
         "tracks": [made.track(i) for i in range(30)]},
    )  # fmt: skip


# -- the table ----------------------------------------------------------------------------------


def to_markdown(events: list[Event]) -> str:
    """All findings, and what they rest on."""
    lines = [
        "| event | quantity | flight | simulated: median (5 % to 95 %) | below, above | use "
        "| verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for event in events:
        for f in event.findings:
            low, middle, high = (f.number(v) for v in f.band)
            lines.append(
                f"| {event.name} | {f.quantity} | {f.said_text} | {middle} ({low} to {high}) "
                f"{f.unit} | {f.below:.0f} %, {f.above:.0f} % | {f.use} | {f.verdict} |"
            )
    for event in events:
        lines += ["", f"## {event.title}", "", f"- Flight: {event.measured}."]
        lines += [f"- Set from it: {event.set_from}.", f"- Assumed: {event.assumed}."]
        lines += [f"- {note}" for note in event.notes]
    return "\n".join(lines) + "\n"


def to_json(events: list[Event]) -> str:
    """The same for programs."""
    table = [
        {
            "event": event.name, "flight": event.measured, "set": event.set_from,
            "assumed": event.assumed, "notes": event.notes,
            "findings": [
                {"quantity": f.quantity, "unit": f.unit, "said": list(f.said), "use": f.use,
                 "simulated_5_50_95": list(f.band), "below_percent": f.below,
                 "above_percent": f.above,
                 "runs": int(np.size(f.simulated)), "verdict": f.verdict}
                for f in event.findings
            ],
        }
        for event in events
    ]  # fmt: skip
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def write_table(events: list[Event], folder: Path) -> None:
    """``flight_events.md`` and ``.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "flight_events.md").write_text(to_markdown(events), encoding="utf-8")
    (folder / "flight_events.json").write_text(to_json(events), encoding="utf-8")


def draw(event: Event, folder: Path) -> Path:
    """The event's figure."""
    import flight_events_figures as figures

    file = folder / f"{event.name}.png"
    if event.name in ("mascot", "hayabusa"):
        getattr(figures, f"draw_{event.name}")(event, file, plumb)
    else:
        getattr(figures, f"draw_{event.name}")(event, file)
    return file


def main(folder: Path) -> None:
    """All events: figures, table, verdicts; about two minutes."""
    events = []
    for study in (mascot, hayabusa, philae, minerva):
        events.append(study())
        print("wrote", draw(events[-1], folder), flush=True)
    write_table(events, folder)
    print(to_markdown(events))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/flight_events"))
