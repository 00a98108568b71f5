"""Progress of long work: silent, plain lines for a log, or a live bar on a terminal.

::

    with progress("auto") as bar:
        bar.start("Building", total=n)
        for chunk in chunks:
            ...
            bar.advance(len(chunk), settled=12, lost=1)
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TextIO

from alight.core.errors import unknown_name

if TYPE_CHECKING:
    from rich.progress import Progress as RichBar
    from rich.progress import TaskID

KINDS = ("auto", "silent", "text", "rich")

#: Least time between two lines of the text form, and before the first of a stage [s].
TEXT_INTERVAL, TEXT_FIRST = 1.5, 0.7


class Progress(Protocol):
    """Progress of long work; a context manager that may run several stages."""

    def start(self, title: str, total: int | None = None) -> None:
        """Begin a stage of ``total`` items; None where the number is not known."""
        ...

    def advance(self, n: int = 1, **facts: object) -> None:
        """Report ``n`` more items done, with facts worth showing, such as ``settled=12``."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def progress(kind: str | Progress = "auto", stream: TextIO | None = None) -> Progress:
    """Make a progress report of the given kind on ``stream`` (standard error by default).

    ``"auto"`` draws a bar on a terminal and writes plain lines elsewhere. A ``Progress`` made
    before is returned as it is, so that functions can pass one on.
    """
    if not isinstance(kind, str):
        return kind
    if kind not in KINDS:
        raise unknown_name("progress", kind, KINDS)
    stream = sys.stderr if stream is None else stream
    if kind == "auto":
        kind = "rich" if stream.isatty() else "text"
    if kind == "silent":
        return Silent()
    return Rich(stream) if kind == "rich" else Plain(stream)


#: Bars that are showing something now; and when a line was last written [s].
_showing: set[int] = set()
_spoke = time.monotonic()


def showing() -> bool:
    """Whether some bar or its lines show how far work has come."""
    return bool(_showing)


def spoke() -> None:
    """A line about long work has been written, or someone begins to listen."""
    global _spoke
    _spoke = time.monotonic()


def silence() -> float:
    """How long it is since a line was written, or since someone began to listen [s]."""
    return 0.0 if showing() else time.monotonic() - _spoke


class Silent:
    """Says nothing."""

    def start(self, title: str, total: int | None = None) -> None:
        """Begin a stage."""

    def advance(self, n: int = 1, **facts: object) -> None:
        """Report items done."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Plain:
    """Plain lines: one after a second, then one every few seconds, and one when a stage ends.

    A thread of its own writes them where a single item takes longer than that.

    ``Building: 1200/5000 (24 %), 240.1/s, 15.8 s left, settled 12``
    """

    def __init__(
        self,
        stream: TextIO,
        interval: float = TEXT_INTERVAL,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._interval = interval
        self._clock = clock
        self._title: str | None = None
        self._lock, self._over = threading.Lock(), threading.Event()
        self._teller: threading.Thread | None = None

    def start(self, title: str, total: int | None = None) -> None:
        """Begin a stage, closing the one before."""
        with self._lock:
            self._finish()
            self._title, self._total, self._done = title, total, 0
            self._facts: dict[str, object] = {}
            self._began = self._clock()
            self._due = self._began + min(TEXT_FIRST, self._interval)
        _showing.add(id(self))
        if self._teller is None:
            self._over.clear()
            self._teller = threading.Thread(target=self._tell, daemon=True)
            self._teller.start()

    def advance(self, n: int = 1, **facts: object) -> None:
        """Count items and write a line when one is due."""
        with self._lock:
            if self._title is None:
                raise RuntimeError("advance() was called before start()")
            self._done += n
            self._facts.update(facts)
            self._write_if_due()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _showing.discard(id(self))
        self._over.set()
        if self._teller is not None:
            self._teller.join()
            self._teller = None
        self._finish()

    def _tell(self) -> None:
        """Write lines as they fall due while nothing advances."""
        while not self._over.wait(0.25):
            with self._lock:
                if self._title is not None:
                    self._write_if_due()

    def _write_if_due(self) -> None:
        now = self._clock()
        if now >= self._due:
            self._due = now + self._interval
            self._write(now)

    def _finish(self) -> None:
        """Write the last line of a stage: how far it came and how long it took."""
        if self._title is not None:
            self._write(self._clock(), ended=True)
            self._title = None

    def _write(self, now: float, ended: bool = False) -> None:
        elapsed = now - self._began
        parts = [f"{self._title}: {counted(self._done, self._total)}"]
        if self._done and elapsed > 0.0:
            rate = self._done / elapsed
            parts.append(f"{rate:.4g}/s")
            if self._total is not None and not ended:
                parts.append(f"{duration(max(0, self._total - self._done) / rate)} left")
        if ended:
            parts.append(f"done in {duration(elapsed)}")
        elif not self._done:
            parts.append(f"{duration(elapsed)} elapsed")
        parts += [f"{name} {value}" for name, value in self._facts.items()]
        print(", ".join(parts), file=self._stream, flush=True)
        spoke()


class Rich:
    """A live bar with rate, time left and facts."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar: RichBar | None = None
        self._task: TaskID | None = None
        self._facts: dict[str, object] = {}

    def start(self, title: str, total: int | None = None) -> None:
        """Begin a stage: a new bar below the ones before."""
        if self._bar is None:
            self._bar = _make_bar(self._stream)
            self._bar.start()
            _showing.add(id(self))
        self._facts = {}
        self._task = self._bar.add_task(title, total=total, facts="")

    def advance(self, n: int = 1, **facts: object) -> None:
        """Move the bar."""
        if self._bar is None or self._task is None:
            raise RuntimeError("advance() was called before start()")
        self._facts.update(facts)
        shown = "  ".join(f"{name} {value}" for name, value in self._facts.items())
        self._bar.update(self._task, advance=n, facts=shown)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _showing.discard(id(self))
        if self._bar is not None:
            spoke()
            self._bar.stop()
            self._bar = self._task = None


def _make_bar(stream: TextIO) -> RichBar:
    """The columns of the live bar; titles and facts are shown as they are, not as markup."""
    from rich import progress as rp
    from rich.console import Console

    class Rate(rp.ProgressColumn):
        """Items per second."""

        def render(self, task: rp.Task) -> Any:
            from rich.text import Text as Styled

            speed = task.finished_speed or task.speed
            return Styled(f"{speed:.4g}/s" if speed else "", style="cyan")

    return rp.Progress(
        rp.TextColumn("{task.description}", markup=False),
        rp.BarColumn(),
        rp.MofNCompleteColumn(),
        Rate(),
        rp.TimeElapsedColumn(),
        rp.TimeRemainingColumn(),
        rp.TextColumn("{task.fields[facts]}", markup=False),
        console=Console(file=stream),
    )


def counted(done: int, total: int | None) -> str:
    """``1200/5000 (24 %)``, or the number done alone."""
    if not total:
        return f"{done}"
    return f"{done}/{total} ({100 * done / total:.0f} %)"


def duration(seconds: float) -> str:
    """A time in words a person reads at a glance: ``4.2 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
