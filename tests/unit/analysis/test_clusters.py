"""Clusters of rest sites: found where there are gaps, and nowhere else."""

import numpy as np
import pytest

from alight.analysis.clusters import clusters, hollow


def ring(rng, n):
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    return np.stack([np.cos(angle), np.sin(angle)], 1) + 0.05 * rng.normal(size=(n, 2))


ALIKE = {
    "normal": lambda rng, n: rng.normal(size=(n, 2)),
    "even": lambda rng, n: rng.random((n, 2)),
    "long tails": lambda rng, n: rng.standard_t(2, size=(n, 2)),
    "skew": lambda rng, n: rng.exponential(size=(n, 2)) ** 2,
    "on a line": lambda rng, n: rng.normal(size=(n, 2)) * [1.0, 0.01],
    "ring": ring,
}


@pytest.mark.parametrize("kind", ALIKE)
@pytest.mark.parametrize("n", [1, 5, 30, 150])
def test_what_is_one_cloud_is_one_cluster(kind, n):
    rng = np.random.default_rng(n)
    found = [clusters(ALIKE[kind](rng, n)) for _ in range(20)]
    assert all(one.count == 1 for one in found)
    assert all((one.label == 0).all() for one in found)


@pytest.mark.parametrize("sizes", [(100, 50), (60, 60, 40)])
def test_clouds_with_gaps_are_told_apart(sizes):
    rng = np.random.default_rng(3)
    parts = [rng.normal([12.0 * k, 0.0, 0.0], 1.0, (n, 3)) for k, n in enumerate(sizes)]
    found = clusters(np.concatenate(parts))
    assert found.count == len(sizes)
    assert found.shares == pytest.approx(np.sort(sizes)[::-1] / np.sum(sizes))
    for k, n in enumerate(sizes):
        start = int(np.sum(sizes[:k]))
        assert len(set(found.label[start : start + n])) == 1


def test_a_few_strays_are_no_cluster():
    rng = np.random.default_rng(4)
    far = rng.normal(size=(3, 2)) + 50.0
    assert clusters(np.concatenate([rng.normal(size=(100, 2)), far])).count == 1


def test_many_places_are_labelled_by_the_nearest_that_were_looked_at():
    rng = np.random.default_rng(5)
    both = np.concatenate([rng.normal(size=(3000, 2)), rng.normal([15.0, 0.0], 1.0, (2000, 2))])
    found = clusters(both)
    assert found.count == 2
    assert (found.label == (np.arange(5000) >= 3000)).all()


def test_a_ring_is_hollow_and_a_cloud_is_not():
    rng = np.random.default_rng(6)
    assert hollow(ring(rng, 200)) is not None
    for kind in ("normal", "even", "long tails", "skew"):
        assert hollow(ALIKE[kind](rng, 200)) is None, kind
    assert hollow(ring(rng, 20)) is None  # too few to tell
