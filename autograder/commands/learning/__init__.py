"""Commands for those who learn, alone or in a class, and who want to see what it is."""
