"""The wording of verdicts: what is obvious about a wrong value, and what an error message means."""
