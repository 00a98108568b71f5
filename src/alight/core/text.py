"""Text of others on the terminal: nothing in it may steer the terminal."""

from __future__ import annotations

import re

#: Control characters (C0, DEL and C1) but for the end of a line and the tabulator; what turns the
#: direction of text, or ends a line or paragraph of it.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""``text`` with control characters written out, such as ``\u001b``; JSON stays the same."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
