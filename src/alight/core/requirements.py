"""``Requirement``: what a mission asks of its runs, in the units of stored tables.

A scenario states requirements ([[requirement]]), a campaign's folder keeps them, and
``analysis.requirements`` judges them: all three know this one class.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Ways to say what a run must do.
REST_WITHIN, BELOW, ABOVE, OUTCOME = "rest-within", "below", "above", "outcome"

#: Columns that no table has, and their units: light where runs rest, which analysis computes from
#: the shape of the body and the path of the Sun.
OF_LIGHT = {"longest_night_s": "s", "day_fraction": ""}

_REST = ("rest_x_m", "rest_y_m", "rest_z_m")


@dataclass(frozen=True)
class Requirement:
    """What a run must do, and how large the share of such runs must be."""

    name: str
    """What reports call it."""
    kind: str
    """``rest-within``, ``below``, ``above`` or ``outcome``."""
    share: float
    """Share of runs, 0 to 1, that is required or allowed."""
    at_least: bool = True
    """True: at least that share must do it. False: at most that share may."""
    confidence: float = 0.95
    """Of the decision: a wrong one is made in at most 1 - confidence of campaigns."""
    column: str = ""
    """Of ``below`` and ``above``: the column of the table of runs, or one of ``OF_LIGHT``."""
    limit: float = 0.0
    """In the unit of the column."""
    said: str = ""
    """The limit, or the radius, as the scenario writes it: "50 N"."""
    outcome: str = ""
    """Of ``outcome``: the word in the table."""
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of ``rest-within``: the target. A direction from the body's centre, or on flat ground a
    place [m]."""
    flat: bool = False
    """Whether ``center`` is a place."""
    radius: float = 0.0
    """Of ``rest-within`` [m]."""
    date: str = ""
    """Of light: when, UTC; that of the scenario where it is empty."""

    @property
    def of_light(self) -> bool:
        """Whether it asks for light where runs rest."""
        return self.kind in (BELOW, ABOVE) and self.column in OF_LIGHT

    @property
    def on_date(self) -> str:
        """For readers: `` on 2018-10-03``; empty where it names no date."""
        return f" on {self.date.removesuffix('T00:00:00')}" if self.date else ""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the table of runs that tell whether a run does it."""
        if self.kind == REST_WITHIN or self.of_light:
            return _REST
        return ("outcome",) if self.kind == OUTCOME else (self.column,)

    def __str__(self) -> str:
        """One line: ``peak_force_N below 50 N in at least 99 % of runs``."""
        if self.kind == REST_WITHIN:
            what = f"rest within {self.said} of the target"
        elif self.kind == OUTCOME:
            what = f"outcome {self.outcome}"
        else:
            what = f"{self.column} {self.kind} {self.said}"
            what += self.on_date
        most = "at least" if self.at_least else "at most"
        return f"{what} in {most} {100.0 * self.share:.6g} % of runs"
