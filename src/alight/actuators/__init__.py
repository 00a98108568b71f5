"""Actuators: what drives a lander. Wheels with motor and brake, thrusters, springs; their commands.

Commands are programmes over time (``Schedule``) or laws at a fixed rate (``Controller``). All of
them name the times at which they switch, and no step passes over a switch.
"""

from alight.actuators.controller import Controller
from alight.actuators.law import Actuator, Effort
from alight.actuators.schedule import Schedule
from alight.actuators.spring import Spring
from alight.actuators.thruster import Thruster
from alight.actuators.wheel import Wheel

__all__ = ["Actuator", "Controller", "Effort", "Schedule", "Spring", "Thruster", "Wheel"]
