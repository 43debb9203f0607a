"""The process that imports everything once and forks boxes from itself, and the grader's side of it."""
