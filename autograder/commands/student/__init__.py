"""For students, and for anyone looking around"""
