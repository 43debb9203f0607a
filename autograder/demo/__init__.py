"""The demo (`katze demo`): a transformer learns to translate, and submissions of a class are graded in sandboxes."""
