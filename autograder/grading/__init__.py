"""From submissions to records: what to grade, the run of each submission in a box, and what is written."""
