"""Advice on laws: what else a scenario could be computed with, tried, timed and compared."""

from alight.core import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from alight.staging.advising.advice import Advice, advise

__all__ = ["Advice", "advise"]

lazy.door(__name__, {"alight.staging.advising.advice": "Advice advise"})
