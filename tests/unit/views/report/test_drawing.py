"""Figures drawn together: the same files, errors and counts as one after the other."""

import os

import pytest

from alight.core import devices
from alight.core.beside import can_copy
from alight.core.errors import FileError
from alight.views.report import drawing
from alight.views.report.section import Figure


@pytest.fixture(params=[1, 2])
def threads(request, monkeypatch):
    monkeypatch.setattr(devices, "thread_count", lambda threads=None: request.param)
    return request.param


def _figure(number):
    return Figure(str(number), lambda file: file.write_text(f"{number} {os.getpid()}"), "", "")


def test_every_figure_is_drawn_and_counted(threads, tmp_path):
    jobs = [(_figure(k), [tmp_path / str(k)]) for k in range(5)]
    seen = []
    drawing.draw(jobs, seen.append)
    assert seen == [0, 1, 2, 3, 4, 5]
    told = [(tmp_path / str(k)).read_text().split() for k in range(5)]
    assert [int(number) for number, _ in told] == [0, 1, 2, 3, 4]
    here = {int(process) == os.getpid() for _, process in told}
    assert here == {threads == 1 or not can_copy()}


def test_what_a_figure_raises_comes_out(threads, tmp_path):
    def broken(file):
        raise FileError("no pen")

    jobs = [(_figure(0), [tmp_path / "0"]), (Figure("1", broken, "", ""), [tmp_path / "1"])]
    with pytest.raises(FileError, match="no pen"):
        drawing.draw(jobs, lambda count: None)


@pytest.mark.skipif(not can_copy(), reason="figures are drawn in turn here")
def test_a_drawer_that_is_killed_is_no_endless_wait(monkeypatch, tmp_path):
    monkeypatch.setattr(devices, "thread_count", lambda threads=None: 2)
    jobs = [(Figure(str(k), lambda file: os._exit(1), "", ""), [tmp_path / str(k)]) for k in (0, 1)]
    with pytest.raises(RuntimeError):
        drawing.draw(jobs, lambda count: None)
