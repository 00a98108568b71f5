"""Motions: what moves, and how. The interface between the engine and all that runs under it.

A motion is a model of something that moves (a rigid lander, a tree of bodies, a body on a
membrane) with the laws it moves by. It declares what its kernel is made of (``Loop``), where its
runs begin (``Start``), what they keep in memory, and what is made of them at the end. Everything
else, the loop over steps, slots, launches, records, progress and interruption, the engine has once
for all motions.

Fields that the engine reads by name, whatever the motion:

- of the struct of a run: ``t``, ``phase``, ``outcome``, ``steps``, ``touches``, and ``due`` where
  there is a ``Preparation``;
- of its notes: ``number``, ``row`` and ``touch``, the contact under way;
- of its memory: ``notes``, by slot;
- of its world: ``limits.max_steps``, and ``contact`` where runs differ in that alone (``worlds``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.given import found_once
from alight.core.outcomes import AnyEnding, Ending, Outcome, ending_of, own_endings
from alight.engine.columns import Columns
from alight.engine.history import line_limit
from alight.engine.records import record_dtype
from alight.engine.run_kind import LANDINGS, RunKind
from alight.engine.stops import judging
from alight.engine.stops.law import StopLaw

#: Time between records [s] that stands for one after each step: no step ends for its sake.
EACH_STEP = 0.0
#: Lines of history that one launch may write.
LINES = 4096


@dataclass(frozen=True)
class Launch:
    """Phases that one launch carries on."""

    name: str
    step: Any
    """Warp function ``(world, run, memory, slot) -> run``: one step, kept or rejected, or a change
    of phase."""
    account: Any
    """Warp function ``(world, run, memory, slot, before: int) -> run`` after each step, ``before``
    being the phase it was of: contacts that begin and end, energy. ``run.touches`` rises where the
    record of a contact, ``notes.touch``, is whole."""
    last: int = 0
    """The last group of runs (``Loop.group``) that is in this launch."""
    gpu_steps: int = 400
    """Most steps of one launch on a GPU."""
    gpu_blocks: int | None = None
    """Blocks of threads that a multiprocessor is to have room for; None leaves it open."""
    prepares: bool = False
    """Whether it takes no steps but does what some steps need before them (``Preparation``)."""


@dataclass(frozen=True)
class Preparation:
    """What few steps need before them and is costly, such as gravity in full.

    On a GPU it is a launch of its own: of threads that go in step one would do it while the others
    wait. A run that needs it has ``due`` set until it is done.
    """

    ready: Any
    """Warp function ``(world, run, memory, slot) -> bool``: whether the next step can be taken."""
    prepare: Any
    """Warp function ``(world, run, memory, slot) -> run`` after which it can."""


@dataclass(frozen=True)
class Loop:
    """What a kernel is made from; motions with equal loops share it."""

    World: Any
    Run: Any
    Memory: Any
    whole: Launch
    """All phases in one launch."""
    told: Any
    """Warp function ``(run, before: int) -> bool``: whether a step leaves a line of history."""
    line: Any
    """Warp function ``(world, run, memory, slot, before, lines, row)`` that writes it."""
    options: Mapping[str, Any]
    """Of the compiler."""
    apart: tuple[Launch, ...] = ()
    """Launches of some phases each, for a GPU with many runs; none where one launch is all."""
    group: Any = None
    """Warp function ``(run) -> int``: runs of equal numbers do alike and are kept together."""
    groups: int = 1
    next: Any = None
    """Warp function ``(world, run, memory, slot) -> time`` [s], the next at which something
    switches or the run ends (``engine.clock``); None where nothing switches."""
    wake: Any = None
    """Warp function ``(world, run, memory, slot) -> run`` of a run that has come to rest: it
    continues from the next switch, if there is one."""
    waits: bool = False
    """Whether a launch ends where something switches, for the host to look at the run."""
    own: str = ""
    """What runs may have of their own: nothing, the numbers of their contact law (``CONTACT`` of
    ``engine.worlds``), or all of their model (``ALL``)."""
    before: Preparation | None = None
    """What some steps need before them; None where nothing is costly enough."""
    judge: judging.Judge | None = None
    """What asks the stops after each step; None where there are none (``engine.stops``)."""

    def __hash__(self) -> int:
        parts = (self.whole, self.told, self.line, self.apart, self.World, self.Memory)
        return hash((parts, self.own, self.next, self.before, self.judge))


@dataclass(frozen=True)
class Pace:
    """How much is done at once."""

    slots: int = 512
    """Runs in slots at a time on a CPU."""
    steps: int = 4000
    """Most steps of a run in one launch on a CPU."""
    touches: int = 16
    """Most contacts of a run in one launch."""
    gpu_slots: int = 262_144
    gpu_memory: int = 4 << 30
    """Most memory of all slots on a GPU [bytes]."""
    bytes_each: int = 0
    """What a slot takes there."""
    hand_over: int = 0
    """Steps after which a run leaves a GPU for a core of the host (``engine.long_runs``); 0 for
    never."""

    @property
    def most_on_gpu(self) -> int:
        """Runs in slots at a time on a GPU."""
        return max(1, min(self.gpu_slots, self.gpu_memory // max(1, self.bytes_each)))


@dataclass(eq=False)
class Start:
    """Runs on the host: as they begin, and later as far as they have come."""

    runs: Any
    """(n,) structured array of the motion's ``Run``."""
    notes: Any
    """(n,) of its ``Notes``."""
    rows: dict[str, Array] = field(default_factory=dict)
    """(n, k) numbers of each run that lie in memory, by the names of ``Motion.rows``."""
    release: Any = None
    """What the runs were released with, where their result depends on it."""
    first: Any = None
    """(n, k) their states at the start, likewise."""
    parts: tuple[Start, ...] = ()
    """Of runs that have models of their own, those of each model as they started."""


