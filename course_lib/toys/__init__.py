"""Small worlds in which everything is known: their words, their sentences, and models trained on them."""
