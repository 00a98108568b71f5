"""What the solution of one run of any motion offers: data frames, and a few words in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from alight.core.errors import InputError, unknown_name
from alight.core.extras import require
from alight.core.html import facts_html
from alight.core.outcomes import AnyEnding
from alight.engine.columns import RUN, Column, Columns, Source

TABLES = ("history", "contacts")


class ToldRun:
    """A run whose history was kept; solutions of motions say which columns they have."""

    events: Any

    def _columns(self) -> Columns:
        """The columns of its history and of its contacts."""
        raise NotImplementedError

    def _ended(self) -> tuple[AnyEnding, float]:
        """How it ended, and when [s]; an error where several runs are held."""
        raise NotImplementedError

    def _steps(self) -> str:
        """How many steps it took, and which of them are kept."""
        raise NotImplementedError

    def _filled(self, table: str) -> Iterator[tuple[Column, Any]]:
        """The columns of a table, all but the number of the run, and their values."""
        if table not in TABLES:
            raise unknown_name("table", str(table), TABLES)
        self._ended()
        columns = self._columns()
        if table == "history":
            listed = columns.course
            source = Source(self, np.zeros(1, np.int64), getattr(self, "model", None))
        else:
            listed = columns.contacts
            source = Source(self.events, self.events["run"])
        for column in listed:
            if column is not RUN:
                yield column, column.values(source)

    def to_pandas(self, table: str = "history") -> Any:
        """A ``pandas.DataFrame``: a row for each line of the history, or with ``"contacts"`` for
        each contact.

        Names of columns end in their units; ``frame.attrs`` has units and meanings by column.
        """
        pandas = require("pandas", "pandas")
        filled = list(self._filled(table))
        frame = pandas.DataFrame({c.full_name: np.asarray(values) for c, values in filled})
        frame.attrs["units"] = {c.full_name: c.unit for c, _ in filled}
        frame.attrs["meanings"] = {c.full_name: c.text for c, _ in filled}
        frame.attrs["outcome"] = self._ended()[0].name.lower()
        return frame

    def to_xarray(self) -> Any:
        """An ``xarray.Dataset``: the history along ``time``, and along ``contact`` what there is of
        contacts, under names that begin with ``contact_``.

        Units and meanings are attributes of the variables, ``units`` and ``long_name``.
        """
        xarray = require("xarray", "xarray")

        def variable(dimension: str, column: Column, values: Any) -> Any:
            about = {"units": column.unit, "long_name": column.text}
            return (dimension, np.asarray(values), about)

        known = {c.name: variable("time", c, values) for c, values in self._filled("history")}
        met = {c.name: variable("contact", c, values) for c, values in self._filled("contacts")}
        places = {"time": known.pop("time"), "contact": met.pop("contact")}
        data = {**known, **{f"contact_{name}": one for name, one in met.items()}}
        ending = self._ended()[0]
        about = {"outcome": ending.name.lower(), "outcome_meaning": ending.message}
        return xarray.Dataset(data, coords=places, attrs=about)

    def __str__(self) -> str:
        ending, end = self._ended()
        return f"{ending} after {end:.6g} s, {len(self.events)} contacts and {self._steps()}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_html_(self) -> str:
        ending, end = self._ended()
        rows = [
            ("outcome", ending.message),
            ("end", f"{end:.6g} s"),
            ("contacts", str(len(self.events))),
            ("history", self._steps()),
        ]
        return facts_html(type(self).__name__, rows)


def only_one(count: int) -> None:
    """An error unless a flight is of one run."""
    if count != 1:
        raise InputError(f"this is of one run at a time, and there are {count}: take flight[0].")
