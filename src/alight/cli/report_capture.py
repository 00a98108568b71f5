"""What the captures of a campaign look like, for the pictures of its report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from alight.core.errors import AlightError

if TYPE_CHECKING:
    from alight.campaign.reader import Campaign
    from alight.views.figures.capture.scene import Look


def looks_of(campaign: Campaign) -> tuple[Callable[[int], Look] | None, str]:
    """What each run looks like, or why that is not known; nothing where no trajectory was kept."""
    from alight.campaign.dispersions.sampling import sample
    from alight.membrane import hull
    from alight.scenario import from_dict, prepare
    from alight.views.figures.capture.scene import Look

    if not campaign.trajectories:
        return None, ""
    if "study" in campaign.scenario:
        return None, "there are no pictures of captures: the study was made in Python."
    table = {key: value for key, value in campaign.scenario.items() if key != "made_by"}
    try:
        scenario = from_dict(table, "the campaign's scenario")
        prepared = prepare(scenario, "cpu")
    except AlightError as error:
        return None, f"there are no pictures of captures: {error}"

    def look(run: int) -> Look:
        values = sample(scenario, np.array([run]), total=campaign.plan.total)
        group = prepared.groups(values)[0]
        return Look.of(group.asteroid, group.craft, hull)

    return look, ""
