"""Placeholder while the smooth scheme is written."""

from alight.engine.clipped_phase import CLIPPED

SMOOTH = CLIPPED
