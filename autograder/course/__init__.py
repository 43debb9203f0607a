"""A course on disk: its folder, its settings, and its release."""
