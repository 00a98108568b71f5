"""What a person reads while kernels compile: a line when it takes long, and when it is done.

Kernels are compiled wherever one is first launched, far below whoever knows whether anyone is
listening. So that one says so, ``with reported("auto"):``, and ``compiling`` writes to standard
error what compilers do within: ``Compiling kernels (first use): 2 of 5 done, 6 s``. Outside, and
where silence is asked for, nothing is written. Lines come from a thread of their own, as a compiler
says nothing while it works.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

from alight.core.progress import KINDS, Plain, Progress, Rich, duration, spoke

#: Time that compilers take before a line is written, and between lines [s].
FIRST, NEXT = 0.8, 1.5


class _Account:
    """What compilers have done since someone began to listen."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.asked = self.done = self.under_way = 0
        self.spent = 0.0
        """Time in which at least one compiler worked, up to ``since`` [s]."""
        self.since = 0.0
        self.due = FIRST
        self.lines = 0

    def seconds(self) -> float:
        """Time in which at least one compiler worked [s]."""
        return self.spent + (time.monotonic() - self.since if self.under_way else 0.0)

    def begin(self, count: int) -> None:
        with self.lock:
            if not self.under_way:
                self.since = time.monotonic()
            self.under_way += count
            self.asked = max(self.asked, self.done + self.under_way)

    def end(self, count: int) -> None:
        with self.lock:
            self.spent = self.seconds()
            self.since = time.monotonic()
            self.under_way -= count
            self.done += count

    def tell_if_due(self) -> float:
        """Write a line if it is time for one; how long until the next may be due [s]."""
        with self.lock:
            passed = self.seconds()
            if passed >= self.due:
                self.due, self.lines = passed + NEXT, self.lines + 1
                write(
                    f"Compiling kernels (first use): {self.done} of {self.asked} done, "
                    f"{duration(passed)}"
                )
            return self.due - passed

    def tell_end(self) -> None:
        """The last line, where there was one before."""
        if self.lines:
            what = "1 kernel" if self.done == 1 else f"{self.done} kernels"
            write(f"Compiled {what} in {duration(self.spent)}, kept for later starts.")


def write(line: str) -> None:
    """A line on standard error; none where that is closed."""
    # Looked up now: a live bar puts lines that are written while it stands above itself.
    with contextlib.suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)
        spoke()


_accounts: list[_Account | None] = []


def listening() -> bool:
    """Whether someone wants lines about long work."""
    return bool(_accounts) and _accounts[0] is not None


def under_way() -> bool:
    """Whether compilers are at work, and say so."""
    return bool(_accounts) and _accounts[0] is not None and _accounts[0].under_way > 0


@contextlib.contextmanager
def reported(kind: str | Progress) -> Iterator[None]:
    """Have compilers within report as long work of this kind does; see ``core.progress``.

    The outermost call decides. A ``Progress`` of someone's own is not written around: silent.
    """
    loud = kind in KINDS and kind != "silent" if isinstance(kind, str) else _writes(kind)
    account = _Account() if loud and not _accounts else None
    if account is not None:
        spoke()  # silence counts from here
    _accounts.append(account)
    try:
        yield
    finally:
        _accounts.pop()
        if account is not None:
            account.tell_end()


def _writes(bar: Progress) -> bool:
    return isinstance(bar, Plain | Rich)


def expect(count: int) -> None:
    """``count`` kernels will be compiled from now on, by those that say so with ``compiling``."""
    account = _accounts[0] if _accounts else None
    if account is not None:
        with account.lock:
            account.asked = account.done + account.under_way + count


@contextlib.contextmanager
def compiling(count: int = 1) -> Iterator[None]:
    """Around the compilation of ``count`` kernels."""
    account = _accounts[0] if _accounts else None
    if account is None:
        yield
        return
    account.begin(count)
    ended = threading.Event()
    teller = threading.Thread(target=_tell, args=(account, ended), daemon=True)
    teller.start()
    try:
        yield
    finally:
        account.end(count)
        ended.set()
        teller.join()


def _tell(account: _Account, ended: threading.Event) -> None:
    """Write lines as they fall due until compilers have ended."""
    while not ended.wait(max(0.01, account.tell_if_due())):
        pass
