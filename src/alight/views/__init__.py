"""Figures and pictures. They read results and draw; they compute no physics.

Nothing is imported here: Matplotlib loads when a figure is drawn, not before.
"""