@dataclass(frozen=True, eq=False)
class WorldRows:
    """The parameters of runs, a row for each that differs."""

    first: Any
    """The struct of the first: what it is made of."""
    rows: Any
    """(k,) structured array of such structs."""
    stops: Sequence[Sequence[StopLaw]]
    """The stops of each, or once those of all."""
    which: npt.NDArray[np.int32]
    """(n,) which row each run of the release has."""
    behind: Any = None
    """What has the memory that the rows point to, beside ``first``."""


class Motion(ABC):
    """A model of something that moves."""

    #: What it starts from.
    Release: ClassVar[Any]
    #: What progress calls the runs, and the outcomes that it counts.
    title: str = "Landings"
    shown: Mapping[str, int] = {"settled": Outcome.SETTLED, "escaped": Outcome.ESCAPED}
    #: What it calls some of the outcomes, by code.
    words: ClassVar[Mapping[int, Ending]] = {}
    #: Laws that end runs (``engine.stops``); the first that is met does.
    stops: tuple[StopLaw, ...] = ()
    #: Whether records of contacts are wanted; where not, none comes off a device.
    keeps_contacts: bool = True

    @property
    def endings(self) -> dict[int, Ending]:
        """Endings that its stops bring, by code: those that are no ``Outcome``."""
        return own_endings(law.ending for law in self.stops)

    @property
    def all_endings(self) -> dict[int, AnyEnding]:
        """What codes mean beside the outcomes, or in its own words."""
        return {**self.words, **self.endings}

    def __getstate__(self) -> dict[str, Any]:
        """What was given; what follows from it is found again."""
        return {name: v for name, v in vars(self).items() if not found_once(self, name)}

    #: What its runs are called, and how they may end.
    run_kind: RunKind = LANDINGS

    @property
    @abstractmethod
    def columns(self) -> Columns:
        """What is reported of its runs, their contacts and their trajectories."""

    def ending(self, code: int) -> AnyEnding:
        """What a code of an outcome stands for."""
        return ending_of(code, self.all_endings)

    def followed(self, every: float | None) -> Motion:
        """The same with a record each ``every`` seconds, where records are at given times;
        ``EACH_STEP``: after each step, wherever it ends."""
        return self

    @abstractmethod
    def loop(self) -> Loop:
        """What the kernel is made from."""

    def kernels(self) -> list[Any]:
        """Kernels beside the loop that place its runs or tell how they ended."""
        return []

    @abstractmethod
    def pace(self, device: devices.Device) -> Pace:
        """How much is done at once."""

    @abstractmethod
    def data(self, device: devices.Device) -> Any:
        """The parameters of all laws as one struct whose arrays live on ``device``."""

    def world(self, release: Any, device: devices.Device) -> Any:
        """The same for the runs of a release, where it has numbers of its own for each."""
        return self.data(device)

    @property
    def own_worlds(self) -> bool:
        """Whether runs of one release differ in more than their kernel reads by its number."""
        return False

    def worlds(self, release: Any, device: devices.Device, rows: Any) -> WorldRows:
        """The parameters of the runs ``rows`` of a release; those of others need not be there."""
        which = np.zeros(len(release), dtype=np.int32)
        if not self.own_worlds:
            world = self.world(release, device)
            return WorldRows(world, world_rows([world]), [self.stops], which)
        which[rows] = np.arange(len(rows))
        return self.worlds_each(release, device, rows, which)

    def worlds_each(self, release: Any, device: devices.Device, rows: Any, which: Any) -> WorldRows:
        """The same where each run has parameters of its own."""
        raise NotImplementedError

    @classmethod
    def prepare_together(cls, models: Sequence[Any], releases: Sequence[Any]) -> None:
        """What ``start`` and ``world`` need of several models, where all at once costs less."""
        return

    @property
    def waits(self) -> bool:
        """Whether the host looks at the run wherever something switches; for single runs."""
        return False

    def steer(self, states: Start, number: int) -> None:
        """Change the ``rows`` of run ``number`` of ``states`` as the host sees fit."""
        return

    @abstractmethod
    def start(self, release: Any, device: devices.Device, threads: int | None) -> Start:
        """The runs of a release; those that cannot start have an outcome already."""

    @property
    @abstractmethod
    def layout(self) -> Hashable:
        """What the memory of a run depends on: runs of models with equal ones can share it."""

    @property
    def room(self) -> tuple[int, ...]:
        """Sizes in which models of one layout may differ: memory has room for the largest."""
        return ()

    @abstractmethod
    def memory(self, slots: int, device: devices.Device, room: tuple[int, ...] = ()) -> Any:
        """What runs keep in memory, by slot; ``room`` if not the model's own."""

    def rows(self, memory: Any) -> dict[str, Any]:
        """Arrays [row, slot] of it that go with a run, beside its notes."""
        return {}

    def fresh(self, memory: Any) -> list[tuple[Any, float]]:
        """Arrays [row, slot] of it, and what they hold where a run comes into a slot."""
        return []

    def carried(self, memory: Any) -> dict[str, Any]:
        """Arrays [slot] or [row, slot] of it that steps read which earlier steps wrote, beside
        those above: they go with a run that is under way."""
        return {}

    #: Whether a history begins with a line of the release that the kernel writes.
    tells_release: ClassVar[bool] = False

    @property
    @abstractmethod
    def line_width(self) -> int:
        """Numbers of a line of history."""

    @abstractmethod
    def line_phase(self, lines: Array) -> npt.NDArray[Any]:
        """(n,) which phase lines are of: their first and last ones survive thinning."""

    def keeping(self, runs: int, max_lines: int | None = None) -> dict[str, int]:
        """Options of a batch that keeps the histories of its runs."""
        most = line_limit(max_lines) - int(not self.tells_release)
        return {"history": LINES, "max_lines": most}

    @abstractmethod
    def result(self, runs: Start, touches: Any, threads: int | None) -> Any:
        """What is returned of the runs; ``touches`` are all their contacts."""

    @abstractmethod
    def solution(self, batch: Any, result: Any) -> Any:
        """What is returned of a single run whose history was kept."""


def world_rows(worlds: Sequence[Any], count: int | None = None) -> Any:
    """(k,) structured array of structs; the only one ``count`` times if that is given."""
    made = wp.array(list(worlds), dtype=worlds[0]._cls, device="cpu").numpy()
    return made.copy() if count is None else np.repeat(made, count)


def new_records(dtype: Any, count: int) -> Any:
    """(n,) structured array of a Warp struct, zeros."""
    return np.zeros(count, dtype=record_dtype(dtype))
