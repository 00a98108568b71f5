"""Figures: pictures of bodies and landers, and of what campaigns found. They compute no physics."""
