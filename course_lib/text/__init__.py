"""Text to numbers, and numbers to batches."""
