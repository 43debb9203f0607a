"""In a semester"""
