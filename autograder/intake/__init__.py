"""Submissions: found, read safely, and made safe to look at."""
