"""SPICE kernels of a playback: SPK, CK, DSK and the text kernels that go with them.

Places are SPK type 13 of degree 3, a segment for each arc between two jumps of velocity: what is
read at the time of a hit is the state after it, and up to it what was before. Attitudes are CK, an
interval for each arc: type 5 of degree 3 (Hermite, from quaternions and their rates) where rates
are known, as of rigid landers, else type 3 (even turns). The body's shape is DSK type 2.
Kilometres, seconds of TDB.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from alight.core.checks import Array
from alight.core.errors import FileError, InputError
from alight.core.extras import require
from alight.core.interpolation import turned
from alight.shapes.mesh import Mesh
from alight.views.exports import arcs
from alight.views.exports.arcs import INERTIAL, Arc
from alight.views.exports.epoch import Epoch
from alight.views.exports.names import file_stem, plain_ascii
from alight.views.exports.spice import text_kernels
from alight.views.exports.spice.ids import Ids, ids_of
from alight.views.playback import Playback

#: Degree of SPK segments: a cubic between two lines.
DEGREE = 3
#: Dates, in the last bit of seconds since J2000, that two lines are apart at least: a quarter of a
#: millisecond in our time.
_APART = 2000.0
#: Longest path of a file that SPICE takes.
_PATH = 250
#: Turn of the body between two lines of its CK, at most [rad]; its turns are even or looked at.
_TURN = 0.5


@dataclass(frozen=True)
class Kernels:
    """What was written."""

    files: list[Path]
    """Binary and text kernels, then the meta-kernel."""
    ids: Ids
    meta: Path


def write_kernels(
    playback: Playback, folder: Path, epoch: Epoch, body_name: str, axes: str, notes: Sequence[str]
) -> Kernels:
    """All kernels of a playback, into ``folder``."""
    spice = require("spiceypy", "spice")
    ids = ids_of(spice, playback, body_name)
    stem = file_stem(body_name, "target").lower()
    names = {k: folder / f"{stem}.{k}" for k in ("tf", "tsc", "bc", "bsp", "bds", "tm")}
    for path in names.values():
        _clear(path)
    names["tf"].write_text(text_kernels.frame_kernel(ids, notes), "ascii")
    names["tsc"].write_text(text_kernels.clock_kernel(epoch, notes), "ascii")
    with _refusals(spice), spice.KernelPool([str(names["tf"]), str(names["tsc"])]):
        if playback.tracks:
            _write_places(spice, names["bsp"], playback, ids, epoch, axes, notes)
        _write_attitudes(spice, names["bc"], playback, ids, epoch, notes)
        if playback.target is not None:
            _write_shape(spice, names["bds"], playback.target, ids, notes)
    files = [path for kind, path in names.items() if kind != "tm" and path.exists()]
    listed = [path.name for path in files]
    names["tm"].write_text(text_kernels.meta_kernel(listed, notes), "ascii")
    return Kernels([*files, names["tm"]], ids, names["tm"])


def _clear(path: Path) -> None:
    """SPICE writes new files alone."""
    if len(str(path)) > _PATH:
        raise InputError(
            f"the path of {path.name} has {len(str(path))} characters, and SPICE takes {_PATH}: "
            "choose a folder with a shorter one."
        )
    path.unlink(missing_ok=True)


@contextlib.contextmanager
def _refusals(spice: Any) -> Iterator[None]:
    """What SPICE refuses, in a line."""
    try:
        yield
    except spice.SpiceyError as problem:
        said = getattr(problem, "long", "") or getattr(problem, "short", "") or str(problem)
        raise FileError(f"SPICE could not write the kernels: {' '.join(said.split())}") from None


@contextlib.contextmanager
def _closed(spice: Any, close: Callable[[int], None], handle: int) -> Iterator[None]:
    """A file that is closed in the end; what went wrong before is what is reported."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(spice.SpiceyError):
            close(handle)
        raise
    close(handle)


# -- places ----------------------------------------------------------------------------------------


