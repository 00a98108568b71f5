"""What is reported of landings: columns of runs, contacts and trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from alight.core.checks import Array
from alight.core.outcomes import Outcome
from alight.engine.columns import (
    RUN,
    Column,
    Columns,
    Source,
    each,
    numbered,
    outcome_words,
    place,
    vector,
)
from alight.motions.rigid.drive.manoeuvres import HOP_ENDS
from alight.motions.rigid.rest_depth import hull_depths


def _depths(source: Source) -> Any:
    return hull_depths(source.model, source.found.final, source.device, source.threads)


def _unknown(source: Source) -> Any:
    return np.ma.masked_all(len(source.found.final), dtype=np.float64)


def _runs(depth: Any) -> tuple[Column, ...]:
    """Of runs; ``depth`` computes how deep hulls overlap the ground."""
    settled, touched = "settled", "touched"
    return (
        RUN,
        Column(
            "outcome", "", "how it ended, in a word: settled, escaped, timed_out, ...",
            outcome_words, "text",
        ),
        Column("outcome_code", "", "the same as a number (16 to 63: failed)", "final.outcome",
               "int32"),
        Column("end_time", "s", "when it ended", "final.t"),
        *vector("end_", "m", "where: centre of mass, target axes", "final.x"),
        *vector("end_v", "m/s", "how fast then, relative to the turning target, target axes",
                "final.v"),
        Column("settle_time", "s", "when it came to rest; empty if it did not", "final.t",
               where=settled),
        *vector("rest_", "m", "where it rests, target axes; empty if it does not", "final.x",
                where=settled),
        *place("rest_", "final.x", settled, ", -180 to 180"),
        *vector("rest_q", "", "attitude there, quaternion from body to target axes", "final.q",
                "xyzw", settled),
        Column("hull_depth", "m",
               "depth of the overlap of hull and ground there; empty if articulated", depth),
        Column("first_contact_time", "s", "when it first touched; empty if never",
               "final.first_time", where=touched),
        *vector("first_contact_", "m", "where it first touched, target axes", "final.first_place",
                where=touched),
        *place("first_contact_", "final.first_place", touched),
        Column("first_contact_normal_speed", "m/s", "towards the ground, then",
               "final.first_speed", where=touched),
        Column("bounces", "", "contacts, the last included", "final.touches", "int32"),
        Column("path", "m", "path length of the centre of mass", "final.path"),
        Column("hardest_normal_speed", "m/s", "largest speed towards the ground of any contact",
               "final.hardest"),
        Column("peak_force", "N", "largest normal force", "final.peak_force"),
        Column("energy", "J", "E_J after the last contact; empty without one", "final.energy",
               where=touched),
        Column("energy_gain", "J", "largest rise of E_J in a contact, which was taken back",
               "final.gain"),
        Column("energy_drift", "J", "largest change of E_J in an arc of flight", "final.drift"),
        Column("steps", "", "steps tried", "final.steps", "int32"),
        Column("rejected_steps", "", "those of them not accepted", "final.rejected", "int32"),
    )  # fmt: skip


#: Of contacts of a lander with the ground.
CONTACTS: tuple[Column, ...] = (
    RUN,
    Column("contact", "", "number of the contact in its run, from 0", numbered, "int32"),
    Column("start_time", "s", "first push of the ground", "start"),
    Column("end_time", "s", "last push", "end"),
    *vector("", "m", "where it began, target axes", "place"),
    *place("", "place"),
    *vector("normal_", "", "outward normal of the ground there, target axes", "normal"),
    Column("normal_speed_in", "m/s", "along the normal before; negative towards the ground"),
    Column("tangential_speed_in", "m/s", "along the ground before"),
    Column("normal_speed_out", "m/s", "along the normal after"),
    Column("tangential_speed_out", "m/s", "along the ground after"),
    *vector("impulse_", "N s", "of the ground on the lander, target axes", "impulse"),
    Column("normal_impulse", "N s", "the part along the normal"),
    Column("peak_force", "N", "largest normal force"),
    Column("depth", "m", "deepest penetration"),
    Column("points", "", "most points that touched at once", kind="int32"),
    Column("energy_in", "J", "E_J before"),
    Column("energy_out", "J", "E_J after"),
)


def _shown(path: str, name: str) -> Any:
    """Where a time of hops is known: it is above 0."""

    def values(source: Source) -> Any:
        found, known = np.asarray(source.at(name)), np.asarray(source.at(path)) > 0.0
        return np.ma.masked_array(found, mask=~known)

    return values


def _hop_words(source: Source) -> Any:
    return np.array([HOP_WORDS[int(code)] for code in source.at("ended")], dtype=object)


def _length(first: str, *more: str) -> Any:
    """Length of a vector less others; empty where the manoeuvre did not get there."""

    def values(source: Source) -> Any:
        found = np.asarray(source.at(first)) - sum(np.asarray(source.at(name)) for name in more)
        got = {"velocity": "takeoff", "touch_place": "touch"}.get(first, "end")
        known = np.asarray(source.at(got)) > 0.0
        known &= np.asarray(source.at("ended")) != NOTHING_TO_DO
        return np.ma.masked_array(np.linalg.norm(found, axis=-1), mask=~known)

    return values


def _missed(first: str, got: str) -> Any:
    """Distance from where a hop meant to go, over level ground; empty where it meant none."""

    def values(source: Source) -> Any:
        aim = np.asarray(source.at("meant"))[:, None] * np.asarray(source.at("way"))
        off = np.asarray(source.at(first)) - np.asarray(source.at("place")) - aim
        known = (np.asarray(source.at(got)) > 0.0) & (np.asarray(source.at("meant")) > 0.0)
        return np.ma.masked_array(np.linalg.norm(off, axis=-1), mask=~known)

    return values


def _flown(source: Source) -> Any:
    known = np.asarray(source.at("touch")) > 0.0
    found = np.asarray(source.at("touch")) - np.asarray(source.at("takeoff"))
    return np.ma.masked_array(found, mask=~known)


#: How manoeuvres ended, by ``drive.manoeuvres.HOP_ENDS``.
HOP_WORDS = dict(enumerate(HOP_ENDS))
NOTHING_TO_DO = HOP_ENDS.index("nothing_to_do")

#: Of manoeuvres that were begun.
HOPS: tuple[Column, ...] = (
    RUN,
    Column("hop", "", "number of the manoeuvre in its run, from 0", "number", "int32"),
    Column("result", "", "hopped (it left the ground), moved (by more than a tenth of its radius, "
           "without flight), stuck, lost (it did not come to rest again), nothing_to_do",
           _hop_words, "text"),
    Column("start_time", "s", "when its commands began, at rest", "start"),
    *vector("start_", "m", "where: centre of mass, target axes", "place"),
    *place("start_", "place"),
    Column("asked_speed", "m/s", "at take-off, as it was asked for", "asked"),
    Column("meant_distance", "m", "how far it was to fly over level ground; 0 where that is not "
           "said", "meant"),
    *vector("meant_", "", "direction along the ground in which it was to go, target axes", "way"),
    Column("speed_share", "", "of the speed that was asked for, what wheels could give", "share"),
    Column("takeoff_time", "s", "when it left the ground; empty if it did not",
           _shown("takeoff", "takeoff")),
    Column("takeoff_speed", "m/s", "then", _length("velocity")),
    *vector("takeoff_v", "m/s", "then, relative to the turning target, target axes; 0 if it did "
            "not", "velocity"),
    Column("flight_time", "s", "from take-off to the first contact", _flown),
    *vector("touch_", "m", "centre of mass at the first contact, target axes; 0 without one",
            "touch_place"),
    Column("flight_distance", "m", "straight from the start to there",
           _length("touch_place", "place")),
    Column("flight_miss", "m", "how far that is from where it meant to come down",
           _missed("touch_place", "touch")),
    Column("end_time", "s", "when it was at rest again; empty if it was not",
           _shown("end", "end")),
    *vector("end_", "m", "where; 0 if it was not", "end_place"),
    Column("distance", "m", "straight from the start to there", _length("end_place", "place")),
    Column("miss", "m", "how far that is from where it meant to come down",
           _missed("end_place", "end")),
    Column("contacts", "", "contacts meanwhile, those of a lander at rest that woke up included",
           "contacts"),
    Column("wheel_max_speed", "rad/s", "largest speed of any wheel meanwhile", "fastest"),
    Column("wheel_energy", "J", "most that was in the wheels", "energy"),
    Column("actuator_work", "J", "work of all actuators meanwhile, that of brakes below 0", "work"),
)  # fmt: skip

#: Of the course of any lander.
MOVING: tuple[Column, ...] = (
    RUN,
    Column("time", "s", "at the release, then after each step"),
    *vector("", "m", "centre of mass, target axes", "position"),
    *vector("v", "m/s", "velocity relative to the turning target, target axes", "velocity"),
    *vector("q", "", "attitude, quaternion from body to target axes", "attitude", "xyzw"),
    *vector("w", "rad/s", "rate relative to the target, body axes", "rate"),
    Column("in_contact", "", "true in steps of the contact phase", kind="bool"),
    Column("normal_force", "N", "in the step before"),
)

_PARTS = ("linear", "angular", "centrifugal", "gravity", "elastic")
_ENERGY = (
    Column("energy", "J", "E_J", "energy.total"),
    *(Column(f"energy_{part}", "J", f"its part: {part}", f"energy.{part}") for part in _PARTS),
)


def drive_columns(wheels: Sequence[str], actuators: Sequence[str]) -> tuple[Column, ...]:
    """Of runs of landers with actuators, by the names of wheels and of all actuators."""
    fastest = "largest speed of the wheel, relative to the lander"
    work = "work of the actuator on the lander, that of brakes below 0"
    return (
        Column("hops", "", "how often it left the ground after it had come to rest", "hops",
               "int32"),
        *each("wheel_max_speed", wheels, "rad/s", fastest, "wheel_max_speed"),
        *each("actuator_work", actuators, "J", work, "work_each"),
    )  # fmt: skip


def plan_columns(goal: tuple[Array, float]) -> tuple[Column, ...]:
    """Of runs of landers that follow a plan to a goal, its place and radius [m]."""
    place, radius = goal

    def away(source: Source) -> Any:
        return np.linalg.norm(np.asarray(source.at("final.x")) - place, axis=1)

    def arrived(source: Source) -> Any:
        rests = np.asarray(source.found.outcome) == Outcome.SETTLED
        return (rests & (away(source) <= radius)).astype(np.int32)

    return (
        Column("arrived", "", "1 where it rests in the goal of its plan", arrived, "int32"),
        Column("goal_distance", "m", "from the middle of the goal at the end, straight", away),
    )


#: Of rigid landers.
RIGID = Columns(_runs(_depths), CONTACTS, (*MOVING, *_ENERGY))
#: Of runs of articulated landers, beside their loads: their hulls are not looked at.
TREE_RUNS = _runs(_unknown)
