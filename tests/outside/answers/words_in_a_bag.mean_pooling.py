# %% right | index_add over the words of all sentences
def mean_pooling(x, mask):
    where = mask.nonzero()[:, 0]
    sums = x.new_zeros(x.shape[0], x.shape[2]).index_add(0, where, x[mask])
    return sums / torch.bincount(where, minlength=len(x)).clamp(min=1).unsqueeze(1)


# %% wrong | divides by the longest sentence of the batch | words_of_the_longest
def mean_pooling(x, mask):
    longest = mask.sum(dim=1).max().clamp(min=1)
    return (x * mask.unsqueeze(-1)).sum(dim=1) / longest


# %% wrong | counts the vectors that are not zero instead of the mask's words: wrong where a word's embedding is all zeros | words_of_zeros_left_out
def mean_pooling(x, mask):
    kept = x * mask.unsqueeze(-1)
    n = (kept != 0).any(dim=-1).sum(dim=1, keepdim=True).clamp(min=1)
    return kept.sum(dim=1) / n


# %% wrong | mask found again from x (vectors that are not zero), the given one unused: padding has a vector of its own | words_by_their_numbers
def mean_pooling(x, mask):
    mask = (x != 0).any(dim=-1)
    return (x * mask.unsqueeze(-1)).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)


# %% wrong | a sentence without words gets the mean of its padding instead of zeros | padding_where_no_words
def mean_pooling(x, mask):
    mask = mask | ~mask.any(dim=1, keepdim=True)
    return (x * mask.unsqueeze(-1)).sum(dim=1) / mask.sum(dim=1, keepdim=True)


# %% wrong | mask inverted + no clamp (nan for a sentence without padding) | inverted+nan_of_the_words_alone
def mean_pooling(x, mask):
    x = x.masked_fill(mask.unsqueeze(-1), 0)
    return x.sum(dim=1) / (~mask).sum(dim=1, keepdim=True)


# %% wrong | padding counted in the length + detached | padding_counted_in_the_number+detached
def mean_pooling(x, mask):
    return (x.detach() * mask.unsqueeze(-1)).mean(dim=1)


# %% wrong | n + 1 in the denominator + padding counted in the sum | padding_added_up+one_more
def mean_pooling(x, mask):
    return x.sum(dim=1) / (mask.sum(dim=1, keepdim=True) + 1)


# %% wrong | words of zeros masked out | words_of_zeros_masked
def mean_pooling(x, mask):
    real = mask & x.any(dim=-1)
    return (x * real.unsqueeze(-1)).sum(1) / real.sum(1, keepdim=True).clamp(min=1)
