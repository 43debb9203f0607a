"""The wording of verdicts: what is plain to see of a wrong value, and what an error text means."""
