"""Exercises as data, for the checks of a class edition, which contains no callable reference or mistake."""
