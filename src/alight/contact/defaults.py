"""What contact laws take where nothing is said, which scenario files know without loading Warp.

The laws say what each is.
"""

#: What rolling resistance is: a torque alone, or paper 004's torque with a push.
ROLLING_LAWS = ("torque", "compensated")
ROLLING_LAW = "torque"

#: Of ``Impulse``: height of a hop that is not followed [m], and the share of a radius in a step.
IMPULSE_HOP = 1e-4
STRIDE = 0.05

#: Of ``Sliding``: the same height [m], and the restitution along the ground.
SLIDING_HOP = 1e-2
TANGENTIAL_RESTITUTION = 1.0
