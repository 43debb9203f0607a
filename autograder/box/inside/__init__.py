"""What runs inside a box, beside the student's code."""
