"""The harness: what instructors run to release, grade, certify and give feedback."""
