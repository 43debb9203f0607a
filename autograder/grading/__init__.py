"""From submissions to records: what is to be graded, the run of each submission in a box, and what is written."""
