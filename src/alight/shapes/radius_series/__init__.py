"""Radius series: harmonics and monomials, and how a series is fitted to a mesh."""
