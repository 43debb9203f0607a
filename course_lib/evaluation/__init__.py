"""Evaluation of texts and vectors, by the metrics that papers report."""
