"""A dispersion: values between two limits, most likely at a peak."""

import numpy as np

from alight.campaign.dispersions.distributions import Distribution
from alight.core.errors import InputError


class Triangular(Distribution):
    """From ``low`` to ``high`` with the density of a triangle; each has a number a component."""

    def __init__(self, nominal, low, high, peak=None):
        self.low, self.high = np.asarray(low), np.asarray(high)
        self.peak = np.asarray(nominal if peak is None else peak)
        if not ((self.low <= self.peak) & (self.peak <= self.high) & (self.low < self.high)).all():
            raise InputError(f"the peak {self.peak} must lie between {self.low} and {self.high}.")
        self.dims = self.width = self.low.size

    def draw(self, u):
        """Values (n, width) from uniform numbers (n, dims), by the inverse of the distribution."""
        whole, left = self.high - self.low, self.peak - self.low
        rising = self.low + np.sqrt(u * whole * left)
        falling = self.high - np.sqrt((1.0 - u) * whole * (self.high - self.peak))
        return np.where(u * whole < left, rising, falling)
