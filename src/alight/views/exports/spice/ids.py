"""Numbers and names by which SPICE knows a body, its landers and their axes.

A body that SPICE knows by name has its number there; others get one of their own. Landers are
spacecraft of the numbers -1000000 down, a thousand for each run that is exported; their axes have
numbers from -1000000000 down. The frame kernel of an export lists them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from alight.core.errors import InputError
from alight.views.exports.names import distinct, spice_name
from alight.views.playback import Part, Playback, Track

#: The body of an export, where SPICE knows none of its name.
BODY = 999_000_001
#: Its axes, and their clock, which landers share.
BODY_FRAME, CLOCK = -999_000_001, -1_000_000
_LANDER, _AXES, _EACH = -1_000_000, -1_000_000_000, 1000
#: Letters of a name: SPICE has 32 for FRAME_ and a name together.
LONGEST = 26


@dataclass(frozen=True)
class Named:
    """Something that moves."""

    name: str
    number: int
    frame: str
    frame_number: int
    about: str
    """What it is, for readers."""


@dataclass(frozen=True)
class Ids:
    """All of an export; ``parts[i][k]`` is part k of track i."""

    body: Named
    known: bool
    """Whether SPICE itself knows the body."""
    parts: list[list[Named]]

    @property
    def all_parts(self) -> list[Named]:
        """Parts of all tracks."""
        return [part for listed in self.parts for part in listed]


def ids_of(spice: Any, playback: Playback, body_name: str) -> Ids:
    """Numbers and names for a playback."""
    body, known = _body(spice, body_name)
    names = []
    for track in playback.tracks:
        own = parts_of(playback, track)
        if len(own) > _EACH:
            raise InputError(f"a lander of {len(own)} parts is more than the {_EACH} for SPICE.")
        names += [_part_name(track, part, k) for k, part in enumerate(own)]
    unique = iter(distinct(names, LONGEST))
    found = []
    for i, track in enumerate(playback.tracks):
        shift = i * _EACH
        found.append(
            [
                Named(
                    name := next(unique),
                    _LANDER - shift - k,
                    name,
                    _AXES - shift - k,
                    f"run {track.run}, {part.name or part.role}",
                )
                for k, part in enumerate(parts_of(playback, track))
            ]
        )
    return Ids(body, known, found)


def parts_of(playback: Playback, track: Track) -> tuple[Part, ...]:
    """The parts of a track."""
    return playback.parts if track.parts is None else track.parts


def _part_name(track: Track, part: Part, number: int) -> str:
    """A name: that of the run alone of its first part."""
    start = f"RUN_{track.run}"
    if number == 0:
        return start
    return spice_name(f"{start}_{part.name or part.role}", f"{start}_{number}", LONGEST)


def _body(spice: Any, name: str) -> tuple[Named, bool]:
    word = spice_name(name, "TARGET", LONGEST - 13)
    try:
        number, known = int(spice.bods2c(name)), True
    except (spice.SpiceyError, spice.NotFoundError):
        number, known = BODY, False
    frame = f"ALIGHT_{word}_FIXED"
    return Named(name if known else word, number, frame, BODY_FRAME, "the body"), known
