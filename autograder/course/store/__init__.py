"""Records that a course keeps in `.katze/`: where each submission came from, and what the last build read and wrote."""
