"""Services that start the grader themselves, in containers of their own."""
