"""Rigid contact by impulses: one impact in closed form, and many contacts at once."""
