"""A small scenario that lands in milliseconds: a cube dropped on a plane."""

import pytest

from alight.scenario import loads

TEXT = """
seed = 1
[gravity]
law = "uniform"
acceleration = ["0 m/s^2", "0 m/s^2", "-5.7e-3 m/s^2"]
[ground]
kind = "plane"
[lander]
shape = "cube"
side = "20 cm"
mass = "1 kg"
[release]
position = ["0 m", "0 m", "0.5 m"]
attitude = [0.1, 0.2, 0.3, 1.0]
[contact]
restitution = 0.5
friction = 0.6
[stop]
max_time = "150 s"
"""
DISPERSIONS = """
[dispersions]
"release.velocity" = { kind = "normal", sigma = "2 cm/s" }
"release.attitude" = { kind = "orientation" }
"contact.restitution" = { kind = "uniform", low = 0.4, high = 0.6 }
"""


@pytest.fixture
def scenario():
    """``scenario(runs, shard, ...)``; ``values`` replaces some, by key."""

    def make(
        runs=20, shard=6, sampling="random", trajectories=(), dispersions=DISPERSIONS, values=None
    ):
        part = f"""
[campaign]
runs = {runs}
shard = {shard}
sampling = "{sampling}"
[record]
trajectories = {list(trajectories)}
"""
        made = loads(TEXT + part + dispersions)
        return made.replaced(values) if values else made

    return make
