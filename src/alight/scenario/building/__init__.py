"""From scenarios to models and releases that the engine runs."""