def _write_places(
    spice: Any,
    path: Path,
    playback: Playback,
    ids: Ids,
    epoch: Epoch,
    axes: str,
    notes: Sequence[str],
) -> None:
    frame = "J2000" if axes == INERTIAL else ids.body.frame
    said = [*notes, f"Type 13, degree {DEGREE}, km and km/s, axes {frame}, from the body's centre."]
    handle = spice.spkopn(str(path), plain_ascii(playback.title, 60), _room(said))
    with _closed(spice, spice.spkcls, handle):
        spice.dafac(handle, _comments(said))
        for track, named in zip(playback.tracks, ids.parts, strict=True):
            for k, one in enumerate(named):
                for arc in arcs.arcs_of(playback, track, k, axes, np.inf):
                    _write_arc(spice, handle, one.number, ids.body.number, frame, arc, epoch)


def _write_arc(
    spice: Any, handle: int, number: int, center: int, frame: str, arc: Arc, epoch: Epoch
) -> None:
    et = epoch.seconds + arc.time
    kept = _told_apart(et)
    if len(kept) < 2:
        return
    et, states = et[kept], 1e-3 * np.hstack([arc.position, arc.velocity])[kept]
    segment = f"ALIGHT {number}", DEGREE, len(et), states, et
    spice.spkw13(handle, number, center, frame, et[0], et[-1], *segment)


def _told_apart(et: Array) -> list[int]:
    """Lines that dates tell apart well: seconds since J2000 have some 1e-7 s, and the slope of a
    cubic between lines that are closer than ``_APART`` of that would be off. The first and the last
    are among them."""
    if not et[-1] > et[0]:
        return [0]
    least = _APART * float(np.spacing(np.abs(et).max()))
    if (np.diff(et) > least).all():
        return list(range(len(et)))
    kept = [0]
    for i, date in enumerate(et[:-1].tolist()):
        if date > et[kept[-1]] + least and date < et[-1] - least:
            kept.append(i)
    return [*kept, len(et) - 1]


# -- attitudes -------------------------------------------------------------------------------------


def _write_attitudes(
    spice: Any, path: Path, playback: Playback, ids: Ids, epoch: Epoch, notes: Sequence[str]
) -> None:
    said = [*notes, "Types 3 and 5, from J2000, with angular velocities. Clock: see the SCLK."]
    handle = spice.ckopn(str(path), plain_ascii(playback.title, 60), _room(said))
    with _closed(spice, spice.ckcls, handle):
        spice.dafac(handle, _comments(said))
        _write_turns(spice, handle, ids.body.frame_number, [body_turns(playback)], epoch)
        for track, named in zip(playback.tracks, ids.parts, strict=True):
            for k, one in enumerate(named):
                own = arcs.arcs_of(playback, track, k, INERTIAL)
                _write_turns(spice, handle, one.frame_number, own, epoch)


def body_turns(playback: Playback) -> Arc:
    """The body's axes, a minute beyond the runs to both sides."""
    first, last = -60.0, playback.end + 60.0
    if playback.attitude is None:
        still = np.tile([0.0, 0.0, 0.0, 1.0], (2, 1))
        none = np.zeros((2, 3))
        return Arc(np.array([first, last]), none, none, still)
    time = np.linspace(first, last, 3)
    for _ in range(24):
        q = playback.attitude(time)
        middle = 0.5 * (time[:-1] + time[1:])
        q_mid = playback.attitude(middle)
        even = turned(q[:-1], q[1:], np.full(len(middle), 0.5))
        wide = arcs.angle_between(q[:-1], q_mid) + arcs.angle_between(q_mid, q[1:]) > _TURN
        off = arcs.angle_between(even, q_mid) > 0.01 * arcs.TURN
        wanted = np.flatnonzero(wide | off)
        if not len(wanted):
            break
        time = np.sort(np.concatenate([time, middle[wanted]]))
    none = np.zeros((len(time), 3))
    return Arc(time, none, none, playback.attitude(time))


