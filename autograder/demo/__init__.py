"""`katze demo`: a transformer that learns to translate, and a class of submissions graded in sandboxes."""
