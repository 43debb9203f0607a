"""The commands of `katze`, one a module: what each takes, and the work that it begins.

Their modules import little at the top, so that `katze --help` does not wait for torch.
"""
