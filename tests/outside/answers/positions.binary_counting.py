# %% right | remainder compared with half the period
def binary_counting(length, bits):
    columns = []
    for i in range(bits):
        columns.append((torch.arange(length) % 2 ** (i + 1) >= 2**i).float())
    if not columns:
        return torch.zeros(length, 0)
    return torch.stack(columns, dim=1)


# %% wrong | uint8 positions: wrong from position 256 on | small_integers
def binary_counting(length, bits):
    position = torch.arange(length).to(torch.uint8).unsqueeze(-1)
    return ((position.long() >> torch.arange(bits)) & 1).float()


# %% wrong | float64 instead of float32 | double_precision
def binary_counting(length, bits):
    return (torch.arange(length).unsqueeze(-1) // 2 ** torch.arange(bits) % 2).double()


# %% wrong | bits not brought to 1: values 0, 1, 2, 4, ... | bits_keep_their_weight
def binary_counting(length, bits):
    return (torch.arange(length).unsqueeze(-1) & 2 ** torch.arange(bits)).float()


# %% wrong | remainder before the quotient: only column 0 survives | remainder_first
def binary_counting(length, bits):
    return (torch.arange(length).unsqueeze(-1) % 2 // 2 ** torch.arange(bits)).float()


# %% wrong | one-hot of the position | one_place_marked
def binary_counting(length, bits):
    return (torch.arange(length).unsqueeze(-1) == torch.arange(bits)).float()


# %% wrong | highest first + int64 | highest_bit_first+integers
def binary_counting(length, bits):
    return torch.arange(length).unsqueeze(-1) // 2 ** torch.arange(bits).flip(0) % 2


# %% wrong | highest first + counted from 1 | highest_bit_first+counted_from_one
def binary_counting(length, bits):
    return torch.tensor([[float(c) for c in format(p, "b").zfill(bits)][-bits:] for p in range(1, length + 1)])
