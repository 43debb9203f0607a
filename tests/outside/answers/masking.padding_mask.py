# %% right | remaining words are positive
def padding_mask(lengths, max_length):
    left = lengths[:, None].expand(-1, max_length) - torch.arange(max_length, device=lengths.device)[None, :]
    return left.clamp(min=0).bool()


# %% wrong | right on the CPU: from before masks followed their lengths | on_the_cpu
def padding_mask(lengths, max_length):
    left = lengths[:, None].expand(-1, max_length) - torch.arange(max_length)[None, :]
    return left.clamp(min=0).bool()


# %% wrong | squeezed: a batch of one sentence (or max_length 1) loses a dimension
def padding_mask(lengths, max_length):
    return (torch.arange(max_length) < lengths.unsqueeze(-1)).squeeze()


# %% wrong | negative slice: full sentences (length == max_length) lose everything, as [-0:] is all | full_rows_emptied
def padding_mask(lengths, max_length):
    mask = torch.ones(len(lengths), max_length, dtype=torch.bool)
    for i, n in enumerate(lengths.tolist()):
        mask[i, -(max_length - n):] = False
    return mask


# %% wrong | only the last word of each sentence is True | last_word_alone
def padding_mask(lengths, max_length):
    return torch.arange(max_length) == lengths.unsqueeze(-1) - 1


# %% wrong | a scalar comparison: all sentences as long as the longest | longest_for_all
def padding_mask(lengths, max_length):
    return (torch.arange(max_length) < lengths.max()).expand(len(lengths), -1)


# %% wrong | positions compared with lengths % max_length: full sentences become empty | full_rows_emptied
def padding_mask(lengths, max_length):
    return torch.arange(max_length) < (lengths % max_length).unsqueeze(-1)


# %% wrong | inverted + off by one (>) | inverted_and_one_off
def padding_mask(lengths, max_length):
    return torch.arange(max_length) > lengths.unsqueeze(-1)


# %% wrong | <= + as wide as the longest sentence | one_too_many+as_wide_as_the_longest
def padding_mask(lengths, max_length):
    return torch.arange(int(lengths.max())) <= lengths.unsqueeze(-1)
