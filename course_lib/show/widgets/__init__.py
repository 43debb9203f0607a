"""Figures with sliders, fields or buttons, run by a script on the page, so that they need no kernel."""
