# %% right | one over the sum of exp(x_j - x_i): an inf there becomes a weight of 0
def attention_weights(scaled):
    differences = scaled.unsqueeze(-2) - scaled.unsqueeze(-1)
    return 1 / differences.exp().sum(dim=-1)


# %% wrong | one sum for the whole tensor | one_sum_for_everything
def attention_weights(scaled):
    powers = torch.exp(scaled - scaled.amax(dim=-1, keepdim=True))
    return powers / powers.sum()


# %% wrong | the minimum subtracted: overflows where a row's scores are far apart | too_little_subtracted
def attention_weights(scaled):
    powers = torch.exp(scaled - scaled.amin(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1, keepdim=True)


# %% wrong | the row's first score subtracted: overflows where another is 89 above it | overflows_far_above
def attention_weights(scaled):
    powers = torch.exp(scaled - scaled[..., :1])
    return powers / powers.sum(dim=-1, keepdim=True)


# %% wrong | nan repaired to 0 afterwards: a row with large scores gets zeros | nan_to_zero
def attention_weights(scaled):
    powers = torch.exp(scaled)
    return torch.nan_to_num(powers / powers.sum(dim=-1, keepdim=True))


# %% wrong | running maximum starts at 0: rows of large negative scores underflow to 0 / 0 | largest_never_below_zero
def attention_weights(scaled):
    largest = scaled.amax(dim=-1, keepdim=True).clamp(min=0)
    powers = torch.exp(scaled - largest)
    return powers / powers.sum(dim=-1, keepdim=True)


# %% wrong | the sum over the queries, the maximum over the keys | sum_over_queries
def attention_weights(scaled):
    powers = torch.exp(scaled - scaled.amax(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-2, keepdim=True)
