"""When a rise of energy over a whole run is out of all proportion."""

import numpy as np

from alight.engine.gain import gained_energy, moving_energy


def test_what_gravity_or_thrust_gave_is_no_gain():
    before, after = np.array([1.0, 1.0, 1.0, 0.0]), np.array([5.0, 5.0, 1.1, 0.0])
    given = np.array([4.0, 0.5, 0.0, 0.0])
    assert gained_energy(before, after, given).tolist() == [False, True, False, False]


def test_what_was_lost_is_no_gain():
    assert not gained_energy(np.array([3.0]), np.array([0.0]), np.array([2.0])).any()


def test_not_a_number_is_told_elsewhere():
    assert not gained_energy(np.array([1.0]), np.array([np.nan]), np.array([0.0])).any()


def test_kinetic_energy_of_bodies():
    inertia = np.diag([1.0, 2.0, 3.0])
    found = moving_energy(2.0, inertia, np.array([[3.0, 0, 0]]), np.array([[1.0, 1.0, 1.0]]))
    assert found.tolist() == [9.0 + 3.0]
