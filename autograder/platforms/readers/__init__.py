"""Finding the submissions in what each platform delivers."""
