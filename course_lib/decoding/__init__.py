"""From a trained model to a text, one word after another."""
