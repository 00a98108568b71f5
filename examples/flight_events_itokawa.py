"""Events at Itokawa: Hayabusa's hop, and MINERVA, which never landed."""

from pathlib import Path
from typing import Any

import numpy as np
from flight_events_rule import Event, Study
from flight_events_runs import ensemble, hop_time, in_words, percent, plumb, real_shape

import alight
from alight import gravity
from alight.core import frames


def hayabusa(study: Study, runs: int) -> Event:
    """The hop between the first two touches, the gravity that decides it, and the way to rest."""
    found = {"built-in shape": _hop_on_itokawa(runs)}
    real = real_shape("Itokawa_49152.npz")
    if real:
        found["real shape"] = _hop_on_itokawa(runs, *_real_itokawa(real, runs))
    else:
        print("no real shape of Itokawa: set ALIGHT_SHAPES to the folder of Itokawa_49152.npz")
    everywhere = itokawa_gravity()
    site, most = 7.47e-5, float(everywhere.max())
    notes = [
        f"Gravity where it touched is {site:.3g} m/s², nowhere on Itokawa above {most:.3g}: 6.9 "
        f"cm/s and 0.84 give {hop_time(0.069 * 0.84, site) / 60:.1f} min in even gravity there and "
        f"{hop_time(0.069 * 0.84, most) / 60:.1f} min where gravity is strongest.",
        f"20 min need {2 * 0.069 * 0.84 / 1200:.2g} m/s², or a rebound of "
        f"{100 * 600 * site:.1f} cm/s: a restitution of {600 * site / 0.069:.2f} for 6.9 cm/s. The "
        "reported figures do not fit each other; thrusters, energy that went into turning, or a "
        "speed that was not along the vertical may be what is missing.",
        *(
            f"{name}: touch at {in_words(a['fast'])} cm/s along the normal, rebound "
            f"{in_words(a['rise'])}; ground slopes by {in_words(a['slope'])}° there, second touch "
            f"{in_words(a['climb'])} m higher; gravity {a['site']:.3g} m/s²."
            for name, a in found.items()
        ),
        "At rest soon after the second touch needs a restitution far below 0.84 there: one value "
        "for all touches is not what happened.",
    ]
    values = {"hop": found["built-in shape"]["hop"], "rest": found["built-in shape"]["rest"]}
    if real:
        values["hop_real"] = found["real shape"]["hop"]
    band = study.quantities[0].band
    return Event.of(study, values, notes, found=found, everywhere=everywhere, site=site, band=band)


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
        "stop.max_time": "2 h",  # the second touch is all that is asked
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
    touches, model = made.contacts(), made.model(1)
    twice = np.array([len(c) > 1 for c in touches])
    seen = [c for c in touches if len(c) > 1]
    normal = np.array([c["normal"][0] for c in seen])
    step = np.array([c["place"][1] - c["place"][0] for c in seen])
    up = np.array([plumb(model, c["place"][0])[0] for c in seen])
    hop, rest = np.full((2, runs), np.nan)
    hop[twice] = [c["start"][1] - c["end"][0] for c in seen]
    rest[twice] = made.final("time")[twice] - [c["start"][1] for c in seen]
    rest[~made.settled()] = np.nan
    return {
        "hop": hop / 60.0,
        "rest": rest / 60.0,
        "slope": np.degrees(np.arccos(np.sum(normal * up, axis=1))),
        "climb": np.sum(step * up, axis=1),
        "fast": 100.0 * np.array([-c["normal_speed_in"][0] for c in seen]),
        "rise": 100.0 * np.array([c["normal_speed_out"][0] for c in seen]),
        "site": plumb(model, touches[1]["place"][0])[1],
        "touches": touches,
        "tracks": [made.track(i) for i in range(min(24, runs))],
    }


def itokawa_gravity(facets: int = 20_480) -> Any:
    """Gravity [m/s^2] with the centrifugal part, at the vertices of the built-in shape."""
    body = alight.body("itokawa")
    mesh, spin = body.mesh(facets), body.spin_vector
    law = gravity.Polyhedron(mesh, density=body.density_of(mesh))
    raised = 1.0001 * mesh.vertices  # off the facets, where the gradient jumps
    pull = law.evaluate(raised, device="cpu")[1]
    return np.linalg.norm(pull - np.cross(spin, np.cross(spin, raised)), axis=1)


def minerva_2005(study: Study, runs: int) -> Event:
    """Whether the ground is ever touched; beside it the release that was planned."""
    made = ensemble("minerva_itokawa", runs)
    lost = np.array([len(c) == 0 for c in made.contacts()])
    ascent = made.values["release.velocity"][:, 2]
    few = max(20, runs // 4)
    low = {"release.height": "55 m"}
    planned = ensemble("minerva_itokawa", few, {"release.velocity": _planned(few)}, low)
    landed = np.array([len(c) > 0 for c in planned.contacts()])
    slow, fast = ascent < 0.1, ascent > 0.2
    notes = [
        f"Not landed: {percent(lost[slow])} of the runs that ascend at less than 10 cm/s, "
        f"{percent(lost[~slow & ~fast])} at 10 to 20 cm/s, {percent(lost[fast])} above.",
        "Let go as planned, at 55 m and 3 cm/s on the way down (read: Yomiuri, as quoted by "
        f"Asyura), with the same scatter sideways, {percent(landed)} touch the ground.",
    ]
    return Event.of(study, {"lost": lost.astype(float)}, notes)


def _planned(runs: int) -> Any:
    """Velocities [m/s] of a release on the way down: east, north, up."""
    r = np.random.default_rng(55)
    return np.column_stack([*r.uniform(-0.05, 0.05, (2, runs)), np.full(runs, -0.03)])
