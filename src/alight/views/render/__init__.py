"""Pictures by ray tracing: what figures, reports, sheets and films are drawn with."""
