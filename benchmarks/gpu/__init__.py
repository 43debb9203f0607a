"""Measures the library on a GPU: `python -m benchmarks.gpu`. Kept results are next to this file, as JSON."""
