"""What a box may not do: the levels, what stands around a process, and the self-test that tries it."""
