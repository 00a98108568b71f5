"""Rocks on a surface: how many, of which shape, where, and how a run finds those near it."""
