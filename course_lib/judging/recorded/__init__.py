"""Exercises as data, for a class edition's checks: no reference or mistake in it can be called."""
