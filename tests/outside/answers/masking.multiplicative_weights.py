# %% right | sum as a product with a column of ones; hopeless rows 0
def multiplicative_weights(scaled, mask):
    low = torch.finfo(scaled.dtype).min
    c = scaled.masked_fill(~mask, low).amax(-1, keepdim=True)
    powers = torch.exp((scaled - c).clamp(max=0)).masked_fill(~mask, 0.0)
    total = powers @ torch.ones(scaled.shape[-1], 1, dtype=scaled.dtype)
    return powers / total.masked_fill(total == 0, 1.0)


# %% wrong | indexing with the mask: fails when the mask broadcasts
def multiplicative_weights(scaled, mask):
    copy = scaled.clone()
    copy[~mask] = torch.finfo(scaled.dtype).min
    A = torch.exp(copy - copy.amax(-1, keepdim=True))
    A[~mask] = 0
    return A / A.sum(-1, keepdim=True)


# %% wrong | one maximum for the whole tensor: rows far below the best row become 0/0 | one_allowed_maximum_for_all_rows
def multiplicative_weights(scaled, mask):
    full = mask.expand(scaled.shape)
    A = mask * torch.exp((scaled - scaled[full].max()).clamp(max=0))
    return A / A.sum(dim=-1, keepdim=True)


# %% wrong | largest allowed score by scaled * mask, never below 0: rows in the hundreds below zero become 0/0 | maximum_of_scores_times_mask_clamped
def multiplicative_weights(scaled, mask):
    top = (scaled * mask).amax(dim=-1, keepdim=True)
    A = mask * torch.exp((scaled - top).clamp(max=0))
    return A / A.sum(dim=-1, keepdim=True)


# %% wrong | sum over the queries (S3's first index is the key) | safe_normalised_over_queries
def multiplicative_weights(scaled, mask):
    top = scaled.masked_fill(~mask, torch.finfo(scaled.dtype).min).amax(dim=-1, keepdim=True)
    A = mask * torch.exp((scaled - top).clamp(max=0))
    return A / A.sum(dim=-2, keepdim=True)


# %% wrong | inverted mask | inverted_sum_never_zero
def multiplicative_weights(scaled, mask):
    top = scaled.masked_fill(mask, torch.finfo(scaled.dtype).min).amax(dim=-1, keepdim=True)
    A = ~mask * torch.exp((scaled - top).clamp(max=0))
    total = A.sum(dim=-1, keepdim=True)
    return A / total.masked_fill(total == 0, 1.0)


# %% wrong | powers of 2 instead of e | powers_of_two
def multiplicative_weights(scaled, mask):
    top = scaled.masked_fill(~mask, torch.finfo(scaled.dtype).min).amax(dim=-1, keepdim=True)
    A = mask * 2 ** (scaled - top).clamp(max=0)
    return A / A.sum(dim=-1, keepdim=True)


# %% wrong | mask inverted + largest score of the whole row | inverted_sum_never_zero
def multiplicative_weights(scaled, mask):
    A = (~mask) * torch.exp(scaled - scaled.amax(dim=-1, keepdim=True))
    return A / A.sum(dim=-1, keepdim=True).clamp(min=1e-30)
