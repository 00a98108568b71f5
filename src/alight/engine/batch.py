"""Many runs at once: chunks of steps, finished runs replaced by waiting ones, records drained.

A batch holds a bounded number of runs in slots on the device. Each launch advances every run in a
slot by at most a chunk of steps. Between launches the host takes out the contacts recorded, takes
out runs that have ended, puts waiting ones in their place, and can be interrupted; nothing that was
computed is lost. On a GPU slots are in several decks (``engine.deck``), so that there is always
something to do while the host looks after one of them; each launch is of some phases alone, so that
neighbouring threads do alike; and runs that need very many steps continue on cores of the host
(``engine.long_runs``). None of this depends on anything but a run itself: its bits are its own.
"""

from __future__ import annotations

import dataclasses
import itertools
import weakref
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from alight.actuators.python_controller import ONE_RUN
from alight.core import devices
from alight.core.checks import checked_whole
from alight.core.errors import InputError
from alight.core.outcomes import FIRST_FAILURE, FIRST_OWN
from alight.core.progress import Progress, progress
from alight.core.streams import stream_of_its_own
from alight.engine.compile_ahead import compile_ahead
from alight.engine.deck import ENDLESS, GPU_FEW, Deck, many_at_once
from alight.engine.history import MAX_LINES, History
from alight.engine.long_runs import LongRuns
from alight.engine.lot import Lot, Share
from alight.engine.motion import Motion
from alight.engine.worlds import ALL, CONTACT, Worlds, alike

#: Decks of a batch on a GPU, where launches are of some phases each.
GPU_DECKS = 2


