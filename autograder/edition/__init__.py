"""Class editions: courses without their answers, whose checks run on recorded data."""
