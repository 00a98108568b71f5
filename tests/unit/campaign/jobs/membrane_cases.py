"""Small campaigns of captures and of drops on a membrane."""

CAPTURE = """
kind = "capture"
seed = 5
[asteroid]
shapes = ["pear", "castalia"]
facets = 80
length = "8 m"
mass = "500 t"
spin = "0.5 rpm"
[stop]
duration = "13 s"
[record]
trajectories = [1]
every = "0.5 s"
[dispersions]
"asteroid.axis" = { kind = "cone", half_angle = "180 deg" }
"asteroid.length" = { kind = "uniform", low = "5 m", high = "8 m" }
"membrane.friction" = { kind = "uniform", low = 0.1, high = 1.0 }
"approach.offset" = { kind = "normal", sigma = "0.3 m" }
[campaign]
runs = 6
shard = 3
"""
DROP = """
kind = "drop"
[body]
length = "3 m"
facets = 80
mass = "100 kg"
[membrane]
side = "7.5 m"
stiffness = "30 N/m^3"
[release]
height = "3 m"
[gravity]
acceleration = ["0 m/s^2", "0 m/s^2", "-9.80665 m/s^2"]
[stop]
duration = "1 s"
[record]
trajectories = [0]
every = "0.1 s"
[dispersions]
"release.height" = { kind = "uniform", low = "2 m", high = "3 m" }
[campaign]
runs = 4
shard = 2
"""
