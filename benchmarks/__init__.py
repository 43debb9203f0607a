"""Measurements. `python -m benchmarks.NAME` runs one, prints a table, and takes `--json FILE` (`gpu`: `--out DIR`)."""
