"""Figures about how sure a campaign is of its answers."""

import itertools

import numpy as np
import pytest

from alight.analysis.intervals import Estimate
from alight.views import style
from alight.views.figures.statistics import _trend
from alight.views.words import Unit


@pytest.mark.parametrize("runs", [1_000, 100_000, 1_000_000])
def test_numbers_of_runs_do_not_run_into_each_other(runs):
    counts = np.unique(np.geomspace(10, runs, 12).astype(int))
    found = [Estimate(1.0, 0.5, 1.5, int(n)) for n in counts]
    with style.figure(9.6, 5.4) as figure:
        axes = figure.add_axes((0.1, 0.6, 0.4, 0.3))
        _trend(axes, counts, found, Unit("s", 1.0))
        figure.canvas.draw()
        low, high = axes.get_xlim()
        labels = [*axes.xaxis.get_ticklabels(), *axes.xaxis.get_ticklabels(minor=True)]
        shown = [one for one in labels if one.get_text() and low <= one.get_position()[0] <= high]
        spans = sorted((one.get_window_extent().x0, one.get_window_extent().x1) for one in shown)
    assert len(spans) >= 3
    assert all(end < begin for (_, end), (begin, _) in itertools.pairwise(spans))
