"""What contact laws read and leave behind: the structs shared by every scheme."""

import warp as wp

from alight.core.types import scalar, vec3


@wp.struct
class CompliantData:
    """Parameters of the compliant law; see ``contact.Compliant``."""

    restitution: scalar  # energetic coefficient of the normal spring
    stiffness: scalar  # [N/m]; 0 where it follows the speed
    damping: scalar  # [N s/m], in compression only
    zeta: scalar  # damping ratio of the same restitution, for contact that lasts
    friction: scalar  # sliding
    static_friction: scalar
    rolling: scalar  # coefficient of rolling resistance C_RR [m]
    compensated: scalar  # 1 for paper 004's own rolling resistance, with its push; else 0
    patch: scalar  # radius of the contact patch [m]: spin friction of a single point
    depth: scalar  # penetration that the stiffness aims at [m]
    resolution: scalar  # phase of the stiffest oscillation covered in one step [rad]
    slip_speed: scalar  # below it, friction blends into sticking (smooth scheme) [m/s]
    slip_rate: scalar  # the same for rolling resistance [rad/s]


@wp.struct
class Grip:
    """What held the lander in the last step, as forces: the first guess for the next step."""

    friction: vec3  # [N]
    lever: vec3  # where it acted, from the centre of mass [m]
    rolling: vec3  # rolling resistance and spin friction [N m]
    push: vec3  # the force that goes with compensated rolling resistance [N]
    stuck: int  # 1 where the effective point did not slide
    spare: int  # keeps structs free of padding, which compilers carry along


@wp.struct
class Found:
    """A point of the lander that is near the ground: its gap, and how it would be pushed."""

    gap: scalar  # [m]
    gradient: vec3  # of the distance
    lever: vec3  # from the centre of mass to where it would touch [m]


@wp.struct
class Tangent:
    """The ground near a point of the lander as it was last looked up: a tangent plane."""

    place: vec3  # of the point then, target axes [m]
    distance: scalar  # [m]
    gradient: vec3  # of the distance


@wp.struct
class Pressed:
    """The normal contact of one instant: sums over the points that touch."""

    impulse: vec3  # of all normal forces [N s]
    weight: scalar  # sum of their sizes [N s]
    lever: vec3  # weighted sum of the levers [N s m]
    spread: scalar  # weighted sum of squared levers [N s m^2]
    stiffness: scalar  # trace of the inverse masses met, |grad phi|^2 included [1/kg]
    elastic: scalar  # energy in the springs [J]
    depth: scalar  # of the deepest point [m]
    active: int  # points that touch
    waiting: int  # 1 where a point is about to touch
    pace: scalar  # largest normal speed of points that touch or are about to [m/s]
