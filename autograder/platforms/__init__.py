"""Learning platforms: what each delivers, exports and takes back, a file each in `known/`."""
