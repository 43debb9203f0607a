# %% right | no answer for texts of one word, which have no question
def shifted_targets(ids):
    inputs = torch.stack([ids[:, t] for t in range(ids.shape[1] - 1)], dim=1)
    targets = torch.stack([ids[:, t + 1] for t in range(ids.shape[1] - 1)], dim=1)
    return inputs, targets
# %% right | roll, the last column cut off
def shifted_targets(ids):
    targets = torch.roll(ids, shifts=-1, dims=1)
    return tuple(x[:, : ids.shape[1] - 1].contiguous() for x in (ids, targets))
# %% wrong | targets keep the first word: [batch, words] | targets_not_cut
def shifted_targets(ids):
    return ids[:, :-1], ids
# %% wrong | rolled without dims: the first word of the next text follows the last of this one | rolled_through_the_batch
def shifted_targets(ids):
    return ids, torch.roll(ids, -1)
# %% wrong | ids overwritten in place: inputs are a view and become the targets too | not_shifted_without_the_first
def shifted_targets(ids):
    inputs = ids[:, :-1]
    ids[:, :-1] = ids[:, 1:].clone()
    return inputs, ids[:, :-1]
# %% wrong | number of words taken from the batch dimension: right for square batches only | as_many_words_as_texts
def shifted_targets(ids):
    n = len(ids)
    return ids[:, : n - 1], ids[:, 1:n]
# %% wrong | first dimension + targets first | swapped+sentences_shifted
def shifted_targets(ids):
    return ids[1:], ids[:-1]
# %% wrong | squeezed: wrong shape for a batch of one text or for two words | squeezed
def shifted_targets(ids):
    return ids[:, :-1].squeeze(), ids[:, 1:].squeeze()
