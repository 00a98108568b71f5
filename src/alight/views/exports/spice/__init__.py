"""SPICE kernels of runs and of the body that they are on."""
