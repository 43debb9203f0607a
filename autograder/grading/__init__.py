"""From submissions to records: what to grade, the run of each submission in a sandbox, and what is written."""
