"""Dispersions: distributions of values, and the values of each run."""
