"""Warp as the type checker sees it: a ``wp.func`` is Warp's to check, everything else is Any."""

from typing import Any
from typing import no_type_check as func

__all__ = ["func"]

def __getattr__(name: str) -> Any: ...
