"""Events that one encounter with the ground decides: on a plane, in even gravity.

Philae's spin after the first touch, its graze, and NEAR on Eros.
"""

from typing import Any

import numpy as np
from flight_events_rule import Event, Study
from flight_events_runs import cone, contacts_of, in_words, percent

from alight import gravity, surfaces
from alight.contact import Compliant
from alight.core import frames
from alight.engine import BatchResult, Stop, run_batch
from alight.motions import Model, Release
from alight.vehicles import RigidLander

#: Philae's feet from its middle [m]: 1.4 m out, 0.9 m below. Orders of magnitude, unconfirmed.
OUT, BELOW = 1.4, 0.9


def philae_on_legs() -> RigidLander:
    """Body and three feet, rigid."""
    turn = np.radians([90.0, 210.0, 330.0])
    feet = np.column_stack([OUT * np.cos(turn), OUT * np.sin(turn), np.full(3, -BELOW)])
    return RigidLander.box((1.0, 1.0, 0.8), 98.0, extra=feet, inertia=(20.0, 20.0, 25.0))


def thrown(
    lander: RigidLander, g: float, release: Release, grounds: dict[str, Any], time: float
) -> BatchResult:
    """Runs onto the plane z = 0, followed for ``time`` [s]."""
    model = Model(
        gravity.Uniform((0.0, 0.0, -g)),
        surfaces.Plane(),
        lander,
        Compliant(**grounds, depth=5e-3),
        stop=Stop(max_time=time),
    )
    return run_batch(model, release, device="cpu")


def grounds(r: np.random.Generator, low: float, high: float, count: int) -> dict[str, Any]:
    """Restitution within bounds, friction from 0.4 to 0.9."""
    return {"restitution": r.uniform(low, high, count), "friction": r.uniform(0.4, 0.9, count)}


def attitudes(r: np.random.Generator, count: int) -> Any:
    """Any attitude: quaternions xyzw."""
    q = r.normal(size=(count, 4))
    return q / np.linalg.norm(q, axis=1)[:, None]


def upright(r: np.random.Generator, up: Any, tilt: float) -> Any:
    """Attitudes whose z axis is within ``tilt`` [rad] of ``up`` (n, 3), with any heading."""
    out = []
    for u in up:
        axes = frames.local_frame(cone(r, u, tilt, 1)[0])
        turn = r.uniform(0.0, 2.0 * np.pi)
        c, s = np.cos(turn), np.sin(turn)
        out.append(axes @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))
    return frames.quat_from_matrix(np.array(out))


# -- Philae -------------------------------------------------------------------------------------


def philae_spin(study: Study, runs: int) -> Event:
    """Feet first onto sloping ground at 1 m/s: how fast does it turn when it has left again?"""
    r = np.random.default_rng(13)
    up = cone(r, (0.0, 0.0, 1.0), np.radians(20.0), runs)  # seen from ground that is level
    release = Release(
        np.tile([0.0, 0.0, 2.1], (runs, 1)),
        -1.0 * up,
        upright(r, up, np.radians(5.0)),
        (0.0, 0.0, 2.0 * np.pi / 300.0),
    )
    found = thrown(philae_on_legs(), 1.7e-4, release, grounds(r, 0.3, 0.4, runs), 60.0)
    w = np.degrees(found.final["w"])
    rate = np.linalg.norm(w, axis=1)
    inertia, turned = 25.0, 2.0 * np.pi * (1.0 / 13.0 - 1.0 / 300.0)
    notes = [
        f"A minute later {percent(found.final['touching'] == 0)} are off the ground, and "
        f"{percent(rate > 1.2)} turn faster than before (1.2 °/s); about the upright axis alone by "
        f"{in_words(np.abs(w[:, 2]))} °/s.",
        f"One turn in 13 s out of one in 5 minutes is {inertia * turned:.0f} N m s at 25 kg m², "
        "which the touch does not give. What the flywheel held was not found.",
    ]
    return Event.of(study, {"rate": rate}, notes)


def philae_graze(study: Study, runs: int) -> Event:
    """A turning Philae meets ground at a small angle: how does it turn afterwards?"""
    r = np.random.default_rng(24)
    speed, dip = r.uniform(0.2, 0.4, runs), np.radians(r.uniform(2.0, 30.0, runs))
    velocity = np.column_stack([speed * np.cos(dip), np.zeros(runs), -speed * np.sin(dip)])
    release = Release(
        np.tile([0.0, 0.0, 2.2], (runs, 1)),
        velocity,
        attitudes(r, runs),
        (0.0, 0.0, 2.0 * np.pi / 13.0),
    )
    # No gravity to speak of: all that happens is the encounter.
    found = thrown(philae_on_legs(), 1e-9, release, grounds(r, 0.1, 0.6, runs), 1500.0)
    w = np.degrees(found.final["w"])
    rate = np.linalg.norm(w, axis=1)
    off = np.degrees(np.arccos(np.abs(w[:, 2]) / rate))
    slower = rate < 360.0 / 13.0
    kicks = np.array([len(c) for c in contacts_of(found)])
    notes = [
        f"It turns more slowly afterwards in {percent(slower)} of the runs, about an axis "
        f"{in_words(off)}° off the upright one. Contacts: {in_words(kicks)}.",
    ]
    return Event.of(study, {"rate": rate, "tumbling": (off > 10.0).astype(float)}, notes)


# -- NEAR ---------------------------------------------------------------------------------------


def near(study: Study, runs: int) -> Event:
    """A box at the reported speeds: how high is the highest hop?"""
    r = np.random.default_rng(2001)
    craft = RigidLander.box((2.0, 2.0, 1.5), 500.0, name="NEAR")
    rises, es = [], []
    for g, count in zip((2.5e-3, 4.0e-3, 5.5e-3), _thirds(runs), strict=True):
        way, turn = r.uniform(0.1, 0.3, count), r.uniform(0.0, 2.0 * np.pi, count)
        down = r.uniform(1.5, 1.9, count)
        velocity = np.column_stack([way * np.cos(turn), way * np.sin(turn), -down])
        release = Release(np.tile([0.0, 0.0, 2.0], (count, 1)), velocity, attitudes(r, count))
        ground = grounds(r, 0.02, 0.6, count)
        found = thrown(craft, g, release, ground, 5e3)
        air = [np.max(c["start"][1:] - c["end"][:-1], initial=0.0) for c in contacts_of(found)]
        rises.append(g * np.array(air) ** 2 / 8.0)
        es.append(ground["restitution"])
    rise, e = np.concatenate(rises), np.concatenate(es)
    low = rise < study.quantities[0].band[1]
    notes = [
        f"Runs that rise by less than 2 m have a restitution of {in_words(e[low])}; a ball would "
        f"need {np.sqrt(2 * 4e-3 * 2.0) / 1.7:.2f} or less.",
        f"With a restitution of 0.3 to 0.6 the hop is {in_words(rise[e > 0.3])} m high.",
    ]
    return Event.of(study, {"rise": rise}, notes)


def _thirds(count: int) -> list[int]:
    return [len(part) for part in np.array_split(np.arange(count), 3)]
