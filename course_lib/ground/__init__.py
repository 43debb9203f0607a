"""The lowest layer: checks of arguments, files, tables, timing, optional libraries."""
