"""For students, and whoever looks around"""
