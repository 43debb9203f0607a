"""Measures what a cluster costs, and how far it scales: `python -m benchmarks.scale`."""
