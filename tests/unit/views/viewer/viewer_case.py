"""A small playback that needs no simulation: three boxes that bounce over a lumpy body."""

import numpy as np

from alight.core import frames
from alight.shapes import Mesh, icosphere
from alight.vehicles import RigidLander
from alight.views.playback import Contacts, Part, Playback, Sites, Track

RADIUS = 20.0
FAR_NAME = "</script><img src=x onerror=document.title='hit'>"
END = 30.0


def body():
    """A ball with bumps."""
    ball = icosphere(4, RADIUS)
    x, y, z = ball.vertices.T / RADIUS
    bump = 1.0 + 0.08 * np.sin(5.0 * x) * np.cos(4.0 * y) + 0.05 * np.sin(6.0 * z + 1.0)
    return Mesh(ball.vertices * bump[:, None], ball.faces)


def bouncing(run):
    """Two hops of a box, with a jump of the velocity between them, and a steady tumble."""
    half = np.linspace(0.0, 0.5 * END, 200)
    height = np.concatenate([0.04 * half * (15.0 - half), 0.02 * half * (15.0 - half)]) + 22.6
    climb = np.concatenate([0.04 * (15.0 - 2.0 * half), 0.02 * (15.0 - 2.0 * half)])
    time = np.concatenate([half, 15.0 + half])
    angle = 0.9 + 0.35 * run + 0.01 * time
    out = np.stack([np.cos(angle), np.sin(angle), 0.25 + 0.0 * angle], axis=1)
    place = height[:, None] * out
    along = np.stack([-np.sin(angle), np.cos(angle), 0.0 * angle], axis=1)
    speed = climb[:, None] * out + 0.01 * height[:, None] * along
    turn = frames.quat_multiply(
        frames.quat_from_axis_angle((0.3, 0.5, 0.8), 0.6 * time),
        frames.quat_from_axis_angle((1.0, 0.0, 0.0), 0.3 * np.sin(0.5 * time)),
    )
    met = Contacts(
        np.array([15.0]), place[200:201], out[200:201], np.array([0.6]), np.array([np.nan])
    )
    row = {"run": run, "settle_time_s": 30.0 + run, "peak_force_N": None, FAR_NAME: 1.0}
    moving = place[:, None], speed[:, None], turn[:, None]
    return Track(run, "settled", time, *moving, np.array([15.0]), met, row)


def playback():
    """Three runs with tracks among forty rest sites, a Sun, a body that turns."""
    lander = RigidLander.box((2.0, 1.5, 1.0), 10.0)
    ground = body()
    tracks = tuple(bouncing(run) for run in range(3))
    rng = np.random.default_rng(1)
    ends = np.array([track.position[-1, 0] for track in tracks])
    way = ends[0] + rng.normal(size=(40, 3)) * 4.0
    place = 21.5 * way / np.linalg.norm(way, axis=1)[:, None]
    place[:3] = ends
    words = ["escaped" if k % 8 == 7 else "settled" for k in range(40)]
    columns = {"settle_time_s": rng.uniform(20.0, 40.0, 40), FAR_NAME: np.arange(40.0)}
    sites = Sites(np.arange(40), place, words, columns, {"settle_time_s": "s"})

    def attitude(times):
        return frames.quat_from_axis_angle((0.0, 0.0, 1.0), 0.05 * np.asarray(times))

    def sun(times):
        return frames.quat_rotate_inv(attitude(times), (0.8, 0.3, 0.45)) / np.linalg.norm(
            (0.8, 0.3, 0.45)
        )

    slope = 40.0 * (1.0 + ground.vertices[:, 2] / RADIUS)
    return Playback(
        f"Tumbling landers {FAR_NAME}",
        (Part.of_mesh(FAR_NAME, "lander", lander.hull),),
        tracks,
        target=ground,
        attitude=attitude,
        sun=sun,
        sites=sites,
        folder="out/it's here",
        colours={"slope": (slope, "°")},
    )