def _write_turns(spice: Any, handle: int, frame: int, turns: Sequence[Arc], epoch: Epoch) -> None:
    """A segment of attitudes: an interval for each arc, whose rates have nothing to do with those
    of the next; at a hit the attitude after it counts."""
    if not turns:
        return
    start = text_kernels.clock_start(epoch)
    ticks = [(epoch.seconds + arc.time - start) * text_kernels.TICKS for arc in turns]
    for a, b, arc in zip(ticks[:-1], ticks[1:], turns[:-1], strict=True):
        if a[-1] >= b[0]:
            # Closer than two dates that SPICE can tell apart there.
            brief = 0.5 * np.spacing(abs(epoch.seconds + arc.time[-1])) * text_kernels.TICKS
            a[-1] = min(b[0] - brief, np.nextafter(b[0], -np.inf))
    kept = [np.concatenate([np.diff(one) > 0.0, [True]]) for one in ticks]
    lines = [(t[k], _packets(arc)[k]) for t, arc, k in zip(ticks, turns, kept, strict=True)]
    clock, packets = (np.concatenate(one) for one in zip(*lines, strict=True))
    starts = np.array([one[0] for one, _ in lines])
    about = clock[0], clock[-1], frame, "J2000", True, f"ALIGHT {frame}"
    if turns[0].spin is None:
        q, rate = (np.ascontiguousarray(one) for one in np.hsplit(packets, [4]))
        spice.ckw03(handle, *about, len(clock), clock, q, rate, len(starts), starts)
        return
    lines_and_rate = clock, packets, 1.0 / text_kernels.TICKS
    spice.ckw05(handle, _HERMITE, DEGREE, *about, *lines_and_rate, len(starts), starts)


#: Subtype of CK type 5: Hermite, from quaternions and their rates.
_HERMITE = 0


def _packets(arc: Arc) -> Array:
    """(n, 7) quaternions and angular velocities, or (n, 8) with their own rates where known.

    SPICE turns components of J2000 into those of the part, and counts the scalar first."""
    if arc.spin is None:
        q = arc.attitude
        return np.hstack([q[:, 3:], -q[:, :3], arc.rate])
    q, rate = arc.quaternions
    return np.hstack([q[:, 3:], -q[:, :3], rate[:, 3:], -rate[:, :3]])


# -- shape -----------------------------------------------------------------------------------------


def _write_shape(spice: Any, path: Path, mesh: Mesh, ids: Ids, notes: Sequence[str]) -> None:
    vertices = np.ascontiguousarray(1e-3 * mesh.vertices)
    plates = np.ascontiguousarray(mesh.faces + 1, dtype=np.int32)
    size = max(100_000, 40 * len(plates))
    fine = max(1.0, min(5.0, (len(plates) / 400.0) ** 0.25))
    cells = (fine, 4, size, size, size, False, max(1_000_000, 8 * size))
    index_d, index_i = spice.dskmi2(vertices, plates, *cells)
    radius = np.linalg.norm(vertices, axis=1)
    bounds = (-np.pi, np.pi, -np.pi / 2.0, np.pi / 2.0)
    # Facets dip below their corners.
    low = float(max(0.0, 0.5 * radius.min())) if mesh.contains([[0.0, 0.0, 0.0]])[0] else 0.0
    said = [*notes, "Type 2, km, the body's own axes.", f"{len(plates)} plates."]
    handle = spice.dskopn(str(path), "alight", _room(said))
    spice.dasac(handle, _comments(said))
    spice.dskw02(
        *(handle, ids.body.number, 1, 1, ids.body.frame),
        *(1, np.zeros(10), *bounds, low, float(radius.max())),
        *(-1e9 * 10, 1e9 * 10, vertices, plates, index_d, index_i),
    )
    spice.dskcls(handle, True)


def _comments(lines: Sequence[str]) -> list[str]:
    return [plain_ascii(line, 1000) or " " for line in lines]


def _room(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in _comments(lines)) + 100
