"""Actuators of rigid landers under the engine: levels, wheels, and what they do in each step."""
