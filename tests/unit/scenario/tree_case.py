"""A small articulated lander over a plane: a body on three crushable legs, and liquid."""

import copy
import tomllib

HEAD = """
title = "Three legs on a plane"
seed = 3

[gravity]
law = "uniform"
acceleration = ["0 m/s^2", "0 m/s^2", "-0.02 m/s^2"]

[ground]
kind = "plane"

[release]
position = ["0 m", "0 m", "0.72 m"]
velocity = ["5 cm/s", "0 m/s", "-20 cm/s"]
euler = ["3 deg", "0 deg", "0 deg"]

[contact]
law = "hertz"
stiffness = "2e4 N/m^1.5"
damping = "100 N*s/m"
friction = 0.3

[stop]
max_time = "60 s"
settle_time = "1 s"

[lander]
shape = "tree"

[[lander.body]]
name = "bus"
mass = "40 kg"
inertia = ["12 kg*m^2", "12 kg*m^2", "15 kg*m^2"]

[[lander.joint]]
body = "bus"
kind = "free"

[[lander.thruster]]
body = "bus"
place = ["0 m", "0 m", "0.5 m"]
direction = [0, 0, -1]
force = "3 N"
after = "touch"
times = ["0.1 s", "20 s"]
levels = [1, 0]

[[lander.body]]
name = "liquid"
mass = "3 kg"
inertia = ["0 kg*m^2", "0.01 kg*m^2", "0.01 kg*m^2"]
center = ["0 m", "0 m", "-0.2 m"]

[[lander.joint]]
body = "liquid"
kind = "revolute"
parent = "bus"
place = ["0 m", "0 m", "0.2 m"]
axis = [0, 1, 0]
stiffness = "3 N*m/rad"
damping = "0.3 N*m*s/rad"
start = "2 deg"

[[lander.slosh]]
body = "liquid"
parent = "bus"
direction = [0, 0, -1]
"""
LEG = """
[[lander.body]]
name = "leg-{k}"
mass = "2 kg"
inertia = ["0.02 kg*m^2", "0.02 kg*m^2", "0 kg*m^2"]
center = ["0 m", "0 m", "-0.2 m"]

[[lander.joint]]
body = "leg-{k}"
kind = "prismatic"
parent = "bus"
place = ["{x} m", "{y} m", "-0.2 m"]
axis = [0, 0, 2]

[[lander.pad]]
body = "leg-{k}"
place = ["0 m", "0 m", "-0.4 m"]

[[lander.crushable]]
body = "leg-{k}"
force = "8 N"
limit = "15 cm"
"""
PLACES = ((0.8, 0.0), (-0.4, 0.7), (-0.4, -0.7))
TEXT = HEAD + "".join(LEG.format(k=k, x=x, y=y) for k, (x, y) in enumerate(PLACES, 1))


def table():
    """The case as a table."""
    return copy.deepcopy(tomllib.loads(TEXT))


def part(found, kind, name):
    """The table of one part, by its name or its body's."""
    return next(p for p in found["lander"][kind] if name in (p.get("name"), p.get("body")))
