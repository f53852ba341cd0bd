"""Benchmarks, run by `python -m benchmarks.NAME`: equality first, then the ratio of medians."""
