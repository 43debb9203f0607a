"""Output about a graded class: feedback, the report, tables in the terminal, and files for a platform."""
