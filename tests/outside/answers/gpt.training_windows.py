# %% right | a loop over the starts, stacked
def training_windows(stream, starts, context):
    inputs = torch.stack([stream[s : s + context] for s in starts])
    targets = torch.stack([stream[s + 1 : s + 1 + context] for s in starts])
    return inputs, targets
# %% right | one table of places, twice
def training_windows(stream, starts, context):
    places = starts.view(-1, 1) + torch.arange(context).view(1, -1)
    return stream[places], stream[places + 1]
# %% wrong | windows of context words, then shifted: one word short | one_word_short
def training_windows(stream, starts, context):
    windows = torch.stack([stream[s : s + context] for s in starts])
    return windows[:, :-1], windows[:, 1:]
# %% wrong | targets rolled inside the window | rolled_round
def training_windows(stream, starts, context):
    inputs = torch.stack([stream[s : s + context] for s in starts])
    return inputs, torch.roll(inputs, -1, dims=1)
# %% wrong | the first window, as often as there are starts | first_start_only
def training_windows(stream, starts, context):
    window = stream[starts[0] : starts[0] + context + 1]
    return window[:-1].repeat(len(starts), 1), window[1:].repeat(len(starts), 1)
# %% wrong | targets first | swapped
def training_windows(stream, starts, context):
    inputs = torch.stack([stream[s : s + context] for s in starts])
    return torch.stack([stream[s + 1 : s + 1 + context] for s in starts]), inputs
# %% wrong | squeezed: wrong shape for one window | squeezed
def training_windows(stream, starts, context):
    windows = stream[starts[:, None] + torch.arange(context + 1)]
    return windows[:, :-1].squeeze(), windows[:, 1:].squeeze()
