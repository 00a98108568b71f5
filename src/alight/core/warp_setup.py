"""Warp's settings, made once, before any kernel is defined.

``core.types`` imports this module and every kernel imports ``core.types``, so no kernel can be
built under other settings. The kernel cache stays where Warp puts it by default.
"""

import warp as wp

# Warp greets and reports every module it loads; Alight's output belongs to its user.
wp.config.log_level = wp.LOG_WARNING

# No law is differentiated in reverse: adjoint code would only double the compile time.
wp.config.enable_backward = False
