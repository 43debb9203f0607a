"""Figures that answer to a slider, a field or a button."""
