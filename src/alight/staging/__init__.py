"""Staging: gathers what views show of runs, and has the physics at hand that views have not.

``playback(what)`` makes a ``views.playback.Playback`` of a solution, a replay, a campaign or a
scenario; ``view(what)`` shows it in a notebook, or saves it as a page.
"""

from alight.core import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from alight.staging.gathering import playback, view

__all__ = ["playback", "view"]

lazy.door(__name__, {"alight.staging.gathering": "playback view"})
