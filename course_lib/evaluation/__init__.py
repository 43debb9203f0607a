"""How good a text or a vector is, by the metrics that papers report."""
