"""A course on disk: its folder and settings, and its release."""
