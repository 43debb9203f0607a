"""Captions of everyday scenes, English and German, written for this course: by rule, and by hand."""
