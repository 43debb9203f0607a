"""What the library does on a GPU: `python -m benchmarks.gpu`. Results that were kept are beside this file, as JSON."""
