"""Fuzzing what reads a student's bytes: a sandbox's wire, notebooks, folders, code, and the pages made from them."""
