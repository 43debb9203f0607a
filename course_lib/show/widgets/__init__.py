"""Figures that answer to a slider, a field or a button, by a script on the page: no kernel is needed."""
