"""Rigid landers: hull, contact points, inertia, and their free rotation."""
