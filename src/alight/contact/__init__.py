"""What happens where lander and ground meet: the compliant law (impulse and others to come)."""

from alight.contact.compliant import Compliant
from alight.contact.restitution import damping_ratio, restitution_of

__all__ = ["Compliant", "damping_ratio", "restitution_of"]
