"""Figures of a page, as many at a time as there are cores.

Drawing is Python nearly throughout, of which one thread runs at a time: only processes help. They
are copies of this one (``core.beside``), so that nothing is read, sent or computed again. Where
copies are not safe, figures are drawn one after the other.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path

from alight.core import devices
from alight.core.beside import begin_copy, can_copy, copying
from alight.views.report.section import Figure

#: A figure and the files to draw it into.
Job = tuple[Figure, Sequence[Path]]

_jobs: Sequence[Job] = ()


def draw(jobs: Sequence[Job], on_figure: Callable[[int], None]) -> None:
    """Draw all figures; ``on_figure`` is called with 0, then with how many there are so far."""
    workers = min(devices.thread_count(), len(jobs)) if can_copy() else 1
    if workers > 1:
        _draw_together(jobs, workers, on_figure)
        return
    on_figure(0)
    for done, (figure, files) in enumerate(jobs, 1):
        figure.draw(*files)
        on_figure(done)


def _draw_together(jobs: Sequence[Job], workers: int, on_figure: Callable[[int], None]) -> None:
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(jobs,))
    try:
        # The copies are made here, before a bar begins to move in a thread of its own.
        drawn = list(_submitted(pool, len(jobs)))
        on_figure(0)
        for done, future in enumerate(as_completed(drawn), 1):
            future.result()
            on_figure(done)
    finally:
        pool.shutdown(cancel_futures=True)


def _submitted(pool: ProcessPoolExecutor, count: int) -> Iterator[Future[None]]:
    with copying():
        for number in range(count):
            yield pool.submit(_draw_one, number)


def _begin(jobs: Sequence[Job]) -> None:
    global _jobs
    _jobs = jobs
    begin_copy()


def _draw_one(number: int) -> None:
    figure, files = _jobs[number]
    figure.draw(*files)
