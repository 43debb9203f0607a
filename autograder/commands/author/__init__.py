"""For authors of a course"""
