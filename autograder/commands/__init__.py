"""The commands of `katze`, one per module: the arguments of each, and the work that it starts.

Their modules import little at the top, so that `katze --help` does not wait for torch.
"""
