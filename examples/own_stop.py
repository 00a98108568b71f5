"""A stop of your own: a run ends when the lander bounces higher than it may."""

import warp as wp

import alight
from alight.contact import Compliant
from alight.core.outcomes import Ending
from alight.core.types import scalar
from alight.engine import Scene, StopLaw
from alight.gravity import Uniform
from alight.surfaces import Plane


@wp.struct
class BouncedData:
    """A height [m]."""

    height: scalar


@wp.func
def bounced(data: BouncedData, scene: Scene):
    """Whether it has been on the ground and is higher than that now."""
    return scene.touches > 0 and scene.height > data.height


class Bounced(StopLaw):
    """Ends a run that has touched the ground and is above ``height`` [m] again."""

    Data, test = BouncedData, bounced
    ending = Ending(64, "bounced", "bounced higher than it may")
    uses_height = True

    def __init__(self, height: float) -> None:
        self.height = height

    def data(self, device):
        """Parameters as the kernel reads them."""
        data = BouncedData()
        data.height = self.height
        return data


if __name__ == "__main__":
    cube = alight.RigidLander.cube(0.2, 1.0)
    laws = (Uniform((0.0, 0.0, -5.7e-3)), Plane(), cube, Compliant(restitution=0.7))
    release = alight.Release((0.0, 0.0, 1.1), attitude=(0.0, 0.0, 0.0, 1.0))
    for height in (0.4, 0.6):  # it comes back to half the height it falls from
        solution = alight.simulate(alight.Model(*laws, stops=(Bounced(height),)), release)
        print(f"above {height} m: {solution.outcome.name}, {solution.outcome}")
        print(f"  after {solution.time[-1]:.1f} s, {solution.position[-1, 2]:.3f} m up")
