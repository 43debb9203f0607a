"""The commands of `katze`, one a module: what each takes, and the work that it begins.

`cli.py` asks for them in the order in which they are listed. Their modules import little at the top, so that
`katze --help` does not wait for torch.
"""
