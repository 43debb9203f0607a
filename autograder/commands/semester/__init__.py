"""Commands for those who teach it, in the order of a semester."""
