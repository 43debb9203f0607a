"""The sandbox: student code runs in a process of its own, confined; only plain data crosses.

Read it in this order. What crosses: `protocol.py`. What a sandbox may not do: `levels.py`, and below it
`landlock.py`, `grants.py`, `seccomp.py`, `system_calls.py`; what surrounds it: `enclosure.py`, `bubblewrap.py`,
`container.py`; whether that holds here: `selftest.py`, `attempts.py`, and whether lessons work in it: `trial.py`,
`recorded.py`. What is in a sandbox: `library.py`, `recorder.py`, `shell.py`,
`child.py`. Where it comes from, who asks, and how it ends: `server.py`, `client.py`, `handles.py`, `box.py`,
`processes.py`, `clocks.py`, `disk.py`, `endings.py`.
"""
