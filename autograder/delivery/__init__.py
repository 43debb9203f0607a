"""Collects platforms' downloads into `submitted/`, and returns feedback to the platforms."""
