"""What changes in the middle of a semester, in a gradebook: decisions about exercises, cells that come and go, lessons
that are finished.
"""
