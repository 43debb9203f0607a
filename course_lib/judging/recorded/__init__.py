"""What a class edition checks with: exercises as data, in place of references and mistakes that can be called."""
