"""Scenarios and the catalogue of bodies."""

from alight.scenario import bodies

__all__ = ["bodies"]
