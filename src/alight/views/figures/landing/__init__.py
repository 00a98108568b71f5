"""Figures of campaigns of landings."""
