"""Landers that are one rigid body."""
