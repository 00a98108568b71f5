"""The shape of case 1: an egg of 320 m by 260 m by 220 m with one dent, written to own_body.obj."""

import pathlib

import numpy as np

from alight import Mesh
from alight.shapes import icosphere

ball = icosphere(4)  # 5120 facets of a sphere of radius 1
dent = np.exp(-((ball.vertices - [0.0, 0.0, 1.0]) ** 2).sum(axis=1) / 0.3)
points = ball.vertices * [160.0, 130.0, 110.0] * (1.0 - 0.15 * dent)[:, None]  # [m]
Mesh(points, ball.faces).save(pathlib.Path(__file__).with_name("own_body.obj"), unit="m")
