"""Training: the one loop, and its parts."""
