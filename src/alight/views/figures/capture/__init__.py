"""Figures of campaigns of captures."""
