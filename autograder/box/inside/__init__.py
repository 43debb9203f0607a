"""What runs inside a box, next to the student's code."""
