"""Fractal hills on a surface, and how high they are where."""
