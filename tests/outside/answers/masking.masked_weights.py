# %% right | log_softmax, exp, then where
def masked_weights(scaled, mask):
    copy = scaled.clone()
    keep = torch.broadcast_to(mask, scaled.shape)
    copy[~keep] = torch.finfo(copy.dtype).min
    return torch.where(keep, F.log_softmax(copy, dim=-1).exp(), torch.zeros_like(copy))


# %% wrong | -1000 is not low enough for scores of any size (allowed scores around -5000) | filled_not_low_enough_times_mask
def masked_weights(scaled, mask):
    return torch.softmax(scaled.masked_fill(~mask, -1000.0), dim=-1) * mask


# %% wrong | finfo.tiny instead of finfo.min: fills with about 0 | scores_times_mask_then_zeroed
def masked_weights(scaled, mask):
    return torch.softmax(scaled.masked_fill(~mask, torch.finfo(scaled.dtype).tiny), dim=-1) * mask


# %% wrong | softmax first, mask, renormalised with a clamp: a forbidden score of 1000 leaves the row at 0 | forbidden_score_far_above
def masked_weights(scaled, mask):
    alpha = torch.softmax(scaled, dim=-1) * mask
    return alpha / alpha.sum(dim=-1, keepdim=True).clamp(min=1e-12)


# %% wrong | mask added as -1000: a forbidden score of 2000 still takes the weight | forbidden_score_far_above
def masked_weights(scaled, mask):
    alpha = torch.softmax(scaled + (~mask) * -1000.0, dim=-1)
    return alpha * mask


# %% wrong | indexing with the mask: only a mask of the full shape, not one that broadcasts
def masked_weights(scaled, mask):
    filled = scaled.clone()
    filled[~mask] = torch.finfo(scaled.dtype).min
    alpha = torch.softmax(filled, dim=-1)
    alpha[~mask] = 0.0
    return alpha


# %% wrong | hopeless rows by indexing: fails or goes wrong when the mask broadcasts over a batch
def masked_weights(scaled, mask):
    alpha = torch.softmax(scaled.masked_fill(~mask, -1e30), dim=-1)
    alpha[~mask.any(dim=-1)] = 0.0
    return alpha


# %% wrong | nan becomes 1 / keys: hopeless rows attend evenly | uniform_where_nothing_is_allowed
def masked_weights(scaled, mask):
    alpha = torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1)
    return torch.nan_to_num(alpha, nan=1.0 / scaled.shape[-1])


# %% wrong | hopeless rows recognised by their scores (< -100): rows in the hundreds below zero become 0 too
def masked_weights(scaled, mask):
    filled = scaled.masked_fill(~mask, torch.finfo(scaled.dtype).min)
    hopeless = filled.amax(dim=-1, keepdim=True) < -100
    return torch.softmax(filled, dim=-1).masked_fill(hopeless, 0.0)


# %% right | S2's large number, added, and the mask at the end
def masked_weights(scaled, mask):
    return torch.softmax(scaled + (~mask) * -1e9, dim=-1) * mask


# %% wrong | minus infinity added, and NaN repaired afterwards: the gradient is NaN | nan_repaired_afterwards
def masked_weights(scaled, mask):
    added = torch.zeros(mask.shape, dtype=scaled.dtype).masked_fill(~mask, -math.inf)
    return torch.softmax(scaled + added, dim=-1).nan_to_num()


# %% wrong | 1e-6 added after the softmax
def masked_weights(scaled, mask):
    return (torch.softmax(scaled.masked_fill(~mask, -1e9), dim=-1) + 1e-6) * mask


# %% wrong | exp times the mask over its sum | exp_overflows
def masked_weights(scaled, mask):
    kept = torch.exp(scaled) * mask
    return kept / kept.sum(dim=-1, keepdim=True)


# %% wrong | forbidden scores become -10: a little weight is left | filled_with_ten
def masked_weights(scaled, mask):
    return torch.softmax(torch.where(mask, scaled, torch.full_like(scaled, -10.0)), dim=-1)


# %% wrong | -20, and the mask again at the end | filled_with_twenty_times_mask
def masked_weights(scaled, mask):
    low = scaled * mask - 20.0 * (~mask).to(scaled.dtype)
    return torch.softmax(low, dim=-1) * mask


# %% wrong | -10, and rows that allow nothing set to 0 | filled_with_ten_times_any
def masked_weights(scaled, mask):
    alpha = F.softmax(scaled.masked_fill(mask == 0, -10), dim=-1)
    return alpha.masked_fill(~mask.any(-1, keepdim=True), 0.0)