class Batch:
    """Runs under way; ``run`` carries them all to their ends.

    It begins with the runs of one release, and ``add`` brings more while it runs. After a
    KeyboardInterrupt, ``result`` has what was reached (runs not finished have the outcome "still
    running") and ``run`` continues from there.

    With ``together`` further runs may be of other models, which differ in numbers alone; in no
    more than ``own`` says (``engine.worlds``), if that is given. In place of a release a ``Lot``
    may be given, or a ``Share`` of one. Where ``hands_over`` is False long runs stay on a GPU.
    """

    def __init__(
        self,
        model: Motion,
        release: Any,
        *,
        device: str = "auto",
        threads: int | None = None,
        slots: int | None = None,
        history: int = 0,
        max_lines: int = MAX_LINES,
        together: bool = False,
        hands_over: bool = True,
        own: str | None = None,
    ) -> None:
        self.device, self.threads = devices.resolve(device), threads
        if model.waits and (not history or len(release) != 1):
            raise InputError(f"{ONE_RUN}.")
        self.model, self._together = model, together
        self._pace = model.pace(self.device)
        if own is None:
            own = ALL if together or model.own_worlds else ""
        compile_ahead(model, self.device, history=bool(history), own=own)
        first = _share_of(model, release, threads)
        most = checked_whole("slots", slots or self._most_slots(), 1)
        if slots is None and not together:
            most = max(1, min(first.left, most))
        self._max_lines, self._room = max_lines, model.room
        loop = model.loop()
        self._loop = dataclasses.replace(loop, own=own)
        self._worlds = Worlds(loop.World, loop.judge, model.stops, self.device)
        self._many = many_at_once(self.device) and not history
        self._hands_over = hands_over and self._many
        if self._many:
            devices.take_short_turns()
        self._decks = self._made(most, history)
        self._turn = itertools.cycle(self._decks)
        self._first, self._shares = first.lot, dict[int, Share]()
        self._alike: weakref.WeakSet[Lot] = weakref.WeakSet()
        self._count, self._ended_lots = 0, list[Lot]()
        self._long: LongRuns | None = None
        #: How many runs ended with each code.
        self._codes: Counter[int] = Counter()
        #: Runs that ended in the last call of ``advance``: lots, and rows of each.
        self.let_go: list[tuple[Lot, Any]] = []
        self.add(first)

    @property
    def release(self) -> Any:
        """What the first runs were released with."""
        return self._first.release

    @property
    def states(self) -> Any:
        """The first runs, as far as they have come."""
        return self._first.states

    @property
    def released(self) -> Any:
        """(n,) the first runs as they start: releases a little below the ground are lifted."""
        return self._first.released

    @property
    def histories(self) -> dict[int, History]:
        """Lines of the runs of a batch that was asked to keep them, by their numbers."""
        return self._first.histories

    def _most_slots(self) -> int:
        return self._pace.slots if self.device.is_cpu else self._pace.most_on_gpu

    def _made(self, slots: int, history: int) -> list[Deck]:
        """Decks with room for this number of runs."""
        count = min(GPU_DECKS, slots) if self._many and self._loop.apart else 1
        most = self._pace.hand_over if self._hands_over else 0
        options: dict[str, Any] = {"threads": self.threads, "history": history}
        options |= {"room": self._room, "most_steps": most or ENDLESS, "few": GPU_FEW // count}
        options["shared"] = stream_of_its_own(self.device) if self._loop.apart else None
        each = -(-slots // count)
        return [Deck(self.model, self._loop, each, self.device, **options) for _ in range(count)]

    # -- lots ----------------------------------------------------------------------------------

    def add(self, more: Lot | Share) -> None:
        """Let further runs follow those that wait (see ``fits``)."""
        share = more if isinstance(more, Share) else Share(more)
        lot, key = share.lot, self._count
        if key and not self.fits(lot):
            raise ValueError("runs of this lot differ in more than those of the batch may")
        self._count += 1
        if not key or self._loop.own:
            self._place(share, first=not key)
        self._codes.update(lot.codes(lot.ended))
        self._shares[key] = share
        if not share.left:
            self._leave(key)
        elif self._hands_over and len(lot.on_host):
            mine = np.isin(share.rows, lot.on_host)
            self._hand_over(share, share.rows[mine], None)
            share.rows = share.rows[~mine]

    def _place(self, share: Share, first: bool) -> None:
        """Bring the parameters of its models to the device."""
        lot = share.lot
        worlds = lot.worlds(self.device, share.rows)
        if first:
            self._world = worlds.first
            self._alike.add(lot)
        if self._loop.own:
            share.places = self._worlds.add(worlds)
            share.world_of = share.places[worlds.which] if len(share.places) else worlds.which
            if self._loop.judge is not None:
                for deck in self._decks:
                    deck.watch.own = self._worlds.stops()

    def fits(self, lot: Lot) -> bool:
        """Whether memory has room for the runs of a lot, and they differ in no more than the
        kernel reads of each."""
        if not all(m <= t for m, t in zip(lot.model.room, self._room, strict=True)):
            return False
        if not self._loop.own:
            return lot.model is self.model
        if self._loop.own != CONTACT or lot in self._alike:
            return True
        if lot.model.own_worlds:
            return False
        if alike(self._world, lot.worlds(self.device, lot.running).first):
            self._alike.add(lot)
        return lot in self._alike

    @property
    def free(self) -> int:
        """Slots that nothing waits for."""
        return sum(len(deck.empty) for deck in self._decks) - self.waiting

    def _leave(self, key: int) -> None:
        """All runs of a share have ended."""
        share = self._shares.pop(key)
        if share.places is not None:
            self._worlds.remove(share.places)
        self._ended_lots.append(share.lot)

    def ended(self) -> list[Lot]:
        """Lots whose runs have all ended since this was last asked."""
        out, self._ended_lots = self._ended_lots, []
        return out

    @property
    def waiting(self) -> int:
        """Runs that are in no slot yet."""
        return sum(share.waiting for share in self._shares.values())

    # -- going on ------------------------------------------------------------------------------

    def run(self, show: str | Progress = "silent") -> Any:
        """Carry every run to its end."""
        with progress(show) as bar:
            bar.start(self.model.title, total=len(self._first))
            bar.advance(len(self._first) - self.left)
            while self.advance():
                bar.advance(self.done, **self.facts())
        return self.result()

    def advance(self) -> bool:
        """One launch or a few; False when every run has ended."""
        self.let_go = []
        if not self.left:
            self.close()
            return False
        deck = next(self._turn)
        self._look_after(deck)
        self._fill(deck)
        if len(deck.busy):
            if self.model.waits:
                self._steer(deck)
            try:
                deck.launch(self._world, self._worlds)
            finally:
                if self.device.is_cpu:
                    # Also when interrupted: each run is whole, and what it recorded is kept.
                    self._look_after(deck)
        if self._long is not None:
            self._welcome(self._long)
        return True

    @property
    def done(self) -> int:
        """Runs that ended in the last call of ``advance``."""
        return sum(len(rows) for _, rows in self.let_go)

    @property
    def left(self) -> int:
        """Runs that have not ended."""
        return sum(share.left for share in self._shares.values())

    def result(self) -> Any:
        """The first runs as far as they have come, and all their contacts so far."""
        for deck in self._decks:
            self._look_after(deck)
            if len(deck.busy):
                with deck.on():
                    deck.take(self._by_share(deck, deck.busy))
        return self._first.result()

    def close(self) -> None:
        """Let go of threads."""
        if self._long is not None:
            self._long.stop()
            self._long = None

    def facts(self) -> dict[str, object]:
        """How many runs have ended in each way that a bar shows."""
        by_stops = {law.ending.name.lower(): int(law.ending) for law in self.model.stops}
        named = {**self.model.shown, **by_stops}
        shown: dict[str, object] = {name: self._codes[int(c)] for name, c in named.items()}
        others = set(self._codes) - {int(code) for code in named.values()}
        failed = sum(self._codes[c] for c in others if FIRST_FAILURE <= c < FIRST_OWN)
        return {**shown, "failed": failed} if failed else shown

    # -- slots ---------------------------------------------------------------------------------

    def _fill(self, deck: Deck) -> None:
        """Put waiting runs into empty slots."""
        empty = deck.empty
        for key, share in self._shares.items():
            if not len(empty):
                return
            chosen = share.next(len(empty))
            if len(chosen):
                with deck.on():
                    deck.put(key, share, chosen, empty[: len(chosen)])
                empty = empty[len(chosen) :]

    def _by_share(self, deck: Deck, slots: Any) -> list[tuple[Share, Any]]:
        """Some slots, those of each share."""
        return [(self._shares[key], own) for key, own in _split(deck.share_of[slots], slots)]

    def _steer(self, deck: Deck) -> None:
        """Let the host set what it commands."""
        parts = self._by_share(deck, deck.busy)
        deck.take(parts)
        for share, own in parts:
            for row in deck.row_of[own].tolist():
                self.model.steer(share.lot.states, row)
            deck.put_rows(share.lot, own)

    def _look_after(self, deck: Deck) -> None:
        """Take out what the last launches of a deck recorded and the runs that they ended."""
        if not deck.under_way:
            return
        deck.wait()
        with deck.on():
            if self.model.keeps_contacts:
                self._keep_touches(deck)
            if deck.chunk.lines:
                self._keep_lines(deck)
            over, handed = deck.status()
            both = np.concatenate([over, handed])
            if len(both):
                deck.take(self._by_share(deck, both))
            for share, own in self._by_share(deck, handed):
                self._hand_over(share, deck.row_of[own], deck.carried(own))
        for key, own in _split(deck.share_of[over], over):
            self._end(key, deck.row_of[own])
        deck.let_go(both)

    def _end(self, key: int, rows: Any) -> None:
        """Some runs of a share have ended."""
        share = self._shares[key]
        share.left -= len(rows)
        self._codes.update(share.lot.codes(rows))
        self.let_go.append((share.lot, rows))
        if not share.left:
            self._leave(key)

    def _keep_touches(self, deck: Deck) -> None:
        """Give each lot the contacts of its runs."""
        touches, slots = deck.touches()
        for key, own in _split(deck.share_of[slots], np.arange(len(slots))):
            # Slots come in the order of shares: a view, nothing is copied.
            self._shares[key].lot.drained.append(touches[own[0] : own[-1] + 1])

    def _keep_lines(self, deck: Deck) -> None:
        for slot, own in deck.lines():
            histories = self._shares[int(deck.share_of[slot])].lot.histories
            history = histories.setdefault(int(deck.row_of[slot]), History(self._max_lines))
            history.add(own, self.model.line_phase(own))

    # -- runs that go on elsewhere -------------------------------------------------------------

    def _hand_over(self, share: Share, rows: Any, carried: dict[str, Any] | None) -> None:
        """Let cores of the host carry some runs on."""
        if self._long is None:
            self._long = LongRuns(self.model, self.threads, self._together, self._loop.own)
        self._long.give(share.lot, rows, carried)

    def _welcome(self, long: LongRuns) -> None:
        """Runs that have ended there; with nothing else left to do, wait for some."""
        keys = {share.lot: key for key, share in self._shares.items()}
        idle = not self.waiting and not any(len(deck.busy) for deck in self._decks)
        for lot, rows in long.ended(wait=idle):
            self._end(keys[lot], rows)


def _share_of(model: Motion, release: Any, threads: int | None) -> Share:
    if isinstance(release, Share):
        return release
    return Share(release if isinstance(release, Lot) else Lot(model, release, threads))


def _split(keys: Any, values: Any) -> Iterator[tuple[int, Any]]:
    """Values that have each key, in their order."""
    order = np.argsort(keys, kind="stable")
    found, first = np.unique(keys[order], return_index=True)
    yield from zip(found.tolist(), np.split(values[order], first[1:]), strict=False)


def run_batch(
    model: Motion,
    release: Any,
    *,
    device: str = "auto",
    threads: int | None = None,
    show: str | Progress = "silent",
) -> Any:
    """Carry every run of ``release`` to its end: final states and all contacts.

    ``show`` is how progress is reported: "silent", "auto", "text" or "rich".
    """
    return Batch(model, release, device=device, threads=threads).run(show)


def simulate(
    model: Motion,
    release: Any,
    *,
    device: str = "cpu",
    threads: int | None = None,
    max_lines: int | None = None,
) -> Any:
    """Carry one run from its release to its end, with its steps and every contact kept.

    At most ``max_lines`` lines are kept (``engine.history.MAX_LINES`` if not given): those of long
    runs are thinned, the first and last lines of contacts excepted (``solution.thinning``).

    One run uses one core: a GPU is slower at it. Interrupting raises KeyboardInterrupt; use a
    ``Batch`` to continue from an interruption.
    """
    if isinstance(release, model.Release) and len(release) != 1:
        raise InputError(
            f"simulate follows one run and the release has {len(release)}; pick one, such as "
            "release[0], or use run_batch for many."
        )
    kept: dict[str, Any] = model.keeping(1, max_lines)
    batch = Batch(model, release, device=device, threads=threads, **kept)
    return model.solution(batch, batch.run())


def check_count(parameters: int, runs: int, what: str = "contact parameters") -> None:
    """Whether contact parameters, or what else has them, are given once, or for each run."""
    if parameters not in (1, runs):
        are = "are" if what.endswith("s") else "is"
        raise InputError(
            f"{what} {are} given for {parameters} runs and the release for {runs}; they must agree."
        )
