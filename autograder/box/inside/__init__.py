"""The code that runs inside a sandbox, next to the student's code."""
