"""Published models: found, read, and loaded into ours."""
