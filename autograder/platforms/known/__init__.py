"""A platform a file; `registry.py` finds whatever lies here."""
