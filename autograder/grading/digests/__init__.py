"""Digests of everything that grades depend on."""
