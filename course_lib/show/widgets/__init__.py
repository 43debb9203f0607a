"""Figures with sliders, fields or buttons, run by a script on the page, so that they need no kernel.

Some play with a few small numbers, others look into models and their training.
"""
