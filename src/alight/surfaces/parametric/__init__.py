"""Smooth bodies with one radius for every direction: a series, its kernel, its bounds."""
