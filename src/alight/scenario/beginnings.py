"""Scenario files to begin with: commented, for a kind of mission, a body and a lander.

What ``alight scenario new --for ...`` writes. Numbers that go with a body (heights, speeds, how far
off a lander has escaped) are made for the one that is named.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from alight.core.errors import InputError, unknown_name
from alight.scenario import bodies, landers
from alight.scenario.building.articulated_landers import READY, ready_name

#: What missions there are, and a line on each.
MISSIONS = {
    "landing": "A rigid lander released above a body: where does it rest, how often is it lost?",
    "legs": "A lander on crushable legs comes down on a body: does it stand?",
    "hop": "A lander at rest on a body is pushed off in eight azimuths: where does it go?",
    "capture": "A spacecraft takes hold of a tumbling asteroid with a membrane.",
    "drop": "A body falls on a membrane.",
}


def text_for(mission: str, body: str | None = None, lander: str | None = None) -> str:
    """The text of a scenario file for a mission."""
    if mission not in MISSIONS:
        raise unknown_name("mission", mission, MISSIONS)
    if mission in ("capture", "drop"):
        given = {"--body": body, "--lander": lander}
        wrong = [name for name, value in given.items() if value is not None]
        if wrong:
            raise InputError(f"{wrong[0]} goes with landing, legs and hop, not with {mission}.")
        return _CAPTURE if mission == "capture" else _DROP
    found = bodies.find(body or "ryugu")
    makers: dict[str, Callable[[bodies.Body, str], str]] = {
        "landing": _landing,
        "legs": _legs,
        "hop": _hop,
    }
    return _aligned(makers[mission](found, _lander(mission, lander)))


def _aligned(text: str) -> str:
    """Remarks behind values in one column, where there is room."""
    lines = []
    for line in text.splitlines():
        value, mark, remark = line.partition(" # ")
        lines.append(f"{value.rstrip():30} # {remark}" if mark and value.strip() else line)
    return "\n".join(lines) + "\n"


def _lander(mission: str, given: str | None) -> str:
    """The name of a lander that goes with the mission."""
    if mission == "legs":
        if given is None or ready_name(given) is not None:
            return ready_name(given or "dcap") or "dcap"
        raise InputError(
            f'--lander "{given}" has no legs; articulated landers of the catalogue: '
            f"{', '.join(READY)}. For one of your own begin with --like paper002_landing and see "
            "docs/how_to/scenarios.md, articulated landers."
        )
    return landers.find(given or "minerva-ii-1").name


def _rounded(value: float) -> str:
    """With one digit, as a person would choose it."""
    size = 10.0 ** math.floor(math.log10(value))
    return f"{round(value / size) * size:.10g}"


def _speed(body: bodies.Body, part: float) -> str:
    """A part of the escape speed, in cm/s."""
    return f"{_rounded(100.0 * part * body.escape_speed)} cm/s"


def _head(title: str, about: str, body: bodies.Body) -> str:
    return f"""# {title}.
# {about}
# Every key, its unit and its default: docs/reference/scenario_keys.md.
# Check with: alight scenario check FILE

title = "{title}"
seed = 1                       # of all random numbers

[body]
name = "{body.name.lower()}" # alight body --list; or mesh = "mine.obj", unit = "km"
facets = 5120                  # of the built-in shape

[gravity]
law = "smooth"                 # a table of the shape's own field; "point-mass" is coarser
"""


def _stop(body: bodies.Body) -> str:
    return f"""
[stop]
max_time = "20 h"              # a run that still moves then has timed out
escape_radius = "{_rounded(20.0 * body.mean_radius)} m" # beyond this it has escaped
"""


_CAMPAIGN = """
[campaign]
runs = 1000                    # alight campaign FILE --out out/mine; more may be added later

[record]
trajectories = [0]             # runs whose full trajectory is kept

[[requirement]]                # what the mission asks; judged at the end of a campaign
kind = "outcome"
outcome = "escaped"
at_most = 0.05
"""


def _landing(body: bodies.Body, lander: str) -> str:
    height = _rounded(0.1 * body.mean_radius)
    return f"""{_head(f"{lander} on {body.name}", MISSIONS["landing"], body)}
[ground]
kind = "distance-field"        # smooth distances to the shape; "facets" touches its triangles

[ground.noise]                 # hills finer than the shape
amplitude = "0.3 m"
wavelength = "20 m"

[lander]
name = "{lander}" # alight lander --list; or shape = "cube", side and mass

[release]
latitude = "20 deg"
longitude = "40 deg"
height = "{height} m" # of the centre of mass above the ground
# East, north, up, relative to the turning body:
velocity = ["0 cm/s", "0 cm/s", "-{_speed(body, 0.05)}"]

[contact]
law = "compliant"              # springs; "impulse" is rigid
restitution = 0.6
friction = 0.6

