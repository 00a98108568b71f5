"""``docs/reference/columns.md``: every column of the tables of campaigns, as motions declare them.

``python tools/columns_page.py`` writes the page; a test sees that it is up to date.
"""

from __future__ import annotations

import itertools
import pathlib
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from alight.engine.columns import Column
from alight.motions.capture.columns import CAPTURES
from alight.motions.membrane.columns import DROPS
from alight.motions.rigid.columns import HOPS, MOVING, RIGID, drive_columns, plan_columns
from alight.motions.tree.columns import END_TILT, load_columns, tree_columns, upright_column

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "reference" / "columns.md"

HEAD = """# Columns

Every column of the tables of [campaigns](../how_to/campaigns.md#files), and of `row` in
`alight run --json`. Written by `tools/columns_page.py` from what motions declare
(`Model(...).columns`).

Names end in their unit: `m_per_s` is m/s, `N_s` is N s. The unit also stands in the metadata of the
column. "Empty" is null in Parquet, NaN or NA in a data frame. After the columns below come one for
each dispersed number, named by its key, component and SI unit, and those that `record.columns`
names.
"""


def text() -> str:
    """The page."""
    legs: Any = _legs()
    parts = [
        HEAD,
        "## Landings\n\n### Runs\n",
        *_table(RIGID.runs),
        "\nOf rigid landers with actuators, by their names:\n",
        *_table(drive_columns(["WHEEL"], ["ACTUATOR"])),
        "\nOf those that follow a plan to a goal:\n",
        *_table(plan_columns((np.zeros(3), 1.0))),
        "\nOf articulated landers their loads next, by the names of parts:\n",
        *_table(load_columns(legs)),
        "\nOf those with manoeuvres the first of these, and of those that right themselves both, by"
        " the tilt that counts as upright:\n",
        *_table((END_TILT, upright_column(np.radians(30.0)))),
        "\n### Contacts\n",
        *_table(RIGID.contacts),
        "\n### Hops\n\nOf landers with [manoeuvres](../explanation/hopping.md), a row for each that"
        " was begun:\n",
        *_table(HOPS),
        "\n### Trajectories\n",
        *_table(RIGID.course),
        "\nOf articulated landers, in the place of energies:\n",
        *_table(tree_columns(legs).course[len(MOVING) :]),
        "\nOf prismatic joints they end in `_m` and `_m_per_s`; of spherical ones there are more:"
        "\n`_x`, `_y`, `_z` (and `_w` of the quaternion).",
        "\n## Captures\n\n### Runs of captures\n",
        *_table(CAPTURES.runs),
        "\n### Contacts of captures and drops\n",
        *_table(CAPTURES.contacts),
        "\n### Trajectories of captures\n",
        *_table(CAPTURES.course),
        "\n## Drops\n\n### Runs of drops\n",
        *_table(DROPS.runs),
        "\n### Trajectories of drops\n",
        *_table(DROPS.course),
    ]
    return "\n".join(parts) + "\n"


def _table(columns: Iterable[Column]) -> Iterator[str]:
    """Columns with equal unit and text, such as components, share a line."""
    yield "| column | unit | |\n|---|---|---|"
    for (unit, said), some in itertools.groupby(columns, lambda c: (c.unit, c.text)):
        names = ", ".join(f"`{_part(column.full_name)}`" for column in some)
        yield f"| {names} | {unit.replace('^2', '²') or '–'} | {said} |"


#: What stands for the names of parts.
_PARTS = {
    "WHEEL": "<wheel>",
    "ACTUATOR": "<actuator>",
    "PAD": "<pad>",
    "CRUSHABLE": "<crushable>",
    "SLOSH": "<slosh>",
    "BODY": "<body>",
    "BELLY": "<belly>",
}


def _part(name: str) -> str:
    for word, told in _PARTS.items():
        name = name.replace(word, told)
    return name


def _legs() -> SimpleNamespace:
    """A lander with one part of each kind, as far as its columns ask."""
    words = list(_PARTS)[2:]
    pad, crushable, slosh, body, belly = (SimpleNamespace(name=word) for word in words)
    joints = [
        SimpleNamespace(kind="free", body="bus"),
        SimpleNamespace(kind="revolute", body="BODY"),
    ]
    tree = SimpleNamespace(
        bodies=[SimpleNamespace(name="bus"), body],
        joints=joints,
        q_slices={"BODY": slice(7, 8)},
        v_slices={"BODY": slice(6, 7)},
    )
    fitted = SimpleNamespace(pads=[pad], crushables=[crushable], sloshes=[slosh], bellies=[belly])
    return SimpleNamespace(fitted=fitted, tour=None, tree=tree)


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
    print(f"wrote {PAGE}")
