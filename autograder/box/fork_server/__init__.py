"""The process that imports everything once and forks sandboxes from itself, and the grader's side of it."""
