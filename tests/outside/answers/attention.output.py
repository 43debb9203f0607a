# %% right | bmm on flattened leading dimensions
def weighted_values(alpha, v):
    *batch, queries, keys = alpha.shape
    flat = torch.bmm(alpha.reshape(-1, queries, keys), v.reshape(-1, keys, v.shape[-1]))
    return flat.reshape(*batch, queries, v.shape[-1])


# %% wrong | squeeze: one query (or batch of one) loses its dimension
def weighted_values(alpha, v):
    return (alpha @ v).squeeze()


# %% wrong | alpha transposed (raises unless as many queries as keys) | alpha_transposed
def weighted_values(alpha, v):
    return alpha.transpose(-2, -1) @ v


# %% wrong | order swapped: v @ alpha (raises unless the sizes fit) | values_first
def weighted_values(alpha, v):
    return v @ alpha


# %% wrong | columns of alpha made to sum to 1 first | columns_sum_to_1
def weighted_values(alpha, v):
    return (alpha / alpha.sum(dim=-2, keepdim=True)) @ v


# %% wrong | weights cut to two decimals + result cut to two decimals | weights_cut_to_two_decimals+result_cut_to_two_decimals
def weighted_values(alpha, v):
    cut = lambda x: torch.trunc(x * 100) / 100
    return cut(cut(alpha) @ v)