[dispersions]                  # what is uncertain, by the key of its value
"release.velocity" = {{ kind = "normal", sigma = "{_speed(body, 0.05)}" }}
"release.attitude" = {{ kind = "orientation" }}
"contact.restitution" = {{ kind = "uniform", low = 0.4, high = 0.8 }}
{_stop(body)}{_CAMPAIGN}"""


def _legs(body: bodies.Body, lander: str) -> str:
    return f"""{_head(f"Crushable legs on {body.name}", MISSIONS["legs"], body)}
[ground]
kind = "facets"                # the triangles of the shape

[lander]
name = "{lander}" # three crushable legs; one of your own: shape = "tree"

[release]
latitude = "20 deg"
longitude = "40 deg"
height = "5 m"                 # of the first body's origin above the ground
velocity = ["0 cm/s", "0 cm/s", "-{_speed(body, 0.5)}"]    # east, north, up
attitude_axes = "local"
euler = ["90 deg", "0 deg", "0 deg"]   # the y axis of this lander is up

[contact]
law = "hertz"                  # springs of Hertz under the pads
stiffness = "1e5 N/m^1.5"
damping = "200 N*s/m"
friction = 0.5

[stop]
max_time = "500 s"
tip_angle = "60 deg"           # tilt at which it has tipped over

[dispersions]
"release.velocity" = {{ kind = "normal", sigma = "2 cm/s" }}
"contact.friction" = {{ kind = "uniform", low = 0.3, high = 0.7 }}

[campaign]
runs = 100

[record]
trajectories = [0]

[[requirement]]
kind = "outcome"
outcome = "tipped_over"
at_most = 0.05
"""


def _hop(body: bodies.Body, lander: str) -> str:
    return f"""{_head(f"{lander} hops on {body.name}", MISSIONS["hop"], body)}
[ground]
kind = "distance-field"

[lander]
name = "{lander}"

[release]
kind = "ground"                # placed touching the ground, then pushed off
latitude = "20 deg"
longitude = "40 deg"
vertical = "surface normal"    # which way is up; or "plumb line"
attitude_axes = "local"
speed = "{_speed(body, 0.2)}"
azimuth = "0 deg"              # from north towards east
elevation = "45 deg"

[contact]
law = "compliant"
restitution = 0.6
friction = 0.6

[dispersions]                  # every combination once
"release.azimuth" = {{ kind = "sweep", low = "0 deg", high = "315 deg", count = 8 }}
"release.speed" = {{ kind = "sweep", values = ["{_speed(body, 0.1)}", "{_speed(body, 0.2)}"] }}
{_stop(body)}
[campaign]                     # the number of runs follows from the sweep
shard = 50                     # runs that are written together

[record]
trajectories = [0]             # runs whose full trajectory is kept
"""


_CAPTURE = """# Capture of a tumbling asteroid.
# A spacecraft takes hold of it with a membrane: how often is it held, and what do the arrays bear?
# Every key, its unit and its default: docs/reference/scenario_keys.md.
# Check with: alight scenario check FILE

kind = "capture"
title = "A pear of 1000 t"
seed = 1                       # of all random numbers

[asteroid]
shape = "pear"                 # or a built-in shape, or mesh = "mine.obj", unit = "m"
length = "10.5 m"
mass = "1000 t"
spin = "0.5 rpm"
axis = [0.3, 0.2, 0.93]        # of the spin, in the asteroid's axes

[approach]
controller = "corkscrew"       # or "angular-momentum", "instantaneous"

[membrane]
friction = 0.7

[dispersions]                  # what is uncertain, by the key of its value
"asteroid.spin" = { kind = "uniform", low = "0.1 rpm", high = "0.5 rpm" }
"asteroid.axis" = { kind = "cone", half_angle = "180 deg" }
"membrane.friction" = { kind = "uniform", low = 0.4, high = 1.0 }

[campaign]
runs = 200                     # alight campaign FILE --out out/mine

[[requirement]]                # what the mission asks; judged at the end of a campaign
kind = "below"
column = "bending_nm"
value = "1765 N*m"
share = 0.9
"""

_DROP = """# A body that falls on a membrane.
# How deep does it go, how hard is it caught, and does it come back?
# Every key, its unit and its default: docs/reference/scenario_keys.md.
# Check with: alight scenario check FILE

kind = "drop"
title = "A drop on a membrane"
seed = 1                       # of all random numbers

[body]
shape = "castalia"             # a built-in shape, or mesh = "mine.obj", unit = "m"
length = "4.5 m"
mass = "100 kg"

[membrane]
side = "7.5 m"                 # of the hexagon that it hangs from
stiffness = "30 N/m^3"
damping = "1.5 N*s/m^3"
friction = 0.2

[release]
height = "10 m"                # of the centre of mass above the middle of the points

[gravity]
acceleration = ["0 m/s^2", "0 m/s^2", "-9.80665 m/s^2"]

[stop]
duration = "3 s"

[dispersions]                  # what is uncertain, by the key of its value
"release.velocity" = { kind = "normal", sigma = "10 cm/s" }
"membrane.damping" = { kind = "uniform", low = "1 N*s/m^3", high = "2 N*s/m^3" }

[campaign]
runs = 100                     # alight campaign FILE --out out/mine
"""
