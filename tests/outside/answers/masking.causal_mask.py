# %% right | indices of the lower triangle
def causal_mask(length):
    result = torch.zeros(length, length, dtype=torch.bool)
    rows, columns = torch.tril_indices(length, length)
    result[rows, columns] = True
    return result


# %% wrong | strictly the past, but word 0 is patched to see itself so that no row is empty (length >= 2) | first_word_sees_itself
def causal_mask(length):
    result = torch.tril(torch.ones(length, length, dtype=torch.bool), diagonal=-1)
    result[0, 0] = True
    return result


# %% wrong | only itself and the word directly before (length >= 3) | two_words
def causal_mask(length):
    position = torch.arange(length)
    distance = position[:, None] - position[None, :]
    return (distance == 0) | (distance == 1)


# %% wrong | diagonal left out + float | itself_forbidden+zeros_and_ones
def causal_mask(length):
    return torch.tril(torch.ones(length, length), diagonal=-1)


# %% wrong | upper triangle + float | keys_as_rows+zeros_and_ones
def causal_mask(length):
    return torch.triu(torch.ones(length, length))
# %% wrong | triu | inverted
def causal_mask(length):
    return torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)
# %% wrong | one ahead | one_word_ahead
def causal_mask(length):
    rows = torch.arange(length).unsqueeze(1)
    columns = torch.arange(length).unsqueeze(0)
    return columns <= rows + 1
