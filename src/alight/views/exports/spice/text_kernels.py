"""Text kernels: frames (FK), the clock of attitudes (SCLK), and the meta-kernel that loads all."""

from __future__ import annotations

from collections.abc import Sequence

from alight.views.exports.epoch import Epoch
from alight.views.exports.names import comment_lines
from alight.views.exports.spice.ids import CLOCK, Ids, Named

#: Ticks of the clock in a second, and how long before t = 0 it begins [s].
TICKS, AHEAD = 1_000_000, 86_400.0

_SCLK = """\\begindata
SCLK_KERNEL_ID           = ( @2000-01-01/12:00:00 )
SCLK_DATA_TYPE_{n}        = ( 1 )
SCLK01_TIME_SYSTEM_{n}    = ( 1 )
SCLK01_N_FIELDS_{n}       = ( 2 )
SCLK01_MODULI_{n}         = ( 4294967296 {ticks} )
SCLK01_OFFSETS_{n}        = ( 0 0 )
SCLK01_OUTPUT_DELIM_{n}   = ( 1 )
SCLK_PARTITION_START_{n}  = ( 0.0 )
SCLK_PARTITION_END_{n}    = ( {end!r} )
SCLK01_COEFFICIENTS_{n}   = ( 0.0  {start!r}  1.0 )
\\begintext
"""


def clock_start(epoch: Epoch) -> float:
    """When the clock begins: TDB seconds past J2000."""
    return epoch.seconds - AHEAD


def clock_kernel(epoch: Epoch, notes: Sequence[str]) -> str:
    """SCLK: microseconds of TDB since a day before t = 0."""
    said = [
        "Clock of the attitudes of an Alight export. A tick is a microsecond of TDB.",
        f"It begins {AHEAD:g} s before t = 0 of the runs.",
        *notes,
    ]
    n, end = -CLOCK, float(4294967296 * TICKS)
    return _text("KPL/SCLK", said) + _SCLK.format(
        n=n, ticks=TICKS, end=end, start=clock_start(epoch)
    )


def frame_kernel(ids: Ids, notes: Sequence[str]) -> str:
    """FK: names and numbers of the body, of parts, and of their axes."""
    own = [] if ids.known else [ids.body]
    said = [
        "Bodies and frames of an Alight export.",
        f"{ids.body.frame} turns with the body, in the axes of the scenario: +z at its pole and +x",
        "at its prime meridian where that gives them. It is a CK frame: see the CK of this export.",
        *notes,
        "Parts:",
        *(
            f"  {p.name} {p.number}, axes {p.frame} {p.frame_number}: {p.about}"
            for p in ids.all_parts
        ),
    ]
    blocks = [_name(one) for one in [*own, *ids.all_parts]]
    blocks += [_frame(one, one.number) for one in [ids.body, *ids.all_parts]]
    return _text("KPL/FK", said) + "\\begindata\n" + "".join(blocks) + "\\begintext\n"


def _name(one: Named) -> str:
    return f"NAIF_BODY_NAME += ( '{one.name}' )\nNAIF_BODY_CODE += ( {one.number} )\n"


def _frame(one: Named, center: int) -> str:
    n = one.frame_number
    return (
        f"FRAME_{one.frame} = {n}\nFRAME_{n}_NAME = '{one.frame}'\nFRAME_{n}_CLASS = 3\n"
        f"FRAME_{n}_CLASS_ID = {n}\nFRAME_{n}_CENTER = {center}\n"
        f"CK_{n}_SCLK = {CLOCK}\nCK_{n}_SPK = {one.number}\n"
    )


def meta_kernel(files: Sequence[str], notes: Sequence[str]) -> str:
    """MK: what to load; paths are as seen from the folder of the files."""
    said = [
        "Load this file from its own folder, or set PATH_VALUES to that folder.",
        "Times are TDB: no kernel of leap seconds is needed unless dates are given in UTC.",
        *notes,
    ]
    listed = "\n".join(f"                    '$K/{name}'" for name in files)
    return (
        _text("KPL/MK", said)
        + "\\begindata\nPATH_VALUES     = ( '.' )\nPATH_SYMBOLS    = ( 'K' )\n"
        + f"KERNELS_TO_LOAD = (\n{listed} )\n\\begintext\n"
    )


def _text(kind: str, lines: Sequence[str]) -> str:
    """The head of a kernel; a backslash would begin a section of data."""
    said = [line.replace("\\", "/") for line in comment_lines("", lines)]
    return "\n".join([kind, "", *_wrapped(said), "", ""])


def _wrapped(lines: Sequence[str]) -> list[str]:
    """Lines of at most 76 characters: SPICE reads 132, people less."""
    import textwrap

    return [part for line in lines for part in (textwrap.wrap(line, 76) or [""])]
