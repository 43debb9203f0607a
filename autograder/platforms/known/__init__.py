"""One platform per module; `registry.py` finds every module here."""
