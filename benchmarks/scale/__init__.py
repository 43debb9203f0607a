"""What a cluster costs, and how far it carries: `python -m benchmarks.scale`."""
