"""Katze's harness: what instructors run to release, grade, certify and give feedback; `README.md` maps it.

`katze.py` knows it by its first words from other packages of this name.
"""
