"""The class edition: the course without its answers, whose checks run on recorded data."""
