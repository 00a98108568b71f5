"""``out_of_line``: a ``wp.func`` that is compiled by itself, not into each place that calls it.

For large functions that kernels of hulls and rocks call at several places: optimisers take more
than twice as long for a function of twice the size.
"""

from typing import TYPE_CHECKING

import warp as wp

__all__ = ["out_of_line"]

if TYPE_CHECKING:
    # Warp's to check, as a plain ``wp.func`` is (typings).
    from typing import no_type_check as out_of_line
else:

    def out_of_line(f):
        """Make a Warp function of ``f``."""
        return wp.func(f, inline=False)
