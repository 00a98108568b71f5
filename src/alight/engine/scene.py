"""What laws beside the motion see of a run: stops, controllers of actuators."""

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core.errors import InputError, unknown_name
from alight.core.types import quat, scalar, vec3


@wp.struct
class Scene:
    """A run at one instant, whatever moves.

    Of an articulated lander ``q`` and ``w`` are those of its first body. Of a body over a membrane
    (drops, and captures: the asteroid) all is in inertial axes, the contact is that with the
    membrane, and ``height`` is that of its lowest point above the suspension plane.
    """

    number: int  # of the run
    t: scalar  # [s]
    x: vec3  # centre of mass, target axes [m]
    v: vec3  # relative to the turning target, target axes [m/s]
    q: quat  # body to target axes
    w: vec3  # relative to the target, body axes [rad/s]
    height: scalar  # distance of the centre of mass to the ground [m]; 0 where no law asks for it
    touches: int  # contacts that have ended
    touching: int  # 1 in contact
    touched: scalar  # when the ground was first touched [s]; 1e30 before
    turn: quat  # target to inertial axes; 0 where no law asks for it


#: What a scene has where nothing is said of it.
_COMMON = {"q": (0, 0, 0, 1), "turn": (0, 0, 0, 1), "height": np.nan, "touched": 1e30}


def scenes(**fields: npt.ArrayLike) -> Any:
    """(n,) scenes as a structured array, for laws to be evaluated on: ``scenes(x=points, t=0.0)``.

    ``fields`` are those of ``Scene`` by name, one row for each or one for all. What is not given is
    0; attitudes are upright, the height is unknown (NaN), and nothing was touched yet.
    """
    kind: Any = Scene
    dtype = np.dtype(kind.numpy_dtype())
    wide = {name: dtype[name].shape for name in dtype.names or ()}
    for name in fields:
        if name not in wide:
            raise unknown_name("field of a scene", name, list(wide))
    rows = {name: np.asarray(value, dtype=np.float64) for name, value in fields.items()}
    counts = {len(a) for name, a in rows.items() if a.ndim > len(wide[name])}
    if len(counts) > 1:
        raise InputError(
            f"fields of scenes have {sorted(counts)} rows; give one row for each, or one for all."
        )
    out: Any = np.zeros(counts.pop() if counts else 1, dtype=dtype)
    for name, value in {**_COMMON, **rows}.items():
        out[name] = value
    return out
