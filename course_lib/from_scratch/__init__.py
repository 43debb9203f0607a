"""The forms that lessons have students write by hand; the library has its own, at full size."""
