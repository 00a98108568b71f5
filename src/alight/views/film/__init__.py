"""Films and stills of runs: a stage, a camera on its path, titles, and the encoding."""
