"""The fork server, a process that imports everything once and forks sandboxes from itself; and its client."""
