"""Scenarios and the catalogues of bodies and landers."""

from alight.scenario import bodies, landers

__all__ = ["bodies", "landers"]
