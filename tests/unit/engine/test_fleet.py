"""Models that differ in numbers alone as one batch: each run has its own, to the bit."""

import dataclasses

import numpy as np
import pytest

from alight import contact, gravity, surfaces, vehicles
from alight.core.errors import InputError
from alight.engine import Batch, Fleet, run_batch, run_models
from alight.engine.fleet import sorted_by_kind
from alight.engine.lot import Lot
from alight.engine.worlds import ALL, CONTACT, least_own


@pytest.fixture
def models(world):
    """Another slope, another gravity, another mass."""
    first = world()
    return [
        first,
        dataclasses.replace(first, surface=surfaces.Plane(normal=(0.2, 0.0, 1.0))),
        dataclasses.replace(first, gravity=gravity.Uniform((0.0, 1e-3, -9e-3))),
        world(lander=vehicles.RigidLander.cube(0.2, 3.0)),
    ]


def test_each_run_has_the_numbers_of_its_own_model(models, tumbled, device):
    release = tumbled(6)
    releases = [release[:2], release[2:3], release[3:5], release[5:]]
    ((numbers, whole, parts),) = run_models(models, releases, device=device)
    assert numbers == [0, 1, 2, 3]
    assert len(whole) == 6
    alone = [run_batch(m, r, device=device) for m, r in zip(models, releases, strict=True)]
    for name in ("t", "x", "v", "q", "w", "outcome", "steps", "peak_force", "gain"):
        for part, own in zip(parts, alone, strict=True):
            assert part.final[name].tobytes() == own.final[name].tobytes(), name
        everyone = np.concatenate([own.final[name] for own in alone])
        assert np.ascontiguousarray(whole.final[name]).tobytes() == everyone.tobytes(), name
    for part, own in zip(parts, alone, strict=True):
        for name in ("run", "start", "normal_impulse"):
            assert part.touches[name].tobytes() == own.touches[name].tobytes(), name


def test_other_laws_are_other_batches(world, models):
    rigid = world(contact.Impulse(restitution=0.5))
    assert sorted_by_kind([models[0], rigid, models[1]]) == [[0, 2], [1]]
    with pytest.raises(InputError, match="cannot share a batch"):
        Fleet([models[0], rigid], [[0], [1]])


@pytest.mark.parametrize("slots", [2, 16])
def test_lots_side_by_side_are_what_they_are_alone(models, tumbled, device, slots):
    """Runs of other models follow into the slots of those that end; each lot gets its own back."""
    _side_by_side(models, tumbled, device, slots, ALL)


@pytest.mark.parametrize("slots", [2, 16])
def test_lots_may_have_nothing_of_their_own_but_numbers_of_contact(world, tumbled, device, slots):
    """All else is read in common, also where it was made anew from equal numbers."""
    laws = [contact.Compliant(restitution=0.2 * i, friction=0.1 + 0.2 * i) for i in (1, 2, 3, 4)]
    models = [world(law) for law in laws]
    assert [least_own(model) for model in models] == 4 * [CONTACT]
    _side_by_side(models, tumbled, device, slots, CONTACT)


def test_runs_that_differ_in_more_than_contact_do_not_join_those_that_differ_in_it(
    models, tumbled, device
):
    lots = [Lot(model, tumbled(2), None) for model in models]
    batch = Batch(models[0], lots[0], device=device, slots=4, together=True, own=CONTACT)
    assert [batch.fits(lot) for lot in lots] == [True, False, False, False]
    with pytest.raises(ValueError, match="differ in more"):
        batch.add(lots[1])
    alone = Batch(models[0], lots[0], device=device, slots=4)
    assert [alone.fits(lot) for lot in lots] == [True, False, False, False]


def _side_by_side(models, tumbled, device, slots, own):
    release = tumbled(10)
    parts = [release[:3], release[3:5], release[5:9], release[9:]]
    lots = [Lot(m, part, None) for m, part in zip(models, parts, strict=True)]
    batch = Batch(models[0], lots[0], device=device, slots=slots, together=True, own=own)
    for lot in lots[1:]:
        batch.add(lot)
    ended = []
    while batch.advance():
        ended += batch.ended()
    assert sorted(map(lots.index, ended)) == [0, 1, 2, 3]
    for model, part, lot in zip(models, parts, lots, strict=True):
        own, found = run_batch(model, part, device=device), lot.result()
        for name in ("t", "x", "v", "q", "w", "outcome", "steps"):
            assert found.final[name].tobytes() == own.final[name].tobytes(), name
        for name in ("run", "start", "normal_impulse"):
            assert found.touches[name].tobytes() == own.touches[name].tobytes(), name
