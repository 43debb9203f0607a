"""Fuzzing what reads a student's bytes: the wire from a box, notebooks, folders, code, and the pages made from them."""
