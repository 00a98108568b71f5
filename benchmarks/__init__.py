"""Speed of Alight, correctness checked first: ``python -m benchmarks`` writes RESULTS.md."""
