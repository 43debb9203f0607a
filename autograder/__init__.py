"""Katze's harness, with which instructors release, grade, certify and give feedback; `README.md` maps it.

`katze.py` tells it from other packages of this name by its first words.
"""
