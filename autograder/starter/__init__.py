"""A course to begin with: one lesson on least squares, its exercises, and a class of twelve to grade."""
