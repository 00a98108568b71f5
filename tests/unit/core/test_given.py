"""Laws remember what they were made with: changed, pickled."""

import pickle

import numpy as np
import pytest

from alight.contact import Compliant, Impulse
from alight.core.errors import InputError
from alight.core.given import Given
from alight.gravity import PointMass
from alight.shapes.icosphere import icosphere
from alight.surfaces import DistanceField, Plane


class Law(Given):
    """With positional and named arguments, and options passed on."""

    def __init__(self, first, second=2.0, **more):
        self.total = first + second + sum(more.values())


def test_a_law_is_made_anew_with_another_number():
    law = Law(1.0, third=3.0)
    assert law.arguments() == {"first": 1.0, "third": 3.0}
    assert law.changed(second=10.0).total == 14.0
    assert law.changed(third=5.0).total == 8.0
    assert law.total == 6.0


def test_what_follows_from_a_number_follows_it():
    """Sticking holds what sliding does unless it is given: also after a change."""
    law = Compliant(restitution=0.5, friction=0.6)
    assert law.changed(friction=0.8).static_friction == 0.8
    assert law.changed(friction=np.array([0.1, 0.2])).count == 2
    assert Impulse(restitution=0.5).changed(restitution=0.3).restitution == 0.3
    with pytest.raises(InputError, match="friction"):
        law.changed(friction=-1.0)


def test_names_that_are_none_are_told():
    with pytest.raises(InputError, match=r'"gn".*Did you mean "gm"'):
        PointMass(5.0).changed(gn=4.0)


def test_laws_can_be_sent():
    law = pickle.loads(pickle.dumps(Plane(normal=(0.0, 1.0, 1.0))))
    assert law.normal.tolist() == Plane(normal=(0.0, 1.0, 1.0)).normal.tolist()


def test_what_was_added_since_goes_along():
    """A distance field measures its bounds when it is built."""
    field = DistanceField.from_mesh(icosphere(1, 100.0), spacing=40.0, store=False, device="cpu")
    other = pickle.loads(pickle.dumps(field))
    assert other.bounds == field.bounds
    assert other.report == field.report
