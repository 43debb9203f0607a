"""The course as a website: every lesson with its pictures, to be read without Python and without a network."""
