"""Fuzzes whatever reads a student's bytes: a sandbox's wire, notebooks, folders, code, and pages."""
