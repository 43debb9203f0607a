"""The sandbox: student code runs in a confined process of its own, and only plain data crosses.

Read it in this order. The data that crosses: `protocol.py`. Confinement: `levels.py`, then `landlock.py`, `grants.py`,
`seccomp.py`, `system_calls.py`; around it `enclosure.py`, `bubblewrap.py`, `container.py`; checks that it holds on this
machine: `selftest.py`, `attempts.py`; checks that lessons still work in it: `trial.py`, `recorded.py`. The contents of
a sandbox: `library.py`, `recorder.py`, `shell.py`, `child.py`. How it starts, is used, and ends: `server.py`,
`client.py`, `handles.py`, `box.py`, `processes.py`, `clocks.py`, `disk.py`, `endings.py`.
"""
