"""What is reported of drops on a membrane; of contacts and trajectories, as for captures."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from alight.core.outcomes import Outcome
from alight.engine.columns import RUN, Column, Columns, Source, numbered, outcome_words, vector
from alight.engine.run_kind import STOPPED, RunKind
from alight.motions.membrane.result import DROP_WORDS

CODE = Column("outcome", "", "how it ended, as a number", "outcome", "int32")
WORD = Column("ending", "", "the same in a word: held, at_rest, lost, ...", outcome_words, "text")


def _number(name: str, unit: str, text: str, of: str, kind: str = "float") -> Column:
    """A column whose name has its unit; empty where it is no number."""
    return Column(name, unit, text, of, kind, "known" if kind == "float" else "", plain=True)


_RUNS = (
    RUN,
    CODE,
    WORD,
    _number("end_s", "s", "when it ended", "end"),
    _number("first_contact_s", "s", "empty if never", "notes.first_contact_s"),
    _number("slack_s", "s", "when the fabric first went slack; empty if never", "notes.slack_s"),
    _number(
        "release_s", "s", "when the body last left the membrane; empty if never", "notes.release_s"
    ),
    _number("contacts", "", "how often contact was made", "notes.contacts", "int64"),
    _number("depth_m", "m", "largest below the suspension plane", "notes.depth_m"),
    _number("tension_n_per_m", "N/m", "largest", "notes.tension"),
    _number("force_n", "N", "largest on the body", "notes.force_n"),
    _number("slip_m", "m", "path of the contact along the fabric", "last[28]"),
    _number(
        "impact_m_s",
        "m/s",
        "of its lowest point towards the membrane; empty if it missed",
        "notes.impact_m_s",
    ),
    _number(
        "rebound_m_s",
        "m/s",
        "of its lowest point as it last left; empty if it did not",
        "notes.rebound_m_s",
    ),
    _number(
        "brought_j",
        "J",
        "kinetic energy at the start and what gravity gave it to the end",
        "notes.brought_j",
    ),
    _number("moving_j", "J", "kinetic energy at the end", "notes.moving_j"),
    _number("damped_j", "J", "lost in the fabric", "notes.damped_j"),
    _number("rubbed_j", "J", "lost to friction", "notes.rubbed_j"),
    _number("steps", "", "steps taken", "notes.steps", "int64"),
)

#: Of contacts of a body with a membrane.
CONTACTS = (
    RUN,
    Column("contact", "", "number of the contact in its run, from 0", numbered, "int32"),
    Column("start_time", "s", "when the suspension plane was crossed", "start"),
    Column("end_time", "s", "when it was left, or the end of the run", "end"),
    *vector("", "m", "centre of mass of the body as it began, inertial axes", "place"),
    *vector("normal_", "", "axis of the membrane then, inertial axes", "normal"),
    Column("normal_speed_in", "m/s", "of the lowest point along that axis, before"),
    Column("normal_speed_out", "m/s", "the same after"),
    *vector("impulse_", "N s", "of the membrane on the body, inertial axes", "impulse"),
    Column("normal_impulse", "N s", "the part along the axis"),
    Column("peak_force", "N", "largest on the body"),
    Column("depth", "m", "largest below the suspension plane"),
    Column("points", "", "most vertices that touched at once", kind="int32"),
)

TIME = Column("time", "s", "of the record", lambda source: source.found.time[: kept(source)])

_MOVING = [
    ("x", "xyz", "m", "centre of mass, inertial axes", "position"),
    ("v", "xyz", "m/s", "its velocity", "velocity"),
    ("q", "xyzw", "", "attitude, quaternion from body to inertial axes", "attitude"),
    ("w", "xyz", "rad/s", "rate, body axes", "rate"),
]


def kept(source: Source) -> int:
    """Records of the only run."""
    return int(source.found.records[0])


def recorded(take: Callable[[Any], Any], i: int | None = None) -> Callable[[Source], Any]:
    """The records of the only run, of what ``take`` finds in a flight (run, record, ...)."""

    def values(source: Source) -> Any:
        rows = take(source.found)[0, : kept(source)]
        return rows if i is None else rows[..., i]

    return values


def _taken(take: Callable[[Any, str], Any], state: str, flight: Any) -> Any:
    return take(flight, state)


def moving(name: str, take: Callable[[Any, str], Any]) -> Iterator[Column]:
    """Place, velocity, attitude and rate of one body; ``take`` finds them in a flight."""
    for letter, axes, unit, text, state in _MOVING:
        start = name if letter == "x" else f"{name}{letter}"
        for i, axis in enumerate(axes):
            of = recorded(functools.partial(_taken, take, state), i)
            yield Column(f"{start}{axis}", unit, text, of)


def contact(slip: Callable[[Any], Any]) -> tuple[Column, ...]:
    """What the fabric does; ``slip`` finds the path of the contact in a flight."""
    return (
        Column("in_contact", "", "true where the fabric is touched", lambda s: _deep(s) > 0.0,
               "bool"),
        Column("force", "N", "of the fabric on the body",
               lambda s: np.linalg.norm(recorded(lambda f: f.loads)(s)["force"], axis=1)),
        Column("depth", "m", "of the lowest vertex below the suspension plane", _deep),
        Column("slip", "m", "path of the contact along the fabric so far", recorded(slip)),
    )  # fmt: skip


def _deep(source: Source) -> Any:
    return np.maximum(0.0, -recorded(lambda flight: flight.loads)(source)["lowest"])


_COURSE = (
    RUN,
    TIME,
    *moving("body_", getattr),
    *moving("carrier_", lambda flight, state: getattr(flight, f"craft_{state}")),
    *contact(lambda flight: flight.slipped),
    Column("tension", "N/m", "of the fabric", recorded(lambda flight: flight.loads["tension"])),
    Column("damped", "J", "lost in the fabric so far", recorded(lambda flight: flight.damped)),
    Column("rubbed", "J", "lost to friction so far", recorded(lambda flight: flight.rubbed)),
)

#: What drops are called, and how they end.
DROP_KIND = RunKind(
    "drop",
    "Drops",
    DROP_WORDS,
    {"done": Outcome.TIMED_OUT, "released": Outcome.LOST},
    {"rim": Outcome.RIM, **STOPPED},
)
#: Of drops.
DROPS = Columns(_RUNS, CONTACTS, _COURSE)
