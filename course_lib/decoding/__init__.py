"""From a trained model to a text, one token after another."""
