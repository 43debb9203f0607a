"""Small worlds in which everything is known: words, sentences, and models trained on them."""
