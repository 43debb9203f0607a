"""The course as a website: every lesson with its pictures, readable without Python and without a network."""
