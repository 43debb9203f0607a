"""What a model is trained for: losses, labels, and the heads that predict them."""
