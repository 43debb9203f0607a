"""What a sandbox may not do: the levels, what surrounds a process, and the self-test that tries it."""
