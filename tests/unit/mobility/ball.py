"""A ball of a point mass, which turns or not, and a point that hops on it."""

RADIUS, GM = 250.0, 5.0


def ball(hours: float | None = None, lander: str = 'shape = "point"\nmass = "1 kg"') -> str:
    """The text of the scenario; ``hours`` is the time of a turn."""
    turn = 'kind = "none"' if hours is None else f'period = "{hours} h"'
    return f"""
seed = 3
[body]
gm = "{GM} m^3/s^2"
[body.rotation]
{turn}
[gravity]
law = "point-mass"
[ground]
kind = "sphere"
radius = "{RADIUS} m"
[lander]
{lander}
[release]
kind = "ground"
latitude = "0 deg"
longitude = "0 deg"
[contact]
restitution = 0.3
friction = 0.8
[stop]
max_time = "20 h"
escape_radius = "3 km"
"""


FLAT = """
[gravity]
law = "uniform"
acceleration = ["0 m/s^2", "0 m/s^2", "-1e-3 m/s^2"]
[ground]
kind = "plane"
[lander]
shape = "point"
mass = "1 kg"
[release]
kind = "ground"
position = ["0 m", "0 m", "0 m"]
[contact]
restitution = 0.3
"""
