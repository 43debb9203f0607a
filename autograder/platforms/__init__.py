"""Learning platforms: what each one delivers, exports and takes back; a module each in `known/`."""
