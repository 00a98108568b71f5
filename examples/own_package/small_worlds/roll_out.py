"""A column, how far a lander gets from its first contact, and a section of the report about it."""

import numpy as np


def roll_out(rows):
    """Distance [m] from the first contact to where a run ended; nan where nothing was touched.

    ``rows`` are the columns of the table of runs by their names, one number for each run.
    """
    ends = (np.stack([rows[f"{at}_{axis}_m"] for axis in "xyz"]) for at in ("first_contact", "end"))
    first, last = ends
    return np.linalg.norm(last - first, axis=0)


def roll_out_section(data):
    """How far half of the landers got, and the farthest, in words and as numbers for scripts."""
    from alight.views.report.section import Paragraph, Section

    names = [f"{at}_{axis}_m" for at in ("first_contact", "end") for axis in "xyz"]
    table = data.campaign.read("runs", names)
    found = roll_out({name: np.array(table[name].to_pylist(), dtype=float) for name in names})
    middle, most = np.nanmedian(found), np.nanmax(found)
    said = f"From first contact to end: {middle:.2f} m in the middle, {most:.2f} m at most."
    numbers = {"median_m": float(middle), "most_m": float(most)}
    return Section("Roll-out", [Paragraph(said)], numbers=numbers)
