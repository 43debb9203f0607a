"""Confinement: the levels, the enclosures around a process, and the self-test that tries to break out."""
