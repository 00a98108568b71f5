"""The ground floor: types, frames, constants, errors, outcomes, random numbers, devices.

Nothing is re-exported here: ``alight.core.errors`` and ``alight.core.extras`` load in a few
milliseconds, while ``types``, ``devices``, ``frames`` and ``random`` bring in Warp.
"""
