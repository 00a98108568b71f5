"""Reports of campaigns: ``write`` makes a page out of a ``Section`` for each thing to report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from alight.views.report.section import (
    Code,
    Facts,
    Figure,
    Heading,
    Listing,
    Paragraph,
    Section,
    Table,
)

if TYPE_CHECKING:
    from alight.views.report.files import Report
    from alight.views.report.writing import kind_of, write

__all__ = [
    "Code",
    "Facts",
    "Figure",
    "Heading",
    "Listing",
    "Paragraph",
    "Report",
    "Section",
    "Table",
    "kind_of",
    "write",
]


def __getattr__(name: str) -> Any:
    """Load what draws only when it is used: Matplotlib takes its time."""
    if name not in ("Report", "kind_of", "write"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from alight.views.report import writing

    return getattr(writing, name)
