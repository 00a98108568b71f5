"""A small scenario that lands in milliseconds: a cube dropped on a plane."""

import pytest

from alight.scenario import loads

#: What differs from ``cube_drop``; dispersions are written below it.
OWN = {
    "seed": 1,
    "release": {"attitude": [0.1, 0.2, 0.3, 1.0]},
    "contact": {"friction": 0.6},
    "dispersions": None,
}
DISPERSIONS = """
[dispersions]
"release.velocity" = { kind = "normal", sigma = "2 cm/s" }
"release.attitude" = { kind = "orientation" }
"contact.restitution" = { kind = "uniform", low = 0.4, high = 0.6 }
"""


@pytest.fixture
def scenario(cube_drop):
    """``scenario(runs, shard, ...)``; ``values`` replaces some, by key."""

    def make(
        runs=20, shard=6, sampling="random", trajectories=(), dispersions=DISPERSIONS, values=None
    ):
        campaign = {"runs": runs, "shard": shard, "sampling": sampling}
        record = {"trajectories": list(trajectories)}
        made = loads(cube_drop(**OWN, campaign=campaign, record=record) + dispersions)
        return made.replaced(values) if values else made

    return make
