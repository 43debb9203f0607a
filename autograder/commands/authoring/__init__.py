"""Commands for those who make a course."""
