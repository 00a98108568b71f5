"""What laws beside the motion see of a run: stops, controllers of actuators."""

import warp as wp

from alight.core.types import quat, scalar, vec3


@wp.struct
class Scene:
    """A run at one instant, whatever moves.

    Of an articulated lander ``q`` and ``w`` are those of its first body; of a capture all is of the
    asteroid, in inertial axes.
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
