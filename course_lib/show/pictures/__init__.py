"""Figures that are drawn once."""
