"""What was handed in: found, read safely, and made safe to look at."""
