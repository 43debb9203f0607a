"""Widgets that look into models and their training: how they learn, read, search and write."""
