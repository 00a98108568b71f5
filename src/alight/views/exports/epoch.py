"""When t = 0 is: dates for files of other tools, in barycentric dynamical time (TDB).

Scenarios need no date, and most have none. Kernels and messages do: without one t = 0 is the epoch
J2000, and each file says so. Dates of scenarios are taken as TDB as they stand: the minute that TDB
is ahead of UTC is neglected here as it is where the Sun is placed (``core.orbits``).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from alight.core.errors import InputError
from alight.core.orbits import seconds_since_j2000

_J2000 = dt.datetime(2000, 1, 1, 12)
#: Dates are written to this [s]; lines that are closer cannot be told apart.
RESOLUTION = 1e-6


@dataclass(frozen=True)
class Epoch:
    """The date of t = 0."""

    seconds: float
    """TDB seconds past J2000, as SPICE counts."""
    source: str
    """Where it is from, in a sentence."""

    def et(self, t: float) -> float:
        """TDB seconds past J2000 at time ``t`` [s] of a run."""
        return self.seconds + t

    def julian(self, t: float = 0.0) -> float:
        """The Julian date (TDB) at time ``t`` [s] of a run, good to some 40 microseconds."""
        return 2_451_545.0 + self.et(t) / 86_400.0

    def text(self, t: float = 0.0) -> str:
        """The date at time ``t`` [s] of a run, to microseconds: 2018-10-03T01:57:20.000000."""
        try:
            moment = _J2000 + dt.timedelta(seconds=self.seconds) + dt.timedelta(seconds=t)
        except OverflowError:
            raise InputError(
                f"{t:g} s after the epoch there are no more dates: the last year is 9999. Give an "
                "earlier epoch."
            ) from None
        return moment.isoformat(timespec="microseconds")


def epoch_of(given: str | None, scenario_date: str | None) -> Epoch:
    """The epoch that a user asks for, that of the scenario, or J2000."""
    if given is not None:
        seconds = seconds_since_j2000(given)
        return Epoch(seconds, "t = 0 is the epoch that was asked for, taken as TDB.")
    if scenario_date is not None:
        return Epoch(
            seconds_since_j2000(scenario_date),
            "t = 0 is the date of the scenario, taken as TDB (about 69 s from UTC are neglected).",
        )
    return Epoch(0.0, "The scenario has no date: t = 0 is set to the epoch J2000.")
