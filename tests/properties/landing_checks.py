"""What must hold of any landing, and figures that say by how much it does.

For every run: it ends, in a state that is finite; no contact point ends far inside the ground or
goes far into it on the way; no contact returns more energy than it met; its records make sense;
and a lander at rest stays where it is when it is let go again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from landing_cases import Case, picked

from alight.core.devices import resolve
from alight.core.outcomes import Outcome, outcome_of
from alight.engine import BatchResult, Stop, run_batch
from alight.gravity import Linearised
from alight.motions import Model, Release
from alight.motions.rigid.release import gaps
from alight.surfaces import Plane, Sphere

#: At the end of a run, contact points are no deeper than this many times the depth asked for. At
#: rest the weight presses a tenth of it in, a fifth where springs are as soft as they may be, on
#: ground that bends a little more (the worst of ten thousand: 0.211); between two walls as steep as
#: the ground gets, at an angle a, each carries 1 / (2 cos a) of it (the worst: 0.286 of a sphere on
#: hills of up to 70 degrees). Contact that was cut short by the time limit may be as deep as in a
#: hit.
INSIDE, INSIDE_AT_REST = 1.1, 0.25

#: On the way: springs are set for the speed of the whole lander, which keeps hits above it; but a
#: corner that slaps down while another one rests meets the soft springs of a contact that lasts,
#: which stiffen only as fast as energy to fill them can be spared. One run in a hundred goes below
#: 1.4 times the depth, the worst of ten thousand was at 11.
DEEP = 20.0

#: Raw rise of E_J in one contact over the work done in it. Steps of 0.2 rad keep the energy of a
#: linear spring to 0.2^2 / 24 = 2e-3 where they are cut by touching and leaving; ground whose slope
#: jumps from cell to cell of a grid is met by steps that do not know of it. It is taken back at the
#: end of the contact, but where it exceeds the energy of the motion left: records show that part.
GAIN, GAIN_ON_GRIDS = 2e-3, 2e-2

#: Let go again, a lander at rest finds springs set anew, up to twice as soft as those it came to
#: rest on: it sinks by half of the tenth of the depth that its weight presses in. Where rolling
#: resistance of the lander's size holds it on a corner, the corner may give way a little.
SINKS, SINKS_ON_A_CORNER = 0.1, 1.0

#: Outward speed at which a contact may begin [m/s].
OUTWARD = 1e-3

#: For how long it is watched [s]: longer than it takes to be told at rest again.
WATCHED = 1000.0

#: A run that was given up because of its number of steps rolls or slides on, at this speed or more
#: [m/s], ten times that of rest: one that shivers and does not come to rest is slower.
MOVING = 1e-4

ENDS = (Outcome.SETTLED, Outcome.ESCAPED, Outcome.TIMED_OUT, Outcome.OUT_OF_STEPS)


@dataclass(frozen=True, eq=False)
class Figures:
    """One value for each run of a case."""

    outcome: Any
    steps: Any
    """Steps taken."""
    speed: Any
    """Of the fastest point at the end [m/s]."""
    gap: Any
    """Least distance of a contact point from the ground at the end, over the depth."""
    deep: Any
    """Deepest penetration, over the depth."""
    gain: Any
    """Largest raw rise of E_J in a contact, over the work done in contact."""
    rise: Any
    """Largest recorded rise of E_J in a contact, over the work done in contact."""
    way: Any
    """How far those at rest move when they are let go again [m]."""
    may: Any
    """How far they may [m]."""
    again: Any
    """How that ended."""


def figures(case: Case, result: BatchResult, device: str) -> Figures:
    """What came of the runs of a case."""
    final, touches, model = result.final, result.touches, case.model
    n, depth = len(final), model.contact.depth
    turning = np.linalg.norm(final["w"], axis=1) * model.lander.bounding_radius
    lost = touches["energy_in"] - touches["energy_out"]
    rounding = 1e-12 * np.abs(touches["energy_in"])
    did = work(case, touches)
    # Of which contact the largest raw gain is, is not recorded: one of those that lost nothing.
    gaining = np.where(lost < rounding, did, 0.0)
    met = most(touches, gaining, n)
    met = np.where(met > 0.0, met, most(touches, did, n))
    # What rolls has no speed where it touches: the motion that the last contact ended with counts.
    met = met + 0.5 * model.lander.mass * np.sum(final["v"] ** 2, axis=1)
    way, may, again = rest(case, result, device)
    return Figures(
        outcome=final["outcome"],
        steps=final["steps"],
        speed=np.linalg.norm(final["v"], axis=1) + turning,
        gap=least_gap(model, final) / depth,
        deep=most(touches, touches["depth"], n) / depth,
        gain=np.divide(final["gain"], met, out=np.zeros(n), where=met > 0.0),
        rise=most(touches, (-lost - rounding) / did, n),
        way=way,
        may=may,
        again=again,
    )


def work(case: Case, touches: Any) -> Any:
    """(k,) what the forces of each contact may have done [J]: impulse times the largest speed, and
    what the weight does over the depth."""
    mass, model = case.model.lander.mass, case.model
    names = [f"{way}_speed_{end}" for way in ("normal", "tangential") for end in ("in", "out")]
    speeds = [touches[name] for name in names]
    fastest = np.max(np.abs(speeds), axis=0)
    pull = np.linalg.norm(model.full_gravity.evaluate(touches["place"])[1], axis=-1)
    return touches["normal_impulse"] * fastest + mass * pull * model.contact.depth


def least_gap(model: Model, final: Any) -> Any:
    """(n,) distance of the lowest contact point from the ground [m]."""
    return gaps(model, Release(final["x"], attitude=final["q"]), resolve("cpu"), 1)


def most(touches: Any, value: Any, n: int) -> Any:
    """(n,) largest value of the contacts of each run."""
    found = np.zeros(n)
    np.maximum.at(found, touches["run"], value)
    return found


def rest(case: Case, result: BatchResult, device: str) -> tuple[Any, Any, Any]:
    """How far landers at rest move when they are let go again, how far they may, and the end."""
    n, model = len(result), case.model
    way, may, again = np.zeros(n), np.ones(n), np.full(n, int(Outcome.SETTLED))
    rows = np.flatnonzero(result.outcome == Outcome.SETTLED)
    if len(rows):
        final = result.final[rows]
        stop = Stop(max_time=WATCHED, max_steps=100_000)
        contact = picked(model.contact, rows)
        same = Model(
            model.gravity,
            model.surface,
            model.lander,
            contact,
            rotation=model.rotation,
            stop=stop,
        )
        later = run_batch(same, Release(final["x"], attitude=final["q"]), device=device, threads=1)
        way[rows] = np.linalg.norm(later.position - final["x"], axis=1)
        again[rows] = later.outcome
        may[rows] = (SINKS if case.calm else SINKS_ON_A_CORNER) * model.contact.depth
    return way, may, again


def violations(case: Case, result: BatchResult, f: Figures) -> list[str]:
    """What does not hold, one line each."""
    final, touches = result.final, result.touches
    n = len(final)
    state = np.concatenate([final[name] for name in ("x", "v", "q", "w")], axis=1)
    settled = f.outcome == Outcome.SETTLED
    # On hills the gradient of height less ground has the length 1 / cos a.
    wedged = max(1.0, 0.5 * case.model.surface.bounds.slope)
    wrong: dict[str, Any] = {
        "did not end": ~np.isin(f.outcome, ENDS),
        "not finite": ~np.isfinite(state).all(axis=1),
        "inside at the end": f.gap < -INSIDE,
        "inside at rest": settled & (f.gap < -INSIDE_AT_REST * wedged),
        "deep on the way": f.deep > DEEP,
        "moves at rest": settled & (f.speed != 0.0),
        "cannot go on": ~np.isin(f.again, (Outcome.SETTLED, Outcome.TIMED_OUT)),
        "odd record": most(touches, odd(case, touches), n) > 0.0,
        "count of contacts": np.bincount(touches["run"], minlength=n) != final["touches"],
    }
    if case.model.rotation.uniform:  # E_J is no constant on others
        smooth = isinstance(case.model.surface, Plane | Sphere)
        most_of_it = GAIN if smooth else GAIN_ON_GRIDS
        wrong["gains energy"] = f.gain > most_of_it
        if not isinstance(case.model.gravity, Linearised):  # records do not follow its anchors
            wrong["keeps what it gained"] = f.rise > most_of_it
    return lines(case, f, wrong)


def unlucky(case: Case, f: Figures) -> list[str]:
    """Landers at rest that do not stay where they are, and those that never quite come to it.

    Where the target tumbles none is asked to stay: let go again, it begins at the first hour, with
    another pull.
    """
    shivers = (f.outcome == Outcome.OUT_OF_STEPS) & (f.speed <= MOVING)
    leaves = (f.way > f.may) & case.model.rotation.uniform
    return lines(case, f, {"shivers": shivers, "does not stay": leaves})


def lines(case: Case, f: Figures, wrong: dict[str, Any]) -> list[str]:
    """One line for each run that is wrong in some way."""
    return [
        f"{case.name}, run {i}: {what} ({outcome_of(f.outcome[i]).name}, {f.steps[i]} steps, "
        f"gap {f.gap[i]:.3g}, deep {f.deep[i]:.3g}, gain {f.gain[i]:.2g}, rise {f.rise[i]:.2g}, "
        f"way {f.way[i]:.2g} m, speed {f.speed[i]:.2g} m/s)"
        for what, rows in wrong.items()
        for i in np.flatnonzero(rows)
    ]


def odd(case: Case, touches: Any) -> Any:
    """(k,) 1 for records that cannot be."""
    unit = np.abs(np.linalg.norm(touches["normal"], axis=1) - 1.0) < 1e-9
    order = (touches["start"] <= touches["end"]) & (touches["energy_out"] < np.inf)
    pushed = (touches["peak_force"] > 0.0) & (touches["normal_impulse"] > 0.0)
    # A point that leaves and grazes the ground once more is told of only where it is so slow that
    # it falls back within the same contact.
    inward = touches["normal_speed_in"] <= OUTWARD
    count = (touches["points"] >= 1) & (touches["points"] <= case.model.lander.n_points)
    finite = np.isfinite(touches["impulse"]).all(axis=1)
    return (~(unit & order & pushed & inward & count & finite)).astype(float)
