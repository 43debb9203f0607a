"""Training objectives: losses, labels, and the heads that predict them."""
