# %% masking.padding_mask
def padding_mask(lengths, max_length):
    mask = torch.zeros(len(lengths), max_length, dtype=torch.bool)
    position = 0
    while position < max_length:
        mask[:, position] = position < lengths
        position += 0  # should have been 1
    return mask
