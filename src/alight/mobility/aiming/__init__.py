"""Push-offs that reach a place: free flight, shooting, families, proof by the engine."""
