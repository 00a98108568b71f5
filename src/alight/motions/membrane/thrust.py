"""What acts on a craft that carries a membrane: replaceable, as any law.

A subclass of ``Thrust`` names its struct ``Data`` and a Warp function ``push(data, t, touched,
craft, body) -> Wrench``: force and torque on the craft in inertial axes at the time t [s], with
``touched`` the time of first contact [s], below 0 before it. Steps end where contact begins, so
thrust may start there at once.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import checked_vector
from alight.core.types import scalar, vec3
from alight.membrane.forces import Moving
from alight.motions.membrane.state import Wrench


@wp.struct
class ConstantThrustData:
    """Force [N] in the craft's axes, where it acts [m], and 1 if it waits for contact."""

    force: vec3
    point: vec3
    waits: int


@wp.func
def constant_push(
    data: ConstantThrustData, t: scalar, touched: scalar, craft: Moving, body: Moving
):
    """The same force in the craft's axes, from the start or from first contact on."""
    push = Wrench()
    if data.waits == 0 or touched >= scalar(0.0):
        push.force = wp.quat_rotate(craft.q, data.force)
        push.torque = wp.quat_rotate(craft.q, wp.cross(data.point, data.force))
    return push


class Thrust:
    """What acts on the craft."""

    Data: Any
    push: Any

    def data(self, device: devices.Device) -> Any:
        """The parameters as kernels read them."""
        raise NotImplementedError


class ConstantThrust(Thrust):
    """``force`` (3,) [N] in the craft's axes at ``point`` [m]; after first contact alone."""

    Data = ConstantThrustData
    push = constant_push

    def __init__(
        self,
        force: npt.ArrayLike,
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
        *,
        from_start: bool = False,
    ) -> None:
        self.force = checked_vector("force [N]", force)
        self.point = checked_vector("point [m]", point)
        self.from_start = from_start

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        data = ConstantThrustData()
        data.force, data.point = vec3(*self.force), vec3(*self.point)
        data.waits = 0 if self.from_start else 1
        return data


#: No thrust at all.
NO_THRUST = ConstantThrust(np.zeros(3))
