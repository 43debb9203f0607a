"""What a course keeps for itself about its students, in `.katze/`: where each submission came from."""
