# %% right | a clumsy flat loop
def dropout(x, kept, share, training):
    if training == False:
        return x
    flat = x.reshape(-1)
    k = kept.reshape(-1)
    result = torch.zeros_like(flat)
    for i in range(len(flat)):
        if k[i]:
            result[i] = flat[i] / (1 - share)
    return result.reshape(x.shape)


# %% right | multiplies by kept in x's dtype and its reciprocal
def dropout(x, kept, share, training):
    survivors = torch.logical_or(kept, torch.tensor(not training, device=x.device)).to(x.dtype)
    rest = 1.0 - share * int(training)
    return torch.mul(survivors, x) * rest**-1


# %% wrong | rescaled only for shares up to one half, clamped beyond
def dropout(x, kept, share, training):
    return x * kept / max(1 - share, 0.5) if training else x


# %% wrong | rescaled in evaluation, too (divided by 1 - share) | divided_in_evaluation
def dropout(x, kept, share, training):
    if training:
        x = x * kept
    return x / (1 - share)


# %% wrong | dropped in evaluation, only the rescaling depends on training | dropped_in_evaluation
def dropout(x, kept, share, training):
    x = x * kept
    return x / (1 - share) if training else x


# %% wrong | kept inverted + divided by share (consistent if share were the share kept) | divided_by_the_share+kept_and_dropped_exchanged
def dropout(x, kept, share, training):
    return x * ~kept / share if training else x


# %% wrong | multiplied by 1 - share + divided by it in evaluation | multiplied_by_what_is_kept+divided_in_evaluation
def dropout(x, kept, share, training):
    return x * kept * (1 - share) if training else x / (1 - share)
