"""Published models: finding them, reading them, and loading them into ours."""
