"""Measurements. Each is `python -m benchmarks.NAME`, prints a table and takes `--json FILE` (`gpu`: `--out DIR`)."""
